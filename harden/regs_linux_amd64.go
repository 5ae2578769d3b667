package harden

import (
	"syscall"
	"unsafe"

	"github.com/envscrub/envscrub/harden/internal/regs"
)

type registerSet = regs.AMD64

// registers of a stopped thread.
type registers struct{ registerSet }

const (
	ptraceGetregs = 12
	ptraceSetregs = 13
)

func (r *registers) get(pid int) syscall.Errno {
	return ptrace(ptraceGetregs, pid, 0, uintptr(unsafe.Pointer(&r.registerSet)))
}

// set writes them back; the system call's number is one of them.
func (r *registers) set(pid int, _ bool) syscall.Errno {
	return ptrace(ptraceSetregs, pid, 0, uintptr(unsafe.Pointer(&r.registerSet)))
}
