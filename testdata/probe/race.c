// race is a tool that lies in wait for the agent:
//
//	race N MARK         until N processes have been started since, it reads the
//	                    environ of every process whose number is about to come
//	race PID MARK FILE  until FILE is there, it reads the environ of process PID
//
// Then it prints how often it found MARK in one.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buf[1 << 16];

// The number of the last process that was started, of those that this one sees.
static int last(void)
{
	int fd = open("/proc/loadavg", O_RDONLY);
	ssize_t n = read(fd, buf, 200);
	close(fd);
	buf[n < 0 ? 0 : n] = 0;
	char *at = strrchr(buf, ' ');
	return at ? atoi(at + 1) : 0;
}

static int finds(int pid, const char *mark)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/environ", pid);
	int fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	ssize_t n = read(fd, buf, sizeof buf);
	close(fd);
	return n > 0 && memmem(buf, n, mark, strlen(mark));
}

int main(int argc, char **argv)
{
	long found = 0;
	int first = last(), now;
	if (argc == 4)
		while (access(argv[3], F_OK))
			for (int i = 0; i < 100; i++)
				found += finds(atoi(argv[1]), argv[2]);
	else if (argc == 3)
		while ((now = last()) - first < atoi(argv[1]))
			for (int i = 0; i < 80; i++)
				found += finds(now - 1 + i % 4, argv[2]);
	else
		return 2;
	printf("race: %ld\n", found);
	return 0;
}
