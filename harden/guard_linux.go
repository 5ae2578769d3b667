package harden

import (
	"strings"
	"syscall"
	"unsafe"

	"github.com/envscrub/envscrub/harden/order"
	"github.com/envscrub/envscrub/policy/spawn"
)

const (
	sigBlock   = 0
	sigSetmask = 2
)

// guard starts the agent and stays: it keeps the agent closed, filters what
// the agent's children see, and does what an init does. The result is the
// agent's exit code.
func guard(j *job) (int, *failure) {
	o := j.order
	setName(shimName) // not what told the lifter, or the number of a descriptor
	filter, err := spawn.New(o.AgentOnly, j.env, o.Held, o.Rules, o.Trust)
	if err != nil {
		return 0, refuse("spawn: ", err.Error())
	}
	caps, capability, void := planCaps(o, syscall.Geteuid())
	if fail := checkVoid(o, void); fail != nil {
		return 0, fail
	}
	if fail := limit(o); fail != nil {
		return 0, fail
	}
	var mask uint64
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, sigBlock, 0, uintptr(unsafe.Pointer(&mask)), 8, 0, 0)
	relay, fail := redirect(j)
	if fail != nil {
		return 0, fail
	}
	var how session
	tty, terminal := -1, false
	if relay != nil {
		_, terminal = relay.Child()
	}
	if !terminal {
		how, tty = chooseSession(j.behindInit)
	}
	from, err := catchSignals()
	if err != nil {
		return 0, refuse("make a pipe for signals: ", err.Error())
	}
	c := &child{
		trace:   o.Dumpable != order.Off || filter.Takes(),
		session: how,
		tty:     tty,
		caps:    &caps,
		mask:    mask,
		stdio:   [3]int{-1, -1, -1},
	}
	if relay != nil {
		connect(relay, c)
	}
	t := &tracer{
		filter:   filter,
		order:    o,
		harden:   o.Dumpable != order.Off,
		children: filter.Takes() || filter.Trusting(),
		setid:    caps.tracer || o.NoNewPrivileges,
		mark:     capability,
		uid:      syscall.Geteuid(),
		session:  how,
	}
	f := &forwarder{from: from, group: o.Group, shared: how == shared, ready: make(chan struct{})}
	t.forward = f
	go f.run() // before the fork, behind which each page is copied as it is written
	status, fail := t.start(j, c)
	if fail != nil {
		return 0, fail
	}
	f.agent = t.agent
	if relay != nil {
		f.resizer(relay, terminal)
		if err := relay.Start(); err != nil {
			syscall.Kill(t.agent, syscall.SIGKILL)
			return 0, refuse("redact the output: ", err.Error())
		}
		defer relay.Finish()
	}
	close(f.ready)
	return t.loop(status, j.args[0])
}

// start forks the child, seizes it, and lets it go on to the agent's program.
// What is returned is where the child says how that went.
func (t *tracer) start(j *job, c *child) (status int, fail *failure) {
	var say, wait [2]int
	if err := syscall.Pipe2(say[:], syscall.O_CLOEXEC); err != nil {
		return 0, refuse("make a pipe for the agent: ", err.Error())
	}
	if err := syscall.Pipe2(wait[:], syscall.O_CLOEXEC); err != nil {
		return 0, refuse("make a pipe for the agent: ", err.Error())
	}
	c.closeStatus, c.status, c.goAhead, c.closeGo = say[0], say[1], wait[0], wait[1]
	argv, envp := cstrings(j.args), cstrings(j.env)
	c.path, c.argv, c.envp = cstring(j.path), &argv[0], &envp[0]
	for {
		pid, errno := fork(c)
		if errno != 0 {
			return 0, refuse("fork: ", errno.Error())
		}
		t.agent = pid
		killed, fail := t.untilReady(say[0])
		if fail != nil {
			return 0, fail
		}
		if !killed {
			break
		}
		// The profile's victim is gone; another child gets by without a guard.
		c.trace = false
	}
	closeFD(say[1])
	closeFD(wait[0])
	if c.trace {
		if fail := t.seize(); fail != nil {
			return 0, fail
		}
	}
	write(wait[1], []byte{1})
	closeFD(wait[1])
	// What was only needed to start the agent holds its environment.
	for _, p := range envp {
		if p != nil {
			wipeString(p)
		}
	}
	return say[0], nil
}

func wipeString(p *byte) {
	for at := unsafe.Pointer(p); *(*byte)(at) != 0; at = unsafe.Add(at, 1) {
		*(*byte)(at) = 0
	}
}

