package harden

import (
	"syscall"
	"unsafe"
)

// The runtime hands these to package os and to golang.org/x/sys; importing
// either for them costs more than all of the shim does.

//go:linkname runtimeArgs os.runtime_args
func runtimeArgs() []string

//go:linkname runtimeAuxv runtime.getAuxv
func runtimeAuxv() []uintptr

const atExecfn = 31

// image is how this process was started.
type image struct {
	args   []string
	env    []string
	execfn string // the path as it was given to execve

	end unsafe.Pointer // of the strings on the stack: the kernel puts execfn right after the last one
}

func ownImage() image {
	im := image{args: runtimeArgs(), env: syscall.Environ()}
	aux := runtimeAuxv()
	for i := 0; i+1 < len(aux); i += 2 {
		if aux[i] == atExecfn {
			im.end = *(*unsafe.Pointer)(unsafe.Pointer(&aux[i+1]))
			im.execfn = gostring(im.end)
		}
	}
	return im
}

// wipeStack zeroes the environment strings on the process's own stack, which
// /proc/<pid>/environ shows, unless keep says otherwise: the process stays, and
// need not show what it has handed on or thrown away.
func (im *image) wipeStack(keep func(entry string) bool) {
	if im.end == nil {
		return
	}
	// The arguments' strings stand before the environment's. One that is not
	// empty says where they are.
	at, skip := unsafe.Pointer(nil), 0
	for i := len(im.args) - 1; i >= 0 && at == nil; i-- {
		skip += len(im.args[i]) + 1
		if im.args[i] != "" {
			at = unsafe.Pointer(unsafe.StringData(im.args[i]))
		}
	}
	if at == nil {
		return
	}
	for at = unsafe.Add(at, skip); uintptr(at) < uintptr(im.end); {
		n := 0
		for *(*byte)(unsafe.Add(at, n)) != 0 {
			n++
		}
		if n > 0 && !keep(unsafe.String((*byte)(at), n)) {
			clear(unsafe.Slice((*byte)(at), n))
		}
		at = unsafe.Add(at, n+1)
	}
}

// wipeCopies does the same to the runtime's copies of those strings.
func (im *image) wipeCopies(keep func(entry string) bool) {
	for _, entry := range im.env {
		if entry != "" && !keep(entry) {
			clear(unsafe.Slice(unsafe.StringData(entry), len(entry)))
		}
	}
}
