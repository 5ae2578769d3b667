package harden

import (
	"errors"
	"strings"
	"syscall"
	"unsafe"

	"github.com/envscrub/envscrub/harden/internal/stack"
	"github.com/envscrub/envscrub/policy/spawn"
)

const (
	pageSize   = 4096
	maxPages   = 256
	usualStack = 64 << 10 // kept for every child
	roomBelow  = 96 << 10
	maxStack   = 8 << 20 // the kernel's own limit for arguments and environment is 6 MiB
)

type iovec struct {
	base uint64
	size uint64
}

// errGone is a child that has ended while it was held.
var errGone = errors.New("gone")

// spawned is a child's exec: its environment is filtered, and it is let go. A
// command that is trusted stays, as agent.
func (t *tracer) spawned(pid int) *failure {
	s := step{pid: pid}
	trusted, err := t.filterChild(&s)
	switch {
	case err != nil:
		t.kill(pid, "its environment cannot be filtered", err)
	case trusted:
		t.programs = append(t.programs, program{pid: pid})
		t.identify(&t.programs[len(t.programs)-1])
		return t.protect(pid)
	default:
		t.leave(&s)
	}
	return nil
}

// kill ends a child that must not run with what it holds.
func (t *tracer) kill(pid int, why string, err error) {
	if errors.Is(err, errGone) {
		return
	}
	syscall.Kill(pid, syscall.SIGKILL)
	say("a child of the agent (process " + itoa(pid) + ") was killed, " + why + ": " + err.Error())
	ptrace(ptraceDetach, pid, 0, 0)
}

// filterChild filters the environment of the child and finds out what else is to
// be done before it is let go.
func (t *tracer) filterChild(s *step) (trusted bool, err error) {
	if !t.filter.Takes() && !t.filter.Trusting() {
		return false, nil
	}
	pid, regs := s.pid, &s.entry
	if errno := regs.get(pid); errno != 0 {
		return false, gone(errno)
	}
	word := 8
	if regs.Compat() {
		word = 4
	}
	release, err := t.readStack(pid, regs.SP(), word)
	if release != nil {
		defer release()
	}
	if err != nil {
		return false, err
	}
	var grants spawn.Grants
	if t.filter.ByCommand() {
		var trusted bool
		if grants, trusted = t.granted(pid); trusted {
			return true, nil
		}
	} else {
		grants = t.filter.For(nil)
	}
	more := grants.Added()
	t.changed, err = t.stack.Edit(func(entry []byte) bool {
		text := unsafe.String(unsafe.SliceData(entry), len(entry))
		if !grants.Passes(text) {
			return false
		}
		if len(more) > 0 {
			// What the agent set on purpose is not set over.
			more = without(more, nameOf(text))
		}
		return true
	}, t.changed[:0])
	if err != nil {
		return false, err
	}
	if err := t.writeStack(pid, regs.SP()); err != nil {
		return false, err
	}
	if len(more) > 0 {
		if err := t.addEntries(pid, regs, more); err != nil {
			return false, err
		}
	}
	if !t.setid && isSetid(pid) {
		s.again = t.planAgain(s)
	}
	s.close = !s.again && grants.Any() && t.harden
	return false, nil
}

// granted finds out what the rules say of a child's command.
func (t *tracer) granted(pid int) (grants spawn.Grants, trusted bool) {
	c := commandOf(pid, &t.stack)
	paths := c.paths()
	trusted, grants = t.filter.Trusts(paths), t.filter.For(paths)
	if !trusted && !grants.Any() {
		return grants, false
	}
	fixed := c.fixed()
	before := grants.Any()
	if !trusted || !t.filter.Trusts(fixed) {
		grants = t.filter.For(fixed)
		if !t.told && (trusted || before && !grants.Any()) {
			t.told = true
			say("no rule applies to " + paths[len(paths)-1] + ": its user could have put it there")
		}
		return grants, false
	}
	return grants, true
}

// without drops the entries of that name.
func without(entries []string, name string) []string {
	for i := range entries {
		if nameOf(entries[i]) == name {
			return without(append(entries[:i:i], entries[i+1:]...), name)
		}
	}
	return entries
}

