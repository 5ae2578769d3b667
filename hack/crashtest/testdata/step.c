// step N LOG COMMAND [ARG…] executes the command and kills, with SIGKILL and before it happens, the process in it that makes
// the Nth system call that changes something outside of a process; they are counted over all threads and children together, which
// is what strace(1) cannot do (its inject counts for each thread alone, and a Go program changes threads as it likes). Every one is
// a line of LOG: number, "command" or "child", name; the one that was killed has " killed" behind it.
//
// The command is the caller's own child, and what it leaves running (the hook's lifter) is still watched when it has ended.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	_exit(120);
}

// changes names the system call, or is null where it changes nothing, or only its own process.
static const char *changes(const struct __ptrace_syscall_info *i)
{
	const __uint64_t *a = i->entry.args;
	switch (i->entry.nr) {
#define CALL(name) case SYS_##name: return #name
#ifdef SYS_open
	case SYS_open: return a[1] & (O_CREAT | O_WRONLY | O_RDWR) ? "open" : NULL;
	CALL(rename); CALL(unlink); CALL(rmdir); CALL(mkdir); CALL(link); CALL(symlink); CALL(chmod); CALL(chown); CALL(lchown);
	CALL(mknod); CALL(creat); CALL(fork); CALL(vfork);
#endif
	case SYS_openat: return a[2] & (O_CREAT | O_WRONLY | O_RDWR) ? "openat" : NULL;
	case SYS_clone: return a[0] & CLONE_THREAD ? NULL : "clone";
	CALL(write); CALL(writev); CALL(pwrite64); CALL(sendto); CALL(sendmsg); CALL(sendfile); CALL(copy_file_range);
	CALL(renameat); CALL(renameat2); CALL(unlinkat); CALL(mkdirat); CALL(linkat); CALL(symlinkat); CALL(mknodat);
	CALL(fchmod); CALL(fchmodat); CALL(fchown); CALL(fchownat); CALL(utimensat); CALL(fsetxattr); CALL(setxattr);
	CALL(truncate); CALL(ftruncate); CALL(fallocate); CALL(fsync); CALL(fdatasync); CALL(flock);
	CALL(mount); CALL(umount2); CALL(move_mount); CALL(open_tree); CALL(fsmount); CALL(mount_setattr); CALL(pivot_root);
	CALL(setns); CALL(unshare); CALL(setsid); CALL(execve); CALL(execveat); CALL(kill); CALL(pidfd_send_signal);
	}
	return NULL;
}

// leader is the process that a thread belongs to.
static pid_t leader(pid_t thread)
{
	char path[64], line[128];
	snprintf(path, sizeof path, "/proc/%d/status", thread);
	FILE *f = fopen(path, "re");
	pid_t pid = thread;
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

static void watch(pid_t child, int n, FILE *log, int ready)
{
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	if (ptrace(PTRACE_SEIZE, child, 0, options) || ptrace(PTRACE_INTERRUPT, child, 0, 0))
		die("seize");
	int begun = 0, count = 0, status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status))
			continue;
		int signal = WSTOPSIG(status), event = status >> 16, request = PTRACE_SYSCALL;
		struct __ptrace_syscall_info info;
		if (signal == (SIGTRAP | 0x80)) {
			const char *name;
			signal = 0;
			if (begun && ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY && (name = changes(&info))) {
				pid_t process = leader(pid);
				int here = ++count == n;
				fprintf(log, "%d %s %s%s\n", count, process == child ? "command" : "child", name, here ? " killed" : "");
				fflush(log);
				if (here && kill(process, SIGKILL))
					die("kill");
			}
		} else if (event == PTRACE_EVENT_STOP) {
			if (signal != SIGTRAP)
				request = PTRACE_LISTEN; // a group stop lasts
			else if (ready >= 0) {
				if (write(ready, "", 1) != 1)
					die("ready");
				close(ready);
				ready = -1;
			}
			signal = 0;
		} else if (event) {
			begun |= event == PTRACE_EVENT_EXEC;
			signal = 0;
		}
		ptrace(request, pid, 0, signal); // it may be gone
	}
	fprintf(log, "end\n");
	fclose(log);
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	FILE *log = fopen(argv[2], "we");
	int ready[2];
	if (!log || pipe2(ready, O_CLOEXEC))
		die("step");
	pid_t self = getpid();
	pid_t between = fork(); // the watcher is nobody's child, so that the command has none that it did not make
	if (between == 0) {
		if (fork())
			_exit(0);
		setsid();
		int null = open("/dev/null", O_RDWR);
		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		close(ready[0]);
		watch(self, atoi(argv[1]), log, ready[1]);
	}
	char byte;
	close(ready[1]);
	if (between < 0 || waitpid(between, NULL, 0) != between || read(ready[0], &byte, 1) != 1)
		die("watcher");
	execv(argv[3], argv + 3);
	die(argv[3]);
}
