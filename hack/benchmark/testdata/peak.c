/* Runs a command and prints the most memory that it held, in KiB. A process that was started by vfork(2), as Go starts its own, begins
   with the peak of the one that started it: this one is small. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();
	if (argc < 2 || pid < 0)
		return 1;
	if (pid == 0) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &usage) != pid || status != 0)
		return 1;
	printf("%ld\n", usage.ru_maxrss);
	return 0;
}
