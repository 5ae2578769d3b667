/* Starts a program N times with posix_spawn, one after the other, and prints how many nanoseconds that took: spawn PROGRAM N
   [LIVING WAITING]. Before, it starts LIVING children that run the program WAITING all the time, and in the end kills them. */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1, living = argc > 4 ? atoi(argv[3]) : 0;
	char *args[] = {argv[1], NULL}, *waits[] = {argv[4], NULL};
	pid_t *alive = calloc(living + 1, sizeof *alive);
	struct timespec a, b;
	for (int i = 0; i < living; i++)
		if (posix_spawn(&alive[i], argv[4], NULL, NULL, waits, environ) != 0)
			return 1;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < n; i++) {
		pid_t pid;
		int status;
		if (posix_spawn(&pid, argv[1], NULL, NULL, args, environ) != 0 || waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	for (int i = 0; i < living; i++)
		if (kill(alive[i], SIGKILL) != 0 || waitpid(alive[i], NULL, 0) != alive[i])
			return 1;
	printf("%lld\n", (b.tv_sec - a.tv_sec) * 1000000000LL + (b.tv_nsec - a.tv_nsec));
	return 0;
}