// addEntries gives a child what a rule grants it and the agent does not have: a
// new beginning of its stack, in the 128 KiB that the kernel leaves below the
// old one.
func (t *tracer) addEntries(pid int, regs *registers, entries []string) error {
	mem, sp := t.stack.Grow(entries)
	if len(mem) > roomBelow {
		return errors.New("what a rule grants it is too large")
	}
	if err := t.writeMemory(pid, sp, mem); err != nil {
		return err
	}
	regs.SetSP(sp)
	if errno := regs.set(pid, false); errno != 0 {
		return gone(errno)
	}
	return nil
}

func gone(errno syscall.Errno) error {
	if errno == syscall.ESRCH {
		return errGone
	}
	return errno
}

// readStack copies the child's stack, as much of it as it takes.
func (t *tracer) readStack(pid int, sp uint64, word int) (release func(), err error) {
	if t.memory == nil {
		t.memory = make([]byte, usualStack)
	}
	memory := t.memory
	// Most environments end within a few pages: the rest is not touched.
	for size := 4*pageSize - int(sp%pageSize); ; size *= 4 {
		if size > len(memory) {
			if size > maxStack {
				return release, errors.New("the environment is too large")
			}
			if release != nil {
				release()
			}
			large, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
			if err != nil {
				return nil, err
			}
			memory, release = large, func() { syscall.Munmap(large) }
		}
		n, err := t.readMemory(pid, sp, memory[:size])
		if err != nil {
			return release, err
		}
		err = t.stack.Reset(memory[:n], sp, word)
		if !errors.Is(err, stack.ErrShort) {
			return release, err
		}
		if n < size {
			return release, errors.New("the stack ends before the environment does")
		}
	}
}

// readMemory fills buf from a child's memory, as far as that goes.
func (t *tracer) readMemory(pid int, at uint64, buf []byte) (int, error) {
	done := 0
	for done < len(buf) && !t.slow {
		// The kernel promises a partial result only between vectors: one a page.
		n, size, rest := 0, 0, buf[done:]
		for ; n < maxPages && size < len(rest); n++ {
			from := at + uint64(done+size)
			part := min(pageSize-int(from%pageSize), len(rest)-size)
			t.remote[n] = iovec{from, uint64(part)}
			size += part
		}
		local := iovec{uint64(uintptr(unsafe.Pointer(&rest[0]))), uint64(len(rest))}
		r, _, errno := syscall.RawSyscall6(sysProcessVMReadv, uintptr(pid), uintptr(unsafe.Pointer(&local)), 1,
			uintptr(unsafe.Pointer(&t.remote[0])), uintptr(n), 0)
		switch {
		case errno == syscall.EFAULT || errno == 0 && r == 0:
			return done, nil
		case errno == syscall.EPERM:
			// A child of another user: what the tracer itself may do remains.
			return t.peek(pid, at, buf)
		case errno == syscall.ENOSYS:
			t.slow = true
		case errno != 0:
			return done, gone(errno)
		}
		if errno != 0 {
			break
		}
		done += int(r)
		if int(r) < size {
			return done, nil
		}
	}
	if t.slow {
		return t.peek(pid, at, buf)
	}
	return done, nil
}

// peek reads word by word.
func (t *tracer) peek(pid int, at uint64, buf []byte) (int, error) {
	var word [8]byte
	for done := 0; done < len(buf); {
		from := at + uint64(done)
		skip := int(from % 8)
		errno := ptrace(ptracePeekdata, pid, uintptr(from-uint64(skip)), uintptr(unsafe.Pointer(&word)))
		if errno == syscall.EIO || errno == syscall.EFAULT {
			if done == 0 {
				return 0, errors.New("its memory is closed to the guard")
			}
			return done, nil
		}
		if errno != 0 {
			return done, gone(errno)
		}
		done += copy(buf[done:], word[skip:])
	}
	return len(buf), nil
}

