package harden

import (
	"syscall"
	"unsafe"
)

// waiter waits for the next stop or end of a traced thread or child.
//
// A blocking system call that Go's scheduler knows of wakes its monitor thread
// each time, which costs more than the stop itself. One that it does not know
// of keeps that thread ticking a hundred times a second. So the guard hides its
// waits while stops come thick and fast, and a timer that interrupts them tells
// when they no longer do.
type waiter struct {
	timer int32
	armed bool
	usual bool // there is no timer
	busy  bool // something came since the last tick
}

const (
	wall        = 0x40000000
	sigTick     = 33 // glibc keeps it to itself: nobody sends it on purpose
	tickTime    = 10_000_000
	sigevThread = 4
)

func (w *waiter) prepare() {
	tid, _, _ := syscall.RawSyscall(syscall.SYS_GETTID, 0, 0, 0)
	event := struct {
		value  uint64
		signo  int32
		notify int32
		tid    int32
		_      [44]byte
	}{signo: sigTick, notify: sigevThread, tid: int32(tid)}
	_, _, errno := syscall.RawSyscall(sysTimerCreate, 1, uintptr(unsafe.Pointer(&event)), uintptr(unsafe.Pointer(&w.timer)))
	w.usual = errno != 0
}

func (w *waiter) arm(nanoseconds int64) {
	every := [2]syscall.Timespec{syscall.NsecToTimespec(nanoseconds), syscall.NsecToTimespec(nanoseconds)}
	_, _, errno := syscall.RawSyscall6(sysTimerSettime, uintptr(w.timer), 0, uintptr(unsafe.Pointer(&every)), 0, 0, 0)
	w.armed = errno == 0 && nanoseconds > 0
}

// any waits for any of them.
func (w *waiter) any(ws *syscall.WaitStatus) (int, syscall.Errno) {
	for {
		if !w.armed {
			pid, _, errno := syscall.Syscall6(syscall.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(ws)), wall, 0, 0, 0)
			if errno == syscall.EINTR {
				continue
			}
			if !w.usual {
				w.busy = true
				w.arm(tickTime)
			}
			return int(pid), errno
		}
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(ws)), wall, 0, 0, 0)
		switch {
		case errno != syscall.EINTR:
			w.busy = true
			return int(pid), errno
		case w.busy:
			w.busy = false
		default:
			w.arm(0)
		}
	}
}
