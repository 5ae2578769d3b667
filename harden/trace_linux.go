package harden

import (
	"errors"
	"strings"
	"syscall"
	"unsafe"

	"github.com/envscrub/envscrub/harden/internal/stack"
	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/policy/spawn"
)

const (
	ptracePeekdata    = 2
	ptracePokedata    = 5
	ptraceCont        = 7
	ptraceDetach      = 17
	ptraceSyscall     = 24
	ptraceGeteventmsg = 0x4201
	ptraceGetsiginfo  = 0x4202
	ptraceListen      = 0x4208
	ptraceGetsigmask  = 0x420a
	ptraceSetsigmask  = 0x420b

	eventFork  = 1
	eventVfork = 2
	eventClone = 3
	eventExec  = 4
	eventStop  = 128

	syscallStop = syscall.Signal(0x80 | int(syscall.SIGTRAP))
)

func ptrace(request, pid int, address, data uintptr) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(pid), address, data, 0, 0)
	return errno
}

// phase is how far a program is on its way behind an exec: it stops at the end
// of that call, at the first call of its own, which becomes something else,
// and at that one's end. A child may have to give up a capability before all
// that (leave_linux.go).
type phase int

const (
	execEnds phase = iota // next stop: the exec call's end
	firstCall
	injected
	givesUp // next stop: behind the code that stands in for the program's first
)

// step is a thread in one of the phases.
type step struct {
	pid   int
	phase phase
	entry registers
	leaving
}

// program is a process that is the agent: its main one, or a trusted command.
type program struct {
	pid        int
	node, java bool
}

// tracer is the guard's state. Nothing in it grows with the agent's threads or
// children; they are known by their stops alone.
type tracer struct {
	filter   *spawn.Filter
	order    *order.Order
	harden   bool // programs are made not dumpable
	children bool // children stop at fork and exec
	setid    bool // a child's set-user-id exec keeps its privileges as it is
	mark     int  // the capability that the agent has and its tools do not, 0 for none
	slow     bool // process_vm_readv is not to be had
	uid      int
	session  session
	told     bool   // that a rule was not applied
	refused  string // why ptrace is not to be had, found out by the child

	agent    int
	started  bool
	programs []program
	steps    []step
	forward  *forwarder
	wait     waiter

	memory  []byte
	stack   stack.Stack
	changed []stack.Range
	remote  [maxPages]iovec
	local   [16]iovec
}

// loop is the guard's life. It returns when the agent has ended.
func (t *tracer) loop(status int, command string) (int, *failure) {
	t.programs = append(t.programs, program{pid: t.agent})
	t.wait.prepare()
	for {
		var ws syscall.WaitStatus
		pid, errno := t.wait.any(&ws)
		if errno != 0 {
			return 0, refuse("wait for the agent: ", errno.Error())
		}
		switch {
		case ws.Exited(), ws.Signaled():
			if pid == t.agent {
				return t.ended(ws, status, command)
			}
			t.forget(pid)
		case ws.Stopped():
			if fail := t.stopped(pid, ws); fail != nil {
				syscall.Kill(t.agent, syscall.SIGKILL)
				return 0, fail
			}
		}
	}
}

// ended turns the agent's end into the guard's exit code.
func (t *tracer) ended(ws syscall.WaitStatus, status int, command string) (int, *failure) {
	if !t.started {
		if m, ok := receiveMessage(status); ok {
			errno := syscall.Errno(m.errno)
			switch m.kind {
			case msgExec:
				return 0, cannotRun(command, errno)
			case msgSession:
				return 0, refuse("give the agent its session: ", errno.Error())
			case msgCaps:
				return 0, refuse("take capabilities from the agent: ", errno.Error())
			}
		}
	}
	if ws.Signaled() {
		return exitSignalBase + int(ws.Signal()), nil
	}
	return ws.ExitStatus(), nil
}

