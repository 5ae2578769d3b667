/* The floor of every runtime wrapper: it only executes the runtime that the link NAME.runtime beside it leads to. (Not one that
   the environment names: Podman's conmon has none.) */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char link[4096], runtime[4096];
	ssize_t n;
	(void)argc;
	if (snprintf(link, sizeof link, "%s.runtime", argv[0]) < (int)sizeof link && (n = readlink(link, runtime, sizeof runtime - 1)) > 0) {
		runtime[n] = '\0';
		execv(runtime, argv);
	}
	perror("floor");
	return 125;
}
