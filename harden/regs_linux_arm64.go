package harden

import (
	"syscall"
	"unsafe"

	"github.com/envscrub/envscrub/harden/internal/regs"
)

type registerSet = regs.ARM64

// registers of a stopped thread.
type registers struct{ registerSet }

const (
	ptraceGetregset = 0x4204
	ptraceSetregset = 0x4205
	ntPrstatus      = 1
	ntArmSystemCall = 0x404
)

func (r *registers) get(pid int) syscall.Errno {
	v := iovec{uint64(uintptr(unsafe.Pointer(&r.Words))), regs.ARM64Size}
	errno := ptrace(ptraceGetregset, pid, ntPrstatus, uintptr(unsafe.Pointer(&v)))
	r.Size = int(v.size)
	return errno
}

// set writes them back; where the thread stands at a system call's entry, its
// number too, which has a register set of its own.
func (r *registers) set(pid int, atEntry bool) syscall.Errno {
	v := iovec{uint64(uintptr(unsafe.Pointer(&r.Words))), uint64(r.Size)}
	if errno := ptrace(ptraceSetregset, pid, ntPrstatus, uintptr(unsafe.Pointer(&v))); errno != 0 || !atEntry {
		return errno
	}
	v = iovec{uint64(uintptr(unsafe.Pointer(&r.Call))), 4}
	return ptrace(ptraceSetregset, pid, ntArmSystemCall, uintptr(unsafe.Pointer(&v)))
}
