package mountns

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/envscrub/envscrub/harden/order"
)

// MaxMounts is how many mounts one lifter takes away.
const MaxMounts = 16

// A Lifter waits until the container's process is the shim and waits for its
// go-ahead, takes the mounts away and writes the message. It is a process of its
// own.
//
// That process is a fork that executes nothing: a second program would have to
// start while the container does, and a start of a Go program costs more than
// all the rest of the hook's work. After a fork from a threaded program only the
// forking thread is there, with whatever locks the others held; so the child's
// code is system calls on memory that was prepared before, without the Go
// runtime: no allocation, no stack growth, no lock.
type Lifter struct {
	ns     *Namespace
	shim   int
	stat   unix.Stat_t // of the shim
	procfs int         // the host's, from where the child names its own descriptors
	spare  int         // a clone that is not attached yet
	mounts []int

	dir          int // what to remove, see Forget
	file, parent string
}

// NewLifter opens the shim. To be called where the shim's
// path leads to the host's file, before Enter or within Outside.
func (n *Namespace) NewLifter(shim string) (*Lifter, error) {
	l := &Lifter{ns: n, dir: -1}
	var err error
	if l.shim, err = unix.Open(shim, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open %s: %w", shim, err)
	}
	if err := unix.Fstat(l.shim, &l.stat); err != nil {
		return nil, fmt.Errorf("stat %s: %w", shim, err)
	}
	if l.procfs, err = unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open /proc: %w", err)
	}
	if l.spare, err = clone(l.shim); err != nil {
		return nil, err
	}
	return l, nil
}

// Cover puts the shim over the file that target is open on, after Enter.
func (l *Lifter) Cover(target int) error {
	if len(l.mounts) == MaxMounts {
		return errors.New("there are too many places where the entrypoint could be")
	}
	tree := l.spare
	if l.spare = -1; tree < 0 {
		err := l.ns.Outside(func() (err error) {
			tree, err = clone(l.shim)
			return err
		})
		if err != nil {
			return err
		}
	}
	const flags = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH
	if err := unix.MoveMount(tree, "", target, "", flags); err != nil {
		return fmt.Errorf("attach the mount: %w", err)
	}
	l.mounts = append(l.mounts, tree) // names the attached mount from now on
	return nil
}

// Forget makes the lifter remove a file and then its directory, both named from
// dir, when the container ends without ever having been started: a runtime that
// fails to create it need not call the hooks that would do it.
func (l *Lifter) Forget(dir int, file, parent string) { l.dir, l.file, l.parent = dir, file, parent }

// vigil is all that the child knows.
type vigil struct {
	keep    [MaxMounts + 5]int32 // descriptors that stay open, ascending
	nkeep   int
	poll    [2]unix.PollFd // the container's process, the watch
	proc    int            // /proc/<pid>
	procfs  int            // /proc of the host
	shim    [24]byte       // its path below procfs, where the child is
	mounts  [MaxMounts][24]byte
	nmounts int
	dev     uint64
	ino     uint64
	message []byte

	dir          int // where file and parent are to be removed
	file, parent *byte

	waiting   [16]byte // what a shim that is ready calls itself, but for the number
	nwaiting  uintptr
	exe, comm [8]byte  // paths below proc
	gate      [24]byte // the same, of the descriptor that the shim reads from
	name      [16]byte
	st        unix.Stat_t
	buf       [4096]byte
	act       [4]uint64
	mask      uint64
}

// Start lets the process go. The caller must be where Enter brought it; its
// thread is in the container's mount namespace, and so the child is born there.
func (l *Lifter) Start(message []byte) error {
	v := &vigil{proc: l.ns.proc, procfs: l.procfs, dev: uint64(l.stat.Dev), ino: l.stat.Ino, message: message}
	v.poll[0] = unix.PollFd{Fd: int32(l.ns.pidfd), Events: unix.POLLIN}
	v.poll[1].Fd = -1 // not watched yet
	copy(v.shim[:], "self/fd/"+strconv.Itoa(l.shim))
	keep := []int32{int32(l.ns.proc), int32(l.ns.pidfd), int32(l.shim), int32(l.procfs)}
	for i, fd := range l.mounts {
		copy(v.mounts[i][:], "self/fd/"+strconv.Itoa(fd))
		keep = append(keep, int32(fd))
	}
	v.nmounts = len(l.mounts)
	if v.dir = l.dir; l.dir >= 0 {
		keep = append(keep, int32(l.dir))
		var err error
		if v.file, err = unix.BytePtrFromString(l.file); err != nil {
			return fmt.Errorf("name the record: %w", err)
		}
		if v.parent, err = unix.BytePtrFromString(l.parent); err != nil {
			return fmt.Errorf("name the record: %w", err)
		}
	}
	slices.Sort(keep)
	v.nkeep = copy(v.keep[:], keep)
	v.nwaiting = uintptr(copy(v.waiting[:], strings.TrimSuffix(order.Ready(0), "0")))
	copy(v.exe[:], "exe")
	copy(v.comm[:], "comm")
	copy(v.gate[:], "fd/")
	copy(v.name[:], "envscrub-lift")

	// No signal may reach a handler of the Go runtime in the child.
	var all, old unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return fmt.Errorf("block signals: %w", err)
	}
	errno := fork(v)
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil); err != nil {
		return fmt.Errorf("unblock signals: %w", err)
	}
	if errno != 0 {
		return fmt.Errorf("fork the lifter: %w", errno)
	}
	return nil // whoever reaps the orphans of the runtime will reap it
}

