// The shim is the entrypoint in an agent's container: it takes its order from
// whoever put it there, and starts the agent. See package harden.
package main

import (
	"syscall"

	"github.com/envscrub/envscrub/harden"
)

func main() { syscall.Exit(harden.Main()) }
