// Command exec is the floor of every runtime wrapper in Go: it only executes the runtime that the link NAME.runtime beside it
// leads to.
package main

import (
	"os"
	"syscall"
)

func main() {
	runtime, err := os.Readlink(os.Args[0] + ".runtime")
	if err == nil {
		err = syscall.Exec(runtime, os.Args, os.Environ())
	}
	os.Stderr.WriteString("floor: " + err.Error() + "\n")
	os.Exit(125)
}
