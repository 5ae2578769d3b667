package stdio

import (
	"syscall"
	"unsafe"
)

type termios = syscall.Termios

type size struct{ rows, columns, x, y uint16 }

func ioctl(fd int, request uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	return errno
}

func getTermios(fd int) (*termios, syscall.Errno) {
	var t termios
	errno := ioctl(fd, syscall.TCGETS, unsafe.Pointer(&t))
	return &t, errno
}

func setTermios(fd int, t *termios) syscall.Errno {
	return ioctl(fd, syscall.TCSETS, unsafe.Pointer(t))
}

func isTerminal(fd int) bool {
	_, errno := getTermios(fd)
	return errno == 0
}

func isOpen(fd int) bool {
	var st syscall.Stat_t
	return syscall.Fstat(fd, &st) == nil
}

// sameFile reports whether what is written to both descriptors ends up in one file.
func sameFile(a, b int) bool {
	var x, y syscall.Stat_t
	return syscall.Fstat(a, &x) == nil && syscall.Fstat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino && x.Rdev == y.Rdev
}

// openTerminal makes a terminal; it becomes nobody's controlling one.
func openTerminal() (master, slave int, err error) {
	master, err = syscall.Open("/dev/ptmx", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, &failure{"open /dev/ptmx", err}
	}
	var lock int32
	if errno := ioctl(master, syscall.TIOCSPTLCK, unsafe.Pointer(&lock)); errno != 0 {
		closeFD(master)
		return -1, -1, &failure{"unlock the terminal", errno}
	}
	// By the master, not by the name in /dev/pts: that may be another mount.
	n, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(master), tiocgptpeer, syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC)
	if errno != 0 {
		closeFD(master)
		return -1, -1, &failure{"open the terminal", errno}
	}
	return master, int(n), nil
}

const tiocgptpeer = 0x5441

func copyTerminal(from, to int) error {
	t, errno := getTermios(from)
	if errno == 0 {
		errno = setTermios(to, t)
	}
	if errno != 0 {
		return &failure{"copy the terminal's settings", errno}
	}
	copySize(from, to)
	return nil
}

func copySize(from, to int) {
	var s size
	if ioctl(from, syscall.TIOCGWINSZ, unsafe.Pointer(&s)) == 0 {
		ioctl(to, syscall.TIOCSWINSZ, unsafe.Pointer(&s))
	}
}

// makeRaw makes the terminal pass on every byte as it is; it returns what was.
func makeRaw(fd int) (*termios, error) {
	old, errno := getTermios(fd)
	if errno != 0 {
		return nil, &failure{"read the terminal's settings", errno}
	}
	t := *old
	t.Iflag &^= syscall.IGNBRK | syscall.BRKINT | syscall.PARMRK | syscall.ISTRIP | syscall.INLCR | syscall.IGNCR | syscall.ICRNL | syscall.IXON
	t.Oflag &^= syscall.OPOST
	t.Lflag &^= syscall.ECHO | syscall.ECHONL | syscall.ICANON | syscall.ISIG | syscall.IEXTEN
	t.Cflag &^= syscall.CSIZE | syscall.PARENB
	t.Cflag |= syscall.CS8
	t.Cc[syscall.VMIN] = 1
	t.Cc[syscall.VTIME] = 0
	if errno := setTermios(fd, &t); errno != 0 {
		return nil, &failure{"put the terminal in raw mode", errno}
	}
	return old, nil
}

// plainOutput leaves what happens to line ends to the outer terminal.
func plainOutput(fd int) error {
	t, errno := getTermios(fd)
	if errno == 0 {
		t.Oflag &^= syscall.OPOST
		errno = setTermios(fd, t)
	}
	if errno != 0 {
		return &failure{"set up the terminal", errno}
	}
	return nil
}
