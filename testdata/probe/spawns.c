// spawns is an agent in C: it starts the program named last by every way there
// is, or by the one it is told.
//
//	spawns all DIR            DIR/child, DIR/child32 and DIR/script once by each way
//	spawns flood N PROGRAM    N of them, from threads at once; prints how many were clean and how many were not
//	spawns held N PROGRAM     N that are killed, and N that are stopped and continued, while they start
//	spawns exec PROGRAM ARG…  becomes PROGRAM, from a thread that is not the leader
//	spawns thread N PROGRAM…  runs PROGRAM with N more threads around
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char program[256], program32[256], script[256];

static void finish(pid_t pid, const char *label)
{
	int status = -1;
	if (pid < 0 || waitpid(pid, &status, __WALL) < 0 || status)
		printf("%s: pid %d, status %x, %s\n", label, pid, status, strerror(errno));
	fflush(stdout);
}

static void run(const char *file, const char *label)
{
	execl(file, file, "-l", label, "CHANGED", (char *)0);
	_exit(99);
}

static void *run_thread(void *label)
{
	run(program, label);
	return 0;
}

static pid_t raw_clone(unsigned long flags)
{
	return syscall(SYS_clone, flags, 0, 0, 0, 0);
}

static void all(const char *dir)
{
	pid_t pid;
	snprintf(program, sizeof program, "%s/child", dir);
	snprintf(program32, sizeof program32, "%s/child32", dir);
	snprintf(script, sizeof script, "%s/script", dir);

	if (!(pid = fork()))
		run(program, "fork");
	finish(pid, "fork");

	if (!(pid = vfork()))
		run(program, "vfork");
	finish(pid, "vfork");

	char *args[] = { program, "-l", "posix_spawn", "CHANGED", 0 };
	if (posix_spawn(&pid, program, 0, 0, args, environ))
		pid = -1;
	finish(pid, "posix_spawn");

	struct clone_args clone3 = { .exit_signal = SIGCHLD };
	if (!(pid = syscall(SYS_clone3, &clone3, sizeof clone3)))
		run(program, "clone3");
	finish(pid, "clone3");

	// No SIGCHLD at its end, and so no fork to the tracer, but a clone.
	if (!(pid = raw_clone(0)))
		run(program, "clone");
	finish(pid, "clone");

	// The child's parent is this process's own parent: nobody here waits for it.
	int done[2];
	if (pipe2(done, O_CLOEXEC))
		exit(1);
	if (!(pid = raw_clone(CLONE_PARENT | SIGCHLD)))
		run(program, "CLONE_PARENT");
	close(done[1]);
	char byte;
	if (read(done[0], &byte, 1) != 0)
		exit(1);
	while (!kill(pid, 0))
		usleep(1000);

	if (!(pid = raw_clone(CLONE_UNTRACED | SIGCHLD)))
		run(program, "CLONE_UNTRACED");
	finish(pid, "CLONE_UNTRACED");

	if (!(pid = fork())) {
		pthread_t t;
		pthread_create(&t, 0, run_thread, "thread");
		pause();
	}
	finish(pid, "thread");

	if (!(pid = fork())) {
		char *argv[] = { program, "-l", "execveat", 0 };
		syscall(SYS_execveat, AT_FDCWD, program, argv, environ, 0);
		_exit(99);
	}
	finish(pid, "execveat");

	if (!(pid = fork())) {
		char *argv[] = { program, "-l", "fexecve", 0 };
		fexecve(open(program, O_RDONLY | O_CLOEXEC), argv, environ);
		_exit(99);
	}
	finish(pid, "fexecve");

	if (!(pid = fork())) {
		char *argv[] = { script, "fexecve-script", 0 };
		fexecve(open(script, O_RDONLY), argv, environ);
		_exit(99);
	}
	finish(pid, "fexecve-script");

	if (!(pid = fork())) {
		execl(script, script, "script", (char *)0);
		_exit(99);
	}
	finish(pid, "script");

	if (!(pid = fork()))
		run(program32, "32-bit");
	finish(pid, "32-bit");

	// A child of a child that has not executed anything: still the agent's copy.
	if (!(pid = fork())) {
		if (!(pid = fork()))
			run(program, "grandchild");
		finish(pid, "grandchild");
		_exit(0);
	}
	finish(pid, "fork-fork");

	// What the agent sets on purpose.
	setenv("CHANGED", "new", 1);
	if (!(pid = fork())) {
		setenv("AGENT_KEY", "another-value", 1);
		setenv("ADDED", "added", 1);
		setenv("OTHER_NAME", getenv("KEPT"), 1);
		execl(program, program, "-l", "on purpose", "AGENT_KEY", "ADDED", "OTHER_NAME", "CHANGED", (char *)0);
		_exit(99);
	}
	finish(pid, "on purpose");

	// The key under another name, and within another value.
	if (!(pid = fork())) {
		char buf[256];
		snprintf(buf, sizeof buf, "https://user:%s@host/", getenv("AGENT_KEY"));
		setenv("ALIAS", getenv("AGENT_KEY"), 1);
		setenv("URL", buf, 1);
		execl(program, program, "-l", "alias", "ALIAS", "URL", "AGENT_KEY", (char *)0);
		_exit(99);
	}
	finish(pid, "alias");
}

