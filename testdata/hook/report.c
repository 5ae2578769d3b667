// Prints what an entrypoint sees: its arguments, user, directory and environment.
#include <stdio.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
	char dir[4096];
	for (int i = 0; i < argc; i++)
		printf("arg %d: %s\n", i, argv[i]);
	printf("uid %d gid %d cwd %s tty %d\n", getuid(), getgid(), getcwd(dir, sizeof dir), isatty(0));
	for (char **e = environ; *e; e++)
		printf("%s\n", *e);
	return 7;
}
