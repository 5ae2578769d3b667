package harden

import (
	"syscall"
	"unsafe"
)

// The shim makes its system calls itself: golang.org/x/sys/unix would add
// reflect and more to every container's start-up.

const (
	prSetDumpable     = 4
	prSetName         = 15
	prCapbsetRead     = 23
	prCapbsetDrop     = 24
	prSetNoNewPrivs   = 38
	prGetNoNewPrivs   = 39
	prCapAmbient      = 47
	prCapAmbientLower = 3

	mfdCloexec      = 1
	mfdAllowSealing = 2
	mfdExec         = 0x10

	fAddSeals = 1033
	sealAll   = 1 | 2 | 4 | 8 // seal, shrink, grow, write

	oPath     = 0x200000
	atFdcwd   = -100
	atEaccess = 0x200
	xOK       = 1

	stRdonly = 1
	pPID     = 1
)

func prctl(option, arg2, arg3 uintptr) (int, syscall.Errno) {
	r, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, arg2, arg3, 0, 0, 0)
	return int(r), errno
}

// setName sets the command name of the thread, which at start is the process's.
func setName(name string) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetName, uintptr(unsafe.Pointer(cstring(name))), 0, 0, 0, 0)
	return errno
}

// cstring returns s with the NUL that the kernel wants. s must not hold one.
func cstring(s string) *byte {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return &b[0]
}

func cstrings(list []string) []*byte {
	p := make([]*byte, len(list)+1)
	for i, s := range list {
		p[i] = cstring(s)
	}
	return p
}

// gostring copies the NUL-terminated string at p.
func gostring(p unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

func write(fd int, b []byte) syscall.Errno {
	for len(b) > 0 {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return errno
		}
		b = b[n:]
	}
	return 0
}

func read(fd int, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
		if errno != syscall.EINTR {
			return int(n), errno
		}
	}
}

func closeFD(fd int) {
	syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0)
}

func open(path string, flags int) (int, syscall.Errno) {
	at := atFdcwd
	fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(cstring(path))), uintptr(flags), 0, 0, 0)
	return int(fd), errno
}

// readFile reads a small file, of /proc mostly, whole.
func readFile(path string) ([]byte, syscall.Errno) {
	fd, errno := open(path, syscall.O_RDONLY|syscall.O_CLOEXEC)
	if errno != 0 {
		return nil, errno
	}
	defer closeFD(fd)
	return readAll(fd)
}

func readAll(fd int) ([]byte, syscall.Errno) {
	b := make([]byte, 0, 4096)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, errno := read(fd, b[len(b):cap(b)])
		if errno != 0 {
			return nil, errno
		}
		if n == 0 {
			return b, 0
		}
		b = b[:len(b)+n]
	}
}

func memfd(name string, flags uintptr) (int, syscall.Errno) {
	fd, _, errno := syscall.RawSyscall(sysMemfdCreate, uintptr(unsafe.Pointer(cstring(name))), flags, 0)
	return int(fd), errno
}

// wait blocks until fd can be read or the time is over.
func waitReadable(fd int, milliseconds int64) bool {
	type pollfd struct {
		fd      int32
		events  int16
		revents int16
	}
	until := now() + milliseconds*1e6
	for {
		left := until - now()
		if left < 0 {
			return false
		}
		p := pollfd{fd: int32(fd), events: 1}
		ts := syscall.NsecToTimespec(left)
		n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		return errno == 0 && n == 1
	}
}

// now is the monotonic clock in nanoseconds.
func now() int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(sysClockGettime, 1, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}

func execve(path string, argv, env []string) syscall.Errno {
	a, e := cstrings(argv), cstrings(env)
	_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(cstring(path))),
		uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&e[0])))
	return errno
}
