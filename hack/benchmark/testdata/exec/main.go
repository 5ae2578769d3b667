// Command exec is the floor of every runtime wrapper in Go: it only executes the runtime named by FLOOR_RUNTIME.
package main

import (
	"os"
	"syscall"
)

func main() {
	err := syscall.Exec(os.Getenv("FLOOR_RUNTIME"), os.Args, os.Environ())
	os.Stderr.WriteString(err.Error() + "\n")
	os.Exit(125)
}
