// envscrub-runtime stands where an engine expects an OCI runtime; see package
// wrapper.
package main

import (
	"os"

	"github.com/envscrub/envscrub/hook/wrapper"
)

func main() {
	os.Exit(wrapper.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
}