// forget drops what is known of a process or thread that has ended.
func (t *tracer) forget(pid int) {
	t.drop(pid)
	for i := range t.programs {
		if t.programs[i].pid == pid {
			t.programs = append(t.programs[:i], t.programs[i+1:]...)
			t.note()
			return
		}
	}
}

func (t *tracer) program(pid int) *program {
	for i := range t.programs {
		if t.programs[i].pid == pid {
			return &t.programs[i]
		}
	}
	return nil
}

// note tells the forwarder which diagnostic signals are to be watched.
func (t *tracer) note() {
	node, java := false, false
	for i := range t.programs {
		node = node || t.programs[i].node
		java = java || t.programs[i].java
	}
	t.forward.nodeAgent.Store(node)
	t.forward.javaAgent.Store(java)
}

func (t *tracer) step(pid int) *step {
	for i := range t.steps {
		if t.steps[i].pid == pid {
			return &t.steps[i]
		}
	}
	return nil
}

func (t *tracer) drop(pid int) {
	for i := range t.steps {
		if t.steps[i].pid == pid {
			t.steps = append(t.steps[:i], t.steps[i+1:]...)
			return
		}
	}
}

// resume lets a thread run, to its next stop of interest. A thread that is gone
// is no error: its end is reported by wait.
func (t *tracer) resume(pid int, sig uintptr) {
	request := ptraceCont
	if len(t.steps) > 0 {
		if s := t.step(pid); s != nil && s.phase != givesUp {
			request = ptraceSyscall
		}
	}
	ptrace(request, pid, 0, sig)
}

func (t *tracer) stopped(pid int, ws syscall.WaitStatus) *failure {
	sig, event := ws.StopSignal(), int(uint32(ws)>>16)
	if event != 0 && event != eventStop && event != eventExec && len(t.steps) > 0 {
		if s := t.step(pid); s != nil && s.phase == givesUp {
			// Its program runs, without the code that was to come first.
			t.drop(pid)
			t.kill(pid, "it cannot be told apart from the agent", errors.New("it did not run what the guard put before it"))
			return nil
		}
	}
	switch event {
	case 0:
		if sig == syscallStop {
			return t.atCall(pid)
		}
		if sig == syscall.SIGTRAP && len(t.steps) > 0 {
			if s := t.step(pid); s != nil && s.phase == givesUp && t.gaveUp(s) {
				return nil
			}
		}
		t.resume(pid, uintptr(t.deliver(pid, sig)))
	case eventExec:
		return t.executed(pid)
	case eventStop:
		switch sig {
		case syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
			// A group-stop: it lasts until SIGCONT.
			ptrace(ptraceListen, pid, 0, 0)
			if t.session == shared && pid == t.agent {
				// The shell whose job this is wants to see it stop.
				syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
			}
		default:
			t.resume(pid, 0)
		}
	default:
		t.resume(pid, 0)
	}
	return nil
}

// deliver decides about a signal before the thread sees it.
func (t *tracer) deliver(pid int, sig syscall.Signal) syscall.Signal {
	if sig != syscall.SIGUSR1 && sig != syscall.SIGQUIT {
		return sig
	}
	if sig == syscall.SIGUSR1 && !t.forward.nodeAgent.Load() || sig == syscall.SIGQUIT && !t.forward.javaAgent.Load() {
		return sig
	}
	var info siginfo
	if ptrace(ptraceGetsiginfo, pid, 0, uintptr(unsafe.Pointer(&info))) != 0 || t.opensDebugger(&info) {
		return 0
	}
	return sig
}

// opensDebugger reports whether a SIGUSR1 to Node or a SIGQUIT to a JVM comes
// from a process beside the agent: it would open the agent's inspector or
// attach door to it. Only what kill and tgkill fill in is believed: any
// other code can be made up by the sender.
func (t *tracer) opensDebugger(info *siginfo) bool {
	switch info.code {
	case siUser, siTkill:
		return info.pid != 0 && int(info.pid) != syscall.Getpid() && t.program(int(info.pid)) == nil
	case siKernel:
		return syscall.Signal(info.signo) != syscall.SIGQUIT // the terminal's Ctrl-\
	}
	return true
}