//go:noinline
//go:norace
//go:nosplit
func fork(v *vigil) syscall.Errno {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return errno
	}
	v.detach()
	v.exit(v.watch())
	return 0
}

//go:norace
//go:nosplit
func (v *vigil) exit(code uintptr) {
	for {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, code, 0, 0)
	}
}

// detach leaves nothing of the parent: descriptors (the runtime waits until the
// last writer of a hook's output is gone), session, signal handlers, name.
//
//go:norace
//go:nosplit
func (v *vigil) detach() {
	first := uintptr(0)
	for i := 0; i < v.nkeep; i++ {
		fd := uintptr(v.keep[i])
		if fd > first {
			syscall.RawSyscall(unix.SYS_CLOSE_RANGE, first, fd-1, 0)
		}
		first = fd + 1
	}
	syscall.RawSyscall(unix.SYS_CLOSE_RANGE, first, 1<<31-1, 0)
	syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
	for sig := uintptr(1); sig <= 64; sig++ {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&v.act)), 0, 8, 0, 0)
	}
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&v.mask)), 0, 8, 0, 0)
	syscall.RawSyscall(syscall.SYS_PRCTL, unix.PR_SET_NAME, uintptr(unsafe.Pointer(&v.name)), 0)
	// Pauses are what they are, not up to 50 µs more.
	syscall.RawSyscall(syscall.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0)
	// The environment that is scrubbed is in this memory.
	syscall.RawSyscall(syscall.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0)
	// Paths below are named from here.
	syscall.RawSyscall(syscall.SYS_FCHDIR, uintptr(v.procfs), 0, 0)
}

// watch waits, lifts and tells. It returns the exit status.
//
// Where create and start are one, as in run, the shim is there in a few
// milliseconds: for so long the process looks for itself. Only then it has the
// kernel watch the shim's file, since to end such a watch takes the kernel ten
// milliseconds or more, for which crun run would wait: it waits for all its
// descendants.
//
//go:norace
//go:nosplit
func (v *vigil) watch() uintptr {
	const (
		soon   = 100_000_000 // ns: for so long
		seldom = 400_000     // as long as something else runs: the shim is not ready sooner than that after its exec
		often  = 100_000     // once it is the shim: every moment lost here is one that it waits
	)
	for waited := int64(0); waited < soon; {
		gate := v.ready()
		if gate >= 0 {
			return v.lift(gate)
		}
		pause := int64(seldom)
		if gate == starting {
			pause = often
		}
		if gone, _ := v.wait(pause); gone {
			return 0
		}
		waited += pause
	}
	// The kernel opens the file to execute it, and the shim opens and closes it
	// once more when it is ready.
	fd, _, errno := syscall.RawSyscall(unix.SYS_INOTIFY_INIT1, unix.IN_CLOEXEC|unix.IN_NONBLOCK, 0, 0)
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(unix.SYS_INOTIFY_ADD_WATCH, fd, uintptr(unsafe.Pointer(&v.shim)), unix.IN_OPEN|unix.IN_CLOSE_NOWRITE)
	}
	if errno != 0 {
		return 1
	}
	v.poll[1] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	// How often to look again after an event. The exec opens the file a little before
	// the process is seen to be the program, and the shim needs a moment to be ready.
	// Without an event there is nothing to see: between create and start may lie days.
	const patience = 13 // 50 µs, 100 µs, … about 0.4 s in all
	for tries := 0; ; {
		if gate := v.ready(); gate >= 0 {
			return v.lift(gate)
		}
		pause := int64(-1)
		if tries > 0 {
			pause = 50_000 << (patience - tries)
			tries--
		}
		gone, event := v.wait(pause)
		if gone {
			return 0
		}
		if event {
			tries = patience
		}
	}
}

