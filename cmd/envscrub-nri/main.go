// envscrub-nri is the NRI plugin: see package hook/nri.
package main

import (
	"os"

	"github.com/envscrub/envscrub/hook/nri"
)

func main() { os.Exit(nri.Main(os.Args, os.Stdin, os.Stdout, os.Stderr)) }
