// The guard computes next to nothing, and stays as long as the container: no goroutine
// and no open cgroup files to follow changes of the CPU limit.
//
//go:debug containermaxprocs=0
//go:debug updatemaxprocs=0

// The shim is the entrypoint in an agent's container: it takes its order from
// whoever put it there, and starts the agent. See package harden.
package main

import (
	"syscall"

	"github.com/envscrub/envscrub/harden"
)

// All is done here, for init functions run on the process's first thread, and nothing
// moves them from it: that is the tracer, and the one whose name the lifter
// reads. runtime.LockOSThread would do the same, but starts another thread for it,
// which would stay as long as the guard.
func init() { syscall.Exit(harden.Main()) }

func main() {}