static struct {
	pthread_mutex_t lock;
	int left, clean, dirty, failed;
} flood = { PTHREAD_MUTEX_INITIALIZER };

static void *flooder(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&flood.lock);
		int more = flood.left-- > 0;
		pthread_mutex_unlock(&flood.lock);
		if (!more)
			return 0;
		int out[2], status = -1;
		pid_t pid = -1;
		char byte = 0, *args[] = { program, "-s", 0 };
		posix_spawn_file_actions_t actions;
		if (pipe2(out, O_CLOEXEC))
			exit(1);
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_adddup2(&actions, out[1], 1);
		int err = posix_spawn(&pid, program, &actions, 0, args, environ);
		posix_spawn_file_actions_destroy(&actions);
		close(out[1]);
		if (!err && (read(out[0], &byte, 1) != 1 || waitpid(pid, &status, 0) != pid))
			byte = 0;
		close(out[0]);
		pthread_mutex_lock(&flood.lock);
		if (status || (byte != '.' && byte != '!'))
			flood.failed++;
		else if (byte == '.')
			flood.clean++;
		else
			flood.dirty++;
		pthread_mutex_unlock(&flood.lock);
	}
}

static void held(int n)
{
	int killed = 0, done = 0, status, in[2];
	// A child that waits for its end of input waits until it is killed.
	if (pipe2(in, O_CLOEXEC) || dup2(in[0], 0) < 0)
		exit(1);
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (!pid) {
			execl(program, program, "-l", "killed", "-w", (char *)0);
			_exit(99);
		}
		for (volatile int spin = 0; spin < i * 997 % 200000; spin++)
			;
		kill(pid, SIGKILL);
		killed += waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	}
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		if (!pid) {
			execl(program, program, "-s", (char *)0);
			_exit(99);
		}
		for (volatile int spin = 0; spin < i * 997 % 200000; spin++)
			;
		kill(pid, SIGSTOP);
		pid_t got = waitpid(pid, &status, WUNTRACED);
		if (got == pid && WIFSTOPPED(status)) {
			kill(pid, SIGCONT);
			got = waitpid(pid, &status, 0);
		}
		done += got == pid && WIFEXITED(status) && !WEXITSTATUS(status);
	}
	printf("\nkilled %d, continued %d\n", killed, done);
}

static char **command;

static void *become(void *unused)
{
	execvp(command[0], command);
	_exit(127);
}

static void *idle(void *unused)
{
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	if (argc < 3)
		return 2;
	setvbuf(stdout, 0, _IOLBF, 0);
	if (!strcmp(argv[1], "all")) {
		printf("agent: %s\n", getenv("AGENT_KEY") ? "has the key" : "has no key");
		all(argv[2]);
	} else if (!strcmp(argv[1], "flood")) {
		flood.left = atoi(argv[2]);
		snprintf(program, sizeof program, "%s", argv[3]);
		for (int i = 0; i < 16; i++)
			pthread_create(&t[i], 0, flooder, 0);
		for (int i = 0; i < 16; i++)
			pthread_join(t[i], 0);
		printf("clean %d, dirty %d, failed %d\n", flood.clean, flood.dirty, flood.failed);
	} else if (!strcmp(argv[1], "held")) {
		snprintf(program, sizeof program, "%s", argv[3]);
		held(atoi(argv[2]));
	} else if (!strcmp(argv[1], "exec")) {
		command = argv + 2;
		pthread_create(&t[0], 0, idle, 0);
		pthread_create(&t[1], 0, become, 0);
		pause();
	}
	return 0;
}
