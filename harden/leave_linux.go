package harden

import (
	"errors"
	"syscall"
	"unsafe"

	"github.com/envscrub/envscrub/harden/internal/regs"
)

// A child whose environment is filtered is let go: traced by nobody, at the
// first instruction of its program. What has to happen in between it must do
// itself. The guard writes a few instructions over those first ones, which make
// one system call and trap; the program's own are put back behind it. That
// is one stop more, before anything of the program has run.

// leaving is what is left to do for a child before it is let go.
type leaving struct {
	close  bool      // a rule grants it something: it is made not dumpable
	again  bool      // it is set-user-id: it executes the same file, untraced
	file   [3]uint64 // path, argv and envp for that
	trap   uint64    // PC of the stop behind the written code
	code   [codeSize]byte
	size   int    // of what was there before, in code
	mask   uint64 // of signals that it blocks
	marked bool   // it gave up the capability
}

const (
	codeSize = 16
	sigTrap  = uint64(1) << (syscall.SIGTRAP - 1)

	// Where in the unused stack a child finds what it passes to capset. No
	// program has put anything there yet.
	belowStack = 128
)

// leave lets a child go, behind its exec. Where it has the capability that only
// the agent is to have, it gives that up first: until then no other process of
// its user can look at it.
func (t *tracer) leave(s *step) {
	if t.mark == 0 {
		t.release(s)
		return
	}
	held, errno := capsOf(s.pid)
	if errno != 0 || !held.has(t.mark) {
		// Not one of the agent's user, or gone.
		t.release(s)
		return
	}
	held.drop(t.mark)
	if err := t.giveUp(s, &held); err != nil {
		t.kill(s.pid, "it cannot be told apart from the agent", err)
	}
}

// giveUp starts the child on the way to less capabilities.
func (t *tracer) giveUp(s *step, left *capData) error {
	sets := struct {
		header capHeader
		data   capData
	}{capHeader{version: capVersion3}, *left}
	at := (s.entry.SP() - belowStack) &^ 15
	if err := t.writeMemory(s.pid, at, unsafe.Slice((*byte)(unsafe.Pointer(&sets)), unsafe.Sizeof(sets))); err != nil {
		return err
	}
	// The trap unblocks its signal.
	if errno := ptrace(ptraceGetsigmask, s.pid, unsafe.Sizeof(s.mask), uintptr(unsafe.Pointer(&s.mask))); errno != 0 {
		return gone(errno)
	}
	if err := t.inject(s, regs.Capset, [3]uint64{at, at + uint64(unsafe.Sizeof(sets.header))}); err != nil {
		return err
	}
	s.phase = givesUp
	t.steps = append(t.steps, *s)
	t.resume(s.pid, 0)
	return nil
}

// inject writes the code for a call over the program's first instructions.
func (t *tracer) inject(s *step, call regs.Call, arguments [3]uint64) error {
	r := s.entry
	code, trap := r.Inject(call, arguments)
	s.trap, s.size = trap, len(code)
	at := s.entry.PC()
	if n, err := t.peek(s.pid, at, s.code[:s.size]); err != nil || n < s.size {
		return errors.Join(errors.New("its first instructions cannot be read"), err)
	}
	if err := t.poke(s.pid, at, code); err != nil {
		return err
	}
	return gone0(r.set(s.pid, false))
}

// gaveUp is a SIGTRAP of a child in phase givesUp. It returns false where
// somebody sent that signal.
func (t *tracer) gaveUp(s *step) bool {
	var r registers
	if r.get(s.pid) != 0 {
		return true // gone
	}
	if r.PC() != s.trap {
		return false
	}
	done := *s
	t.drop(s.pid)
	if err := t.restore(&done); err != nil {
		t.kill(done.pid, "it cannot be told apart from the agent", err)
		return true
	}
	t.release(&done)
	return true
}

// restore makes sure that the capability is gone, and puts the program back to
// its beginning.
func (t *tracer) restore(s *step) error {
	has, errno := capsOf(s.pid)
	if errno != 0 {
		return gone(errno)
	}
	if has.has(t.mark) {
		return errors.New("capset is refused to it")
	}
	if err := t.poke(s.pid, s.entry.PC(), s.code[:s.size]); err != nil {
		return err
	}
	if s.mask&sigTrap != 0 {
		if errno := ptrace(ptraceSetsigmask, s.pid, unsafe.Sizeof(s.mask), uintptr(unsafe.Pointer(&s.mask))); errno != 0 {
			return gone(errno)
		}
	}
	s.entry.Fresh()
	s.marked = true
	return gone0(s.entry.set(s.pid, false))
}

// release lets a child go that has given up what it had to.
func (t *tracer) release(s *step) {
	switch {
	case s.again:
		// A call of its own, from the place where nobody traces it any more.
		if err := t.inject(s, regs.Execve, s.file); err != nil {
			t.kill(s.pid, "its set-user-id program cannot be executed again", err)
			return
		}
		ptrace(ptraceDetach, s.pid, 0, 0)
	case s.close:
		s.phase = execEnds
		if s.marked {
			s.phase = firstCall // that end is behind it
		}
		t.steps = append(t.steps, *s)
		t.resume(s.pid, 0)
	default:
		ptrace(ptraceDetach, s.pid, 0, 0)
	}
}

// planAgain prepares the way for a set-user-id program. The kernel takes its
// privileges away where the tracer has none itself. So once the environment
// is filtered, the child is let go into an exec of the same file with the same
// arguments: nobody traces that one. false means that there is no way, and
// the program runs without its privileges.
func (t *tracer) planAgain(s *step) bool {
	name, ok := t.stack.Aux(atExecfn)
	if !ok {
		return false
	}
	path, ok := t.stack.Text(name)
	if !ok || path == "" || !sameFile(s.pid, path) {
		return false
	}
	argv, envp := t.stack.Lists(s.entry.SP())
	s.file = [3]uint64{name, argv, envp}
	return true
}

// gone0 is gone where no error is none.
func gone0(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return gone(errno)
}