// wait waits for the end of the container's process, for an event, and no longer
// than it is told to, if it is not negative.
//
//go:norace
//go:nosplit
func (v *vigil) wait(ns int64) (gone, event bool) {
	limit := unix.Timespec{Nsec: ns}
	timeout := unsafe.Pointer(&limit)
	if ns < 0 {
		timeout = nil
	}
	v.poll[0].Revents, v.poll[1].Revents = 0, 0
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&v.poll)), 2, uintptr(timeout), 0, 0, 0)
	if errno != 0 && errno != syscall.EINTR {
		return true, false
	}
	if v.poll[0].Revents != 0 {
		v.forget()
		return true, false
	}
	if v.poll[1].Revents == 0 {
		return false, false
	}
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(v.poll[1].Fd), uintptr(unsafe.Pointer(&v.buf)), uintptr(len(v.buf)))
		if errno != 0 || n == 0 {
			return false, true
		}
	}
}

//go:norace
//go:nosplit
func (v *vigil) forget() {
	if v.dir >= 0 {
		syscall.RawSyscall(syscall.SYS_UNLINKAT, uintptr(v.dir), uintptr(unsafe.Pointer(v.file)), 0)
		syscall.RawSyscall(syscall.SYS_UNLINKAT, uintptr(v.dir), uintptr(unsafe.Pointer(v.parent)), unix.AT_REMOVEDIR)
	}
}

// What ready says of a shim that does not wait yet.
const (
	absent   = -1 // the process runs another program
	starting = -2
)

// ready returns the descriptor that the shim waits on, absent or starting.
//
//go:norace
//go:nosplit
func (v *vigil) ready() int {
	if _, _, errno := syscall.RawSyscall6(sysFstatat, uintptr(v.proc), uintptr(unsafe.Pointer(&v.exe)), uintptr(unsafe.Pointer(&v.st)), 0, 0, 0); errno != 0 {
		return absent
	}
	if uint64(v.st.Dev) != v.dev || v.st.Ino != v.ino {
		return absent
	}
	fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, uintptr(v.proc), uintptr(unsafe.Pointer(&v.comm)), syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return starting
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&v.buf)), 16)
	syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
	if errno != 0 || n <= v.nwaiting || n > uintptr(len(v.buf)) {
		return starting
	}
	for i := range v.waiting[:v.nwaiting] {
		if v.buf[i] != v.waiting[i] {
			return starting
		}
	}
	gate := starting
	at := 3
	for i := v.nwaiting; i < n; i++ {
		c := v.buf[i]
		if c < '0' || c > '9' || at >= len(v.gate)-1 {
			break
		}
		if gate < 0 {
			gate = 0
		}
		gate = gate*10 + int(c-'0')
		v.gate[at] = c
		at++
	}
	v.gate[at] = 0
	return gate
}

//go:norace
//go:nosplit
func (v *vigil) lift(gate int) uintptr {
	for i := v.nmounts - 1; i >= 0; i-- { // two may lie upon one another
		// The mount is busy, the shim runs from it: it goes when the shim does. One
		// that is not there any more (EINVAL) covers nothing.
		_, _, errno := syscall.RawSyscall(syscall.SYS_UMOUNT2, uintptr(unsafe.Pointer(&v.mounts[i])), unix.MNT_DETACH, 0)
		if errno != 0 && errno != syscall.EINVAL {
			return 1 // no go-ahead: the shim gives up by itself
		}
	}
	fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, uintptr(v.proc), uintptr(unsafe.Pointer(&v.gate)), syscall.O_WRONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0, 0, 0)
	if errno != 0 {
		return 1
	}
	v.poll[1].Fd, v.poll[1].Events = int32(fd), unix.POLLOUT
	done := 0
	for done < len(v.message) {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.SliceData(v.message)))+uintptr(done), uintptr(len(v.message)-done))
		if errno == 0 {
			done += int(n)
			continue
		}
		if errno != syscall.EAGAIN && errno != syscall.EINTR {
			return 1
		}
		v.poll[0].Revents, v.poll[1].Revents = 0, 0
		syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&v.poll)), 2, 0, 0, 0, 0)
		if v.poll[0].Revents != 0 {
			return 0
		}
	}
	return 0
}