// executed is the stop behind an exec, before the new program's first
// instruction.
func (t *tracer) executed(pid int) *failure {
	p := t.program(pid)
	if len(t.steps) > 0 {
		t.drop(pid)
	}
	if p == nil {
		return t.spawned(pid)
	}
	if pid == t.agent {
		t.started = true
	}
	t.identify(p)
	return t.protect(pid)
}

// protect sends a program on its way to being not dumpable.
func (t *tracer) protect(pid int) *failure {
	if t.harden {
		t.steps = append(t.steps, step{pid: pid, phase: execEnds})
	}
	t.resume(pid, 0)
	return nil
}

// identify looks for runtimes with a diagnostic door.
func (t *tracer) identify(p *program) {
	name := readlink(procPath(p.pid, "exe"))
	name = name[strings.LastIndexByte(name, '/')+1:]
	p.node = t.order.Closes(order.Node) && (strings.HasPrefix(name, "node") || strings.HasPrefix(name, "electron"))
	p.java = t.order.Closes(order.Java) && strings.HasPrefix(name, "java")
	t.note()
}

// atCall is a system call's beginning or end, of a thread in a phase.
func (t *tracer) atCall(pid int) *failure {
	s := t.step(pid)
	if s == nil {
		t.resume(pid, 0)
		return nil
	}
	switch s.phase {
	case execEnds:
		s.phase = firstCall
	case firstCall:
		if errno := s.entry.get(pid); errno != 0 {
			return t.lost(pid, "read its registers", errno)
		}
		regs := s.entry
		regs.Prctl(prSetDumpable, 0)
		if errno := regs.set(pid, true); errno != 0 {
			return t.lost(pid, "write its registers", errno)
		}
		s.phase = injected
	case injected:
		var regs registers
		if errno := regs.get(pid); errno != 0 {
			return t.lost(pid, "read its registers", errno)
		}
		result := regs.Result()
		regs.Again(&s.entry.registerSet)
		if errno := regs.set(pid, false); errno != 0 {
			return t.lost(pid, "write its registers", errno)
		}
		letGo := s.close
		t.drop(pid)
		fail := t.verify(pid, result)
		if letGo {
			if fail != nil {
				syscall.Kill(pid, syscall.SIGKILL)
				say("a command with a grant (process " + itoa(pid) + ") was killed: it would stay readable to other processes")
			}
			ptrace(ptraceDetach, pid, 0, 0)
			return nil
		}
		if fail != nil {
			return fail
		}
	}
	t.resume(pid, 0)
	return nil
}

// lost is a register access that failed: of no matter where the thread is gone.
func (t *tracer) lost(pid int, what string, errno syscall.Errno) *failure {
	if errno == syscall.ESRCH {
		return nil
	}
	return t.exposed(pid, what+": "+errno.Error())
}

// verify makes sure that the program is closed, by the kernel's answer and by
// what /proc shows to everybody.
func (t *tracer) verify(pid int, result int64) *failure {
	if result != 0 {
		return t.exposed(pid, "prctl(PR_SET_DUMPABLE): "+syscall.Errno(-result).Error())
	}
	if t.uid == 0 {
		return nil // root's files in /proc are root's in any case
	}
	var st syscall.Stat_t
	if err := syscall.Stat(procPath(pid, "environ"), &st); err == nil && int(st.Uid) == t.uid {
		return t.exposed(pid, "its files in /proc are still its own")
	}
	return nil
}

// exposed is a program that could not be closed.
func (t *tracer) exposed(pid int, why string) *failure {
	if t.order.Dumpable == order.Prefer && !t.filter.Takes() {
		say("warning: the agent stays readable to its children: " + why)
		return nil
	}
	return refuse("the agent (process ", itoa(pid), ") would stay readable to its children: ", why)
}
