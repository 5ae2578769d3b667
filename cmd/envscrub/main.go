// Command envscrub explains, checks, installs and verifies the scrubbing of
// secrets from the environment of containers.
package main

import (
	"os"

	"github.com/envscrub/envscrub/cmd/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
