// init is what a process 1 has to look after.
//
//	init signals      prints "ready", then the number of every signal that comes, until SIGKILL
//	init exit N       exits with N
//	init die N        dies of signal N
//	init orphans N    makes N orphans that end, then waits until /proc has no zombie and no orphan; prints how many processes are left
//	init count N      prints "ready", adds up for ever
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int processes(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int n = 0;
	while (dir && (e = readdir(dir)))
		n += isdigit((unsigned char)e->d_name[0]) != 0;
	closedir(dir);
	return n;
}

/* A shell gives the terminal to a job before it continues it. */
static void resumed(int sig)
{
	(void)sig;
	if (write(1, "goes on\n", 8) != 8)
		_exit(1);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	setvbuf(stdout, 0, _IOLBF, 0);
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "exit"))
		return n;
	if (!strcmp(argv[1], "die")) {
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, 0);
		signal(n, SIG_DFL);
		kill(getpid(), n);
		return 99;
	}
	if (!strcmp(argv[1], "signals")) {
		sigset_t all;
		int sig;
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, 0);
		puts("ready");
		while (!sigwait(&all, &sig))
			printf("%d\n", sig);
	}
	if (!strcmp(argv[1], "orphans")) {
		int before = processes();
		for (int i = 0; i < n; i++) {
			if (!fork()) {
				if (!fork()) {
					usleep(i * 100);
					_exit(0);
				}
				_exit(0);
			}
			wait(0);
		}
		for (int i = 0; i < 1000 && processes() > before; i++)
			usleep(10000);
		printf("left %d\n", processes() - before);
	}
	if (!strcmp(argv[1], "count")) {
		signal(SIGCONT, resumed);
		for (puts("ready");;)
			;
	}
	return 0;
}
