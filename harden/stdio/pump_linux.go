package stdio

import (
	"io"
	"syscall"
	"unsafe"
)

// quiet is how long, in milliseconds, a terminal has to have nothing to read until
// it is taken to be empty: unlike a pipe, the kernel passes on its output in its own time.
const quiet = 20

// bufferSize is what a pipe holds.
const bufferSize = 64 << 10

// A pump carries one stream.
type pump struct {
	from     int
	to       io.Writer
	terminal bool
	stop     [2]int // a pipe; closing its write end ends the pump
	done     chan struct{}
}

func newPump(from int, to io.Writer, terminal bool) (*pump, error) {
	p := &pump{from: from, to: to, terminal: terminal, done: make(chan struct{})}
	if err := syscall.Pipe2(p.stop[:], syscall.O_CLOEXEC); err != nil {
		return nil, &failure{"make a pipe", err}
	}
	return p, nil
}

// finish carries what is there and ends the pump.
func (p *pump) finish() {
	closeFD(p.stop[1])
	<-p.done
	closeFD(p.stop[0])
}

// abandon ends a pump that may hang in a write nobody reads.
func (p *pump) abandon() { closeFD(p.stop[1]) }

func (p *pump) run() {
	defer close(p.done)
	buf := make([]byte, bufferSize)
	for {
		ready, stopped := wait(p.from, p.stop[0], -1)
		if stopped {
			break
		}
		if ready && !p.step(buf, len(buf)) {
			p.close()
			return
		}
	}
	if p.terminal {
		for {
			if ready, _ := wait(p.from, -1, quiet); !ready || !p.step(buf, len(buf)) {
				break
			}
		}
	} else {
		for left := queued(p.from); left > 0; left -= min(left, len(buf)) {
			if !p.step(buf, min(left, len(buf))) {
				break
			}
		}
	}
	p.close()
}

// step carries up to n bytes; it returns false when the stream has ended at either side.
func (p *pump) step(buf []byte, n int) bool {
	n, err := syscall.Read(p.from, buf[:n])
	if err == syscall.EINTR || err == syscall.EAGAIN {
		return true
	}
	if n <= 0 || err != nil {
		return false // a terminal whose last user has gone is EIO
	}
	_, err = p.to.Write(buf[:n])
	return err == nil
}

// close passes on what the redactor held back, and closes our end of the stream,
// so that a command whose reader has gone learns of it.
func (p *pump) close() {
	if c, ok := p.to.(io.Closer); ok {
		c.Close() // an error is that of a reader that has gone
	}
	if p.from > 2 {
		closeFD(p.from)
	}
}

// A writer is a descriptor that may be in non-blocking mode.
type writer struct{ fd int }

func (w writer) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := syscall.Write(w.fd, b[done:])
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			poll([]pollFD{{fd: int32(w.fd), events: pollOut}}, -1)
		case err != nil:
			return done, err
		default:
			done += n
		}
	}
	return done, nil
}

type pollFD struct {
	fd              int32
	events, revents int16
}

const (
	pollIn  = 1
	pollOut = 4
)

// wait waits until there is something to read, or the end of it, at one of two descriptors.
func wait(fd, other, milliseconds int) (first, second bool) {
	fds := []pollFD{{fd: int32(fd), events: pollIn}, {fd: int32(other), events: pollIn}}
	poll(fds, milliseconds)
	return fds[0].revents != 0, fds[1].revents != 0
}

func poll(fds []pollFD, milliseconds int) {
	var limit *syscall.Timespec
	if milliseconds >= 0 {
		t := syscall.NsecToTimespec(int64(milliseconds) * 1e6)
		limit = &t
	}
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), uintptr(unsafe.Pointer(limit)), 0, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// queued returns how many bytes a pipe holds.
func queued(fd int) int {
	var n int32
	if errno := ioctl(fd, syscall.TIOCINQ, unsafe.Pointer(&n)); errno != 0 {
		return 0
	}
	return int(n)
}

func closeFD(fd int) {
	if fd >= 0 {
		syscall.Close(fd)
	}
}
