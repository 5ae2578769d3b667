package harden

import (
	"syscall"
	"unsafe"
)

// The runtime lets package syscall, and whoever else knows the names, fork a
// Go program: signals are blocked and the stack cannot grow between the two.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

// How the agent stands to the terminal and to the guard's process group.
type session int

const (
	// ownSession: the guard leads a session, as process 1 of a container does.
	// The agent gets one too, and the terminal with it: to its children
	// it is what it would have been without a guard, and job control,
	// the terminal's signals and a hang-up reach it directly.
	ownSession session = iota
	// ownGroup: behind an init, which made the shim the terminal's foreground
	// group. The agent takes that place.
	ownGroup
	// shared: started from a shell, whose job guard and agent are together.
	shared
)

// Messages of the child on its way to the agent's program: what it is about to
// do or has done, and how that went.
const (
	msgTryPtrace = 1 + iota
	msgTryVM     // and how ptrace went
	msgReady     // and how that went
	msgSession
	msgCaps
	msgExec
)

type message struct {
	kind  int32
	errno int32
}

// child is all that the forked child needs; it runs without a heap, a
// scheduler or a growing stack.
type child struct {
	path *byte
	argv **byte
	envp **byte

	status, goAhead int // pipes: what it says, and what it waits for
	closeStatus     int // the guard's ends
	closeGo         int

	trace   bool
	session session
	tty     int // descriptor of the controlling terminal, -1 for none
	caps    *capPlan
	mask    uint64 // of signals, for the agent

	// stdio are the agent's standard streams where they are not the guard's
	// own, -1 otherwise: the place for a redactor's pipes.
	stdio [3]int
}

const (
	ptraceSeize = 0x4206

	ioctlTIOCSCTTY = 0x540E
	ioctlTIOCSPGRP = 0x5410
	ioctlTIOCNOTTY = 0x5422
	ioctlTIOCGSID  = 0x5429
)

// fork starts the child.
//
//go:norace
func fork(c *child) (pid int, errno syscall.Errno) {
	beforeFork()
	r, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && r == 0 {
		becomeAgent(c)
	}
	afterFork()
	return int(r), errno
}

//go:nosplit
//go:norace
func tell(c *child, kind int32, errno syscall.Errno) {
	m := message{kind, int32(errno)}
	syscall.RawSyscall(syscall.SYS_WRITE, uintptr(c.status), uintptr(unsafe.Pointer(&m)), unsafe.Sizeof(m))
}

// becomeAgent never returns.
//
//go:nosplit
//go:norace
func becomeAgent(c *child) {
	syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(c.closeStatus), 0, 0)
	syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(c.closeGo), 0, 0)
	vm := syscall.Errno(0)
	if c.trace {
		// A seccomp profile may kill for these: then it kills this child, and
		// the guard can say so. They ask for
		// process 0, which is none, and for no bytes.
		tell(c, msgTryPtrace, 0)
		_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, ptraceSeize, 0, 0, 0, 0, 0)
		tell(c, msgTryVM, errno)
		_, _, vm = syscall.RawSyscall6(sysProcessVMReadv, 0, 0, 0, 0, 0, 0)
		if vm == 0 {
			_, _, vm = syscall.RawSyscall6(sysProcessVMWritev, 0, 0, 0, 0, 0, 0)
		}
		// The guard's memory, and so this copy of it, is closed to others; a
		// tracer without privilege is one of them until it has seized.
		syscall.RawSyscall6(syscall.SYS_PRCTL, prSetDumpable, 1, 0, 0, 0, 0)
	}
	tell(c, msgReady, vm)
	var one byte
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(c.goAhead), uintptr(unsafe.Pointer(&one)), 1)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 || n != 1 {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, exitRefused, 0, 0)
		}
		break
	}
	if c.trace {
		syscall.RawSyscall6(syscall.SYS_PRCTL, prSetDumpable, 0, 0, 0, 0, 0)
	}
	if errno := joinSession(c); errno != 0 {
		tell(c, msgSession, errno)
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, exitRefused, 0, 0)
	}
	if errno := dropCaps(c.caps); errno != 0 {
		tell(c, msgCaps, errno)
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, exitRefused, 0, 0)
	}
	for i, fd := range c.stdio {
		if fd >= 0 {
			syscall.RawSyscall(syscall.SYS_DUP3, uintptr(fd), uintptr(i), 0)
		}
	}
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigSetmask, uintptr(unsafe.Pointer(&c.mask)), 0, 8, 0, 0)
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(c.path)),
		uintptr(unsafe.Pointer(c.argv)), uintptr(unsafe.Pointer(c.envp)))
	tell(c, msgExec, errno)
	for {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, exitNotRun, 0, 0)
	}
}

//go:nosplit
//go:norace
func joinSession(c *child) syscall.Errno {
	switch c.session {
	case ownSession:
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0); errno != 0 {
			return errno
		}
		if c.tty >= 0 {
			_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(c.tty), ioctlTIOCSCTTY, 0)
			return errno
		}
	case ownGroup:
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETPGID, 0, 0, 0); errno != 0 {
			return errno
		}
		if c.tty >= 0 {
			// SIGTTOU is blocked, so a background group may do this.
			pid, _, _ := syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
			group := int32(pid)
			_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(c.tty), ioctlTIOCSPGRP, uintptr(unsafe.Pointer(&group)))
			return errno
		}
	}
	return 0
}

//go:nosplit
//go:norace
func dropCaps(p *capPlan) syscall.Errno {
	if p == nil || !p.change {
		return 0
	}
	for i := range p.nbound {
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prCapbsetDrop, p.bound[i], 0, 0, 0, 0); errno != 0 {
			return errno
		}
	}
	if p.lower != 0 {
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prCapAmbient, prCapAmbientLower, p.lower, 0, 0, 0); errno != 0 {
			return errno
		}
	}
	// What is left of the ambient set follows the permitted and inheritable ones.
	_, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&p.header)), uintptr(unsafe.Pointer(&p.data[0])), 0)
	return errno
}

// chooseSession finds out how the agent is to stand, and lets the terminal go
// where the agent is to have it.
func chooseSession(behindInit bool) (s session, tty int) {
	pid := syscall.Getpid()
	sid, _, _ := syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0)
	tty = controllingTTY(int(sid))
	switch {
	case int(sid) == pid:
		if tty >= 0 {
			// Letting go sends SIGHUP and SIGCONT to the foreground group,
			// this process at most.
			old := ignored(int(syscall.SIGHUP))
			setAction(int(syscall.SIGHUP), sigaction{handler: sigIgnore})
			_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(tty), ioctlTIOCNOTTY, 0)
			if !old {
				setAction(int(syscall.SIGHUP), sigaction{})
			}
			if errno != 0 {
				tty = -1
			}
		}
		return ownSession, tty
	case behindInit:
		if tty >= 0 {
			var foreground int32
			syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(tty), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&foreground)))
			if int(foreground) != syscall.Getpgrp() {
				tty = -1
			}
		}
		return ownGroup, tty
	}
	return shared, -1
}

func controllingTTY(sid int) int {
	for fd := range 3 {
		var owner int32
		_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(fd), ioctlTIOCGSID, uintptr(unsafe.Pointer(&owner)))
		if errno == 0 && int(owner) == sid {
			return fd
		}
	}
	return -1
}
