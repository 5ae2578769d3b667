// child is what an agent starts: it looks for the agent's key in its own
// environment as libc, as /proc and as the memory of its stack show it.
//
//	child [-l LABEL] [-s] [-w] [NAME…]
//
// It prints one line: the label, "clean" or where the key is, and the
// variables that it is asked for. -s prints one byte instead, '.' or '!'; -w
// waits for its end of input afterwards.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char marker[] = "made-up-agent-key-0123456789";
static char memory[8 << 20];

static int in_environ(void)
{
	int fd = open("/proc/self/environ", O_RDONLY);
	ssize_t n, len = 0;
	if (fd < 0)
		return -1;
	while ((n = read(fd, memory + len, sizeof memory - len)) > 0)
		len += n;
	close(fd);
	return memmem(memory, len, marker, sizeof marker - 1) != 0;
}

static int on_stack(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	static char line[512];
	unsigned long from, to;
	if (!maps)
		return -1;
	while (fgets(line, sizeof line, maps))
		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			return memmem((void *)from, to - from, marker, sizeof marker - 1) != 0;
	return -1;
}

int main(int argc, char **argv, char **envp)
{
	int libc = 0, quiet = 0, wait = 0, c;
	const char *label = "child";
	for (char **e = envp; *e; e++)
		if (strstr(*e, marker))
			libc = 1;
	int proc = in_environ(), stack = on_stack();
	while ((c = getopt(argc, argv, "l:sw")) != -1)
		switch (c) {
		case 'l':
			label = optarg;
			break;
		case 's':
			quiet = 1;
			break;
		case 'w':
			wait = 1;
			break;
		default:
			return 2;
		}
	if (quiet)
		return write(1, libc || proc || stack ? "!" : ".", 1) != 1;
	char out[4096];
	int n = snprintf(out, sizeof out, "%s:%s%s%s%s", label, libc || proc || stack ? "" : " clean",
			 libc ? " libc" : "", proc ? " environ" : "", stack ? " stack" : "");
	for (int i = optind; i < argc; i++) {
		const char *value = getenv(argv[i]);
		if (!strcmp(argv[i], "EUID"))
			n += snprintf(out + n, sizeof out - n, " EUID=%d", geteuid());
		else if (value)
			n += snprintf(out + n, sizeof out - n, " %s=%s", argv[i], value);
		else
			n += snprintf(out + n, sizeof out - n, " %s-", argv[i]);
	}
	out[n++] = '\n';
	if (write(1, out, n) != n)
		return 1;
	char byte;
	while (wait && read(0, &byte, 1) > 0)
		;
	return 0;
}
