// The shim is the entrypoint in an agent's container: it takes its order from
// whoever put it there, and starts the agent. See package harden.
package main

import (
	"runtime"
	"syscall"

	"github.com/envscrub/envscrub/harden"
)

// The process's first thread is the tracer, and the one whose name the lifter
// reads.
func init() { runtime.LockOSThread() }

func main() { syscall.Exit(harden.Main()) }
