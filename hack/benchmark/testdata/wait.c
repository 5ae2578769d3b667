/* A child that lives until it is killed. */
#include <unistd.h>

int main(void)
{
	for (;;)
		pause();
}
