// Prints the environment as it is, each entry with its NUL.
#include <stdio.h>

extern char **environ;

int main(void) {
	for (char **e = environ; *e; e++)
		printf("%s%c", *e, 0);
	return 0;
}
