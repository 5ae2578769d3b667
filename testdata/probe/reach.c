// reach tries every way into another process that a child of the same user has.
//
//	reach LABEL=PID…
//
// It prints a line for each process: the ways that gave the agent's key away
// (leak), those that are open, and those that are denied.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static const char marker[] = "made-up-agent-key-0123456789";

enum { DENIED, OPEN, LEAK };
static char results[3][512];

static void result(int how, const char *name)
{
	strcat(strcat(results[how], " "), name);
}

static char *path(pid_t pid, const char *name)
{
	static char buf[256];
	snprintf(buf, sizeof buf, "/proc/%d/%s", pid, name);
	return buf;
}

static int reads(const char *file)
{
	static char buf[1 << 20];
	int fd = open(file, O_RDONLY);
	if (fd < 0)
		return DENIED;
	size_t len = 0;
	ssize_t n;
	while (len < sizeof buf && (n = read(fd, buf + len, sizeof buf - len)) > 0)
		len += n;
	close(fd);
	if (n < 0 && len == 0)
		return DENIED;
	return memmem(buf, len, marker, sizeof marker - 1) ? LEAK : OPEN;
}

// Every readable mapping of a process, read by how.
static int scan(pid_t pid, ssize_t (*how)(int, pid_t, void *, size_t, unsigned long), int fd)
{
	static char buf[1 << 20];
	FILE *maps = fopen(path(pid, "maps"), "r");
	char line[512], perms[8];
	unsigned long from, to;
	int best = DENIED;
	if (!maps) {
		// Where nothing says what there is, one address tells whether reading is allowed.
		ssize_t n = how(fd, pid, buf, 1, (unsigned long)&errno & ~4095ul);
		return n >= 0 || errno == EFAULT || errno == EIO ? OPEN : DENIED;
	}
	while (best != LEAK && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%lx-%lx %7s", &from, &to, perms) != 3 || perms[0] != 'r' || strstr(line, "[v"))
			continue;
		for (unsigned long at = from; at < to; at += sizeof buf) {
			size_t len = to - at < sizeof buf ? to - at : sizeof buf;
			ssize_t n = how(fd, pid, buf, len, at);
			if (n < 0)
				break;
			best = best > OPEN ? best : OPEN;
			if (memmem(buf, n, marker, sizeof marker - 1)) {
				best = LEAK;
				break;
			}
		}
	}
	fclose(maps);
	return best;
}

static ssize_t by_file(int fd, pid_t pid, void *buf, size_t len, unsigned long at)
{
	return pread(fd, buf, len, at);
}

static ssize_t by_call(int fd, pid_t pid, void *buf, size_t len, unsigned long at)
{
	struct iovec local = { buf, len }, remote = { (void *)at, len };
	return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static void threads(pid_t pid)
{
	char own[64], name[128];
	int task = DENIED, tid = DENIED, seen = 0;
	snprintf(own, sizeof own, "/proc/%d/task", pid);
	DIR *dir = opendir(own);
	struct dirent *e;
	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		seen++;
		snprintf(name, sizeof name, "task/%.20s/environ", e->d_name);
		int r = reads(path(pid, name));
		task = r > task ? r : task;
		snprintf(name, sizeof name, "/proc/%.20s/environ", e->d_name);
		r = reads(name);
		tid = r > tid ? r : tid;
	}
	if (dir)
		closedir(dir);
	if (!seen)
		puts("no threads to look at");
	result(task, "task");
	result(tid, "tid");
}

static int attaches(pid_t pid, int request)
{
	int status;
	if (ptrace(request, pid, 0, 0) < 0)
		return DENIED;
	if (request == PTRACE_SEIZE)
		ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	waitpid(pid, &status, __WALL);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return OPEN;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		pid_t pid = equals ? atoi(equals + 1) : 0;
		char link[256];
		if (pid <= 0)
			return 2;
		memset(results, 0, sizeof results);
		*equals = 0;
		result(reads(path(pid, "environ")), "environ");
		threads(pid);
		result(reads(path(pid, "maps")), "maps");
		int fd = open(path(pid, "mem"), O_RDONLY);
		result(fd < 0 ? DENIED : scan(pid, by_file, fd), "mem");
		result(scan(pid, by_call, -1), "vm_readv");
		result(readlink(path(pid, "fd/2"), link, sizeof link) < 0 ? DENIED : OPEN, "fd");
		int process = syscall(SYS_pidfd_open, pid, 0);
		result(process < 0 || syscall(SYS_pidfd_getfd, process, 2, 0) < 0 ? DENIED : OPEN, "pidfd_getfd");
		result(attaches(pid, PTRACE_ATTACH), "attach");
		result(attaches(pid, PTRACE_SEIZE), "seize");
		printf("%s leak:%s open:%s denied:%s\n", argv[i], results[LEAK], results[OPEN], results[DENIED]);
	}
	return 0;
}
