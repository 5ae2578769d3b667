// Command envscrub-hook is the OCI hook: it is called by a runtime or by Podman
// and sees to it that a container starts with the scrubbed environment.
package main

import (
	"os"

	"github.com/envscrub/envscrub/hook"
)

func main() { os.Exit(hook.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
