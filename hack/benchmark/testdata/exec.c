/* The floor of every runtime wrapper: it only executes the runtime named by FLOOR_RUNTIME. */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argc;
	execv(getenv("FLOOR_RUNTIME"), argv);
	return 125;
}