// writeStack writes what Edit changed, in one call if possible.
func (t *tracer) writeStack(pid int, sp uint64) error {
	mem := t.stack.Bytes()
	if len(t.changed) > 0 && len(t.changed) <= len(t.local) && !t.slow {
		size := 0
		for i, r := range t.changed {
			n := uint64(r.To - r.From)
			size += int(n)
			t.local[i] = iovec{uint64(uintptr(unsafe.Pointer(&mem[r.From]))), n}
			t.remote[i] = iovec{sp + uint64(r.From), n}
		}
		if t.writeVectors(pid, len(t.changed)) == size {
			return nil
		}
	}
	for _, r := range t.changed {
		if err := t.poke(pid, sp+uint64(r.From), mem[r.From:r.To]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracer) writeMemory(pid int, at uint64, b []byte) error {
	t.local[0] = iovec{uint64(uintptr(unsafe.Pointer(&b[0]))), uint64(len(b))}
	t.remote[0] = iovec{at, uint64(len(b))}
	if !t.slow && t.writeVectors(pid, 1) == len(b) {
		return nil
	}
	return t.poke(pid, at, b)
}

// writeVectors returns how much of the first n vectors was written.
func (t *tracer) writeVectors(pid, n int) int {
	written, _, errno := syscall.RawSyscall6(sysProcessVMWritev, uintptr(pid), uintptr(unsafe.Pointer(&t.local)), uintptr(n),
		uintptr(unsafe.Pointer(&t.remote)), uintptr(n), 0)
	if errno != 0 {
		return 0
	}
	return int(written)
}

// poke writes word by word: to a child of another user, whose memory only its
// tracer may touch.
func (t *tracer) poke(pid int, at uint64, b []byte) error {
	for len(b) > 0 {
		skip := int(at % 8)
		n := min(8-skip, len(b))
		var word [8]byte
		if n < 8 {
			if errno := ptrace(ptracePeekdata, pid, uintptr(at)-uintptr(skip), uintptr(unsafe.Pointer(&word))); errno != 0 {
				return gone(errno)
			}
		}
		copy(word[skip:], b[:n])
		if errno := ptrace(ptracePokedata, pid, uintptr(at)-uintptr(skip), *(*uintptr)(unsafe.Pointer(&word))); errno != 0 {
			return gone(errno)
		}
		at += uint64(n)
		b = b[n:]
	}
	return nil
}

// procPath is a path below /proc/<pid>.
func procPath(pid int, name string) string {
	return "/proc/" + itoa(pid) + "/" + name
}

func readlink(path string) string {
	var buf [4096]byte
	n, err := syscall.Readlink(path, buf[:])
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

// commandOf finds the paths by which rules may know a command: the program's
// file, the script's if it is one, and the name that led there. Neither
// argv[0] nor a name that does not lead there counts: a caller can make them
// up.
func commandOf(pid int, s *stack.Stack) command {
	exe := procPath(pid, "exe")
	c := command{pid: pid, program: readlink(exe)}
	if c.program == "" {
		return c
	}
	at, ok := s.Aux(atExecfn)
	if !ok {
		return c
	}
	name, ok := s.Text(at)
	if !ok || name == "" {
		return c
	}
	path := procPath(pid, "root") + name
	if name[0] != '/' {
		path = procPath(pid, "cwd") + "/" + name
	}
	fd, errno := open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK)
	if errno != 0 {
		return c
	}
	defer closeFD(fd)
	var named, ran syscall.Stat_t
	if syscall.Fstat(fd, &named) != nil || syscall.Stat(exe, &ran) != nil {
		return c
	}
	if named.Dev != ran.Dev || named.Ino != ran.Ino {
		var head [2]byte
		if n, errno := read(fd, head[:]); errno != 0 || n != 2 || head != [2]byte{'#', '!'} {
			return c
		}
		c.script = readlink(fdPath + itoa(fd))
	}
	if name[0] != '/' {
		name = readlink(procPath(pid, "cwd")) + "/" + strings.TrimPrefix(name, "./")
	}
	if plain(name) {
		c.name = name
	}
	return c
}

// plain reports whether a path is absolute and has no part that leads
// elsewhere than it reads.
func plain(path string) bool {
	return path[0] == '/' && !strings.Contains(path, "//") && !strings.Contains(path+"/", "/./") && !strings.Contains(path+"/", "/../")
}

// isSetid reports whether the program that a child executes would have had
// more privileges without a tracer.
func isSetid(pid int) bool {
	exe := procPath(pid, "exe")
	var st syscall.Stat_t
	if syscall.Stat(exe, &st) != nil {
		return false
	}
	if st.Mode&(syscall.S_ISUID|syscall.S_ISGID) != 0 {
		return true
	}
	n, err := syscall.Getxattr(exe, "security.capability", nil)
	return err == nil && n > 0
}

func sameFile(pid int, name string) bool {
	path := procPath(pid, "root") + name
	if name[0] != '/' {
		path = procPath(pid, "cwd") + "/" + name
	}
	var named, ran syscall.Stat_t
	return syscall.Stat(path, &named) == nil && syscall.Stat(procPath(pid, "exe"), &ran) == nil &&
		named.Dev == ran.Dev && named.Ino == ran.Ino
}
