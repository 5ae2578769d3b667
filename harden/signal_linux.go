package harden

import (
	"sync/atomic"
	"syscall"
	"unsafe"
)

// Package os/signal says which signal came, not from whom. The guard must
// know that: a terminal's signals reach the agent by themselves, and one that
// opens a debugger must not pass when a tool sent it. So the handlers are
// ours: they write the siginfo to a pipe.

//lint:ignore U1000 the kernel calls it
func signalHandler()

//lint:ignore U1000 the kernel calls it
func faultHandler()

//lint:ignore U1000 the kernel calls it
func signalReturn()

//lint:ignore U1000 the kernel calls it
func tickHandler()

// signalCode returns the addresses of the four: a Go function value is not one.
func signalCode() (signal, fault, tick, back uintptr)

// signalPipe is the end that the handlers write to.
//
//lint:ignore U1000 the assembly uses it
var signalPipe uintptr

const (
	saNocldstop = 0x1
	saSiginfo   = 0x4
	saOnstack   = 0x08000000
	saRestart   = 0x10000000
	saRestorer  = 0x04000000

	sigDefault = 0
	sigIgnore  = 1
	lastSignal = 64

	siUser   = 0
	siTkill  = -6
	siKernel = 0x80
)

// sigaction is the kernel's.
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// siginfo is the part of the kernel's that the guard looks at.
type siginfo struct {
	signo, errno, code int32
	_                  int32
	pid                int32
	uid                uint32
	_                  [104]byte
}

func setAction(sig int, a sigaction) {
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&a)), 0, 8, 0, 0)
}

// catchSignals makes every signal that can be caught come out of the returned
// pipe. Children are waited for: SIGCHLD stays with the kernel.
func catchSignals() (from int, err error) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return 0, err
	}
	// A handler must never block; 512 signals wait in the pipe.
	syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(p[1]), syscall.F_SETFL, syscall.O_NONBLOCK)
	signalPipe = uintptr(p[1])
	signal, fault, tick, back := signalCode()
	for sig := 1; sig <= lastSignal; sig++ {
		a := sigaction{handler: signal, flags: saSiginfo | saOnstack | saRestart | saRestorer, restorer: back, mask: ^uint64(0)}
		switch syscall.Signal(sig) {
		case syscall.SIGKILL, syscall.SIGSTOP:
			continue
		case sigTick:
			a.handler = tick
			a.flags &^= saRestart
		case syscall.SIGCHLD:
			// Nor does the guard want one for every stop.
			a = sigaction{flags: saNocldstop}
		case syscall.SIGILL, syscall.SIGTRAP, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV, syscall.SIGSYS:
			a.handler = fault
		case syscall.SIGHUP, syscall.SIGINT:
			// Go leaves these ignored where they were: nohup, and a shell's
			// background jobs. The agent inherits that.
			if ignored(sig) {
				continue
			}
		}
		setAction(sig, a)
	}
	return p[0], nil
}

func ignored(sig int) bool {
	var a sigaction
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), 0, uintptr(unsafe.Pointer(&a)), 8, 0, 0)
	return a.handler == sigIgnore
}

// forwarder hands on what reaches the guard.
type forwarder struct {
	from   int
	ready  chan struct{} // closed once there is an agent
	agent  int           // process to signal
	group  bool          // or rather its process group
	shared bool          // the agent shares the guard's process group and terminal
	// nodeAgent and javaAgent are set while the agent is such a program and its
	// diagnostic door is to stay shut.
	nodeAgent, javaAgent atomic.Bool
	// special, if not nil, takes a signal on itself where it returns true.
	special func(syscall.Signal) (done bool)
}

// run never returns.
func (f *forwarder) run() {
	var info siginfo
	self := syscall.Getpid()
	for {
		n, _, errno := syscall.Syscall(syscall.SYS_READ, uintptr(f.from), uintptr(unsafe.Pointer(&info)), unsafe.Sizeof(info))
		if errno != 0 || n != unsafe.Sizeof(info) {
			continue
		}
		<-f.ready
		if f.special != nil && f.special(syscall.Signal(info.signo)) {
			continue
		}
		if f.passes(&info, self) {
			target := f.agent
			if f.group {
				target = -target
			}
			syscall.RawSyscall(syscall.SYS_KILL, uintptr(target), uintptr(info.signo), 0)
		}
	}
}

func (f *forwarder) passes(info *siginfo, self int) bool {
	sent := info.code <= 0
	switch {
	case sent && int(info.pid) == self:
		// Go's own, or the guard's.
		return false
	case f.shared && info.code == siKernel:
		// The terminal sent it to the whole foreground group.
		return false
	}
	// A sender within reach is a process beside the agent, or one that an
	// engine started here; what comes from outside has no number here.
	inside := info.pid != 0 || !sent
	switch syscall.Signal(info.signo) {
	case syscall.SIGUSR1:
		return !inside || !f.nodeAgent.Load()
	case syscall.SIGQUIT:
		return !inside || !f.javaAgent.Load() || info.code == siKernel
	}
	return true
}