// untilReady follows the child to where it can be seized. killed is true where
// a seccomp profile ended it for trying what a tracer does, and the order does
// not insist.
func (t *tracer) untilReady(status int) (killed bool, fail *failure) {
	last := int32(0)
	for {
		if !t.waitMessage(status) {
			var ws syscall.WaitStatus
			syscall.Wait4(t.agent, &ws, 0, nil)
			call := "ptrace"
			switch {
			case !ws.Signaled() || ws.Signal() != syscall.SIGSYS || last != msgTryPtrace && last != msgTryVM:
				return false, refuse("the agent's process ended before it started")
			case last == msgTryVM:
				call = "process_vm_readv or process_vm_writev"
			}
			return true, t.without("the container's seccomp profile kills a process that calls " + call)
		}
		m, ok := receiveMessage(status)
		if !ok {
			return false, refuse("the agent's process does not say that it is ready")
		}
		last = m.kind
		errno := syscall.Errno(m.errno)
		switch m.kind {
		case msgTryVM:
			if errno != syscall.ESRCH {
				t.refused = "the container's seccomp profile refuses ptrace (" + errno.Error() + ")"
			}
		case msgReady:
			t.slow = errno != 0
			return false, nil
		}
	}
}

// waitMessage waits for the child's next message; false means that the child
// has ended without one. The guard still holds the pipe's other end, for a
// second child.
func (t *tracer) waitMessage(status int) bool {
	for !waitReadable(status, 20) {
		var info [128]byte
		_, _, errno := syscall.RawSyscall6(syscall.SYS_WAITID, pPID, uintptr(t.agent), uintptr(unsafe.Pointer(&info)),
			syscall.WEXITED|syscall.WNOHANG|syscall.WNOWAIT, 0, 0)
		if errno == 0 && *(*int32)(unsafe.Pointer(&info)) != 0 {
			return waitReadable(status, 0)
		}
	}
	return true
}

// without warns where the order lets the agent run unguarded, and refuses
// otherwise: one that holds what its children must not see does not run.
func (t *tracer) without(reason string) *failure {
	if t.order.Dumpable == order.Prefer && !t.filter.Takes() {
		say("warning: " + reason + ": the agent runs without a guard")
		t.harden, t.children = false, false
		return nil
	}
	if t.filter.Takes() {
		return refuse(reason, ": the guard cannot work, and without it the agent's children would see what it alone may have")
	}
	return refuse(reason, ": the guard cannot work; set harden.dumpable = \"prefer\" to run without it")
}

func receiveMessage(fd int) (m message, ok bool) {
	n, errno := read(fd, unsafe.Slice((*byte)(unsafe.Pointer(&m)), unsafe.Sizeof(m)))
	return m, errno == 0 && n == int(unsafe.Sizeof(m))
}

const (
	optSysgood  = 1
	optFork     = 2
	optVfork    = 4
	optClone    = 8
	optExec     = 0x10
	optExitkill = 0x100000
)

// seize makes the guard the tracer of the child. Where the kernel does not let
// it, the order says whether the agent runs all the same; one that holds what
// its children must not see does not.
func (t *tracer) seize() *failure {
	options := uintptr(optSysgood | optClone | optExec | optExitkill)
	if t.children {
		options |= optFork | optVfork
	}
	reason := t.refused
	if reason == "" {
		errno := ptrace(ptraceSeize, t.agent, 0, options)
		if errno == 0 {
			return nil
		}
		reason = whyNot(errno)
	}
	fail := t.without(reason)
	if fail != nil {
		syscall.Kill(t.agent, syscall.SIGKILL)
	}
	return fail
}

// whyNot finds out who refuses ptrace, and says what would help. AppArmor and SELinux answer EACCES, Yama EPERM.
func whyNot(errno syscall.Errno) string {
	scope, _ := readFile("/proc/sys/kernel/yama/ptrace_scope")
	label, _ := readFile("/proc/self/attr/current")
	name, mode, _ := strings.Cut(strings.TrimRight(string(label), "\x00\n"), " (")
	switch {
	case errno == syscall.EACCES && mode != "":
		return "the AppArmor profile " + name + " refuses ptrace (it has to allow: ptrace (trace,read,tracedby,readby) peer=" + name + ")"
	case errno == syscall.EACCES && strings.Count(name, ":") > 2:
		return "SELinux refuses ptrace to " + name
	case errno == syscall.EPERM && len(scope) > 0 && scope[0] == '2':
		return "kernel.yama.ptrace_scope is 2 (Yama), which leaves ptrace to CAP_SYS_PTRACE (1 is enough for the guard)"
	case errno == syscall.EPERM && len(scope) > 0 && scope[0] > '2':
		return "kernel.yama.ptrace_scope is " + string(scope[:1]) + " (Yama), which forbids ptrace until the next boot (1 is enough for the guard)"
	}
	return "the kernel refuses ptrace (" + errno.Error() + ")"
}
