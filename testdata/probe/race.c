// race is a tool that lies in wait for the agent's next children:
//
//	race N MARK   until N processes have been started since, it reads the environ
//	              of every process whose number is about to come, and prints how
//	              often it found MARK in one
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

int main(int argc, char **argv)
{
	long found = 0;
	int first = last(), now;
	if (argc != 3)
		return 2;
	while ((now = last()) - first < atoi(argv[1])) {
		for (int i = 0; i < 80; i++) {
			char path[64];
			snprintf(path, sizeof path, "/proc/%d/environ", now - 1 + i % 4);
			int fd = open(path, O_RDONLY);
			if (fd < 0)
				continue;
			ssize_t n = read(fd, buf, sizeof buf);
			close(fd);
			if (n > 0 && memmem(buf, n, argv[2], strlen(argv[2])))
				found++;
		}
	}
	printf("race: %ld\n", found);
	return 0;
}
