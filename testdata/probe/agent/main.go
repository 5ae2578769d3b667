// Command agent is an agent in Go.
//
//	agent run CMD ARG…    runs a command with "@" in its arguments replaced by its own number
//	agent many N CMD ARG… runs it N times from goroutines, while others burn and allocate
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

func main() {
	if os.Getenv("AGENT_KEY") != "" {
		fmt.Println("agent: has the key")
	} else {
		fmt.Println("agent: has no key")
	}
	switch os.Args[1] {
	case "run":
		threads()
		os.Exit(run(os.Args[2:]))
	case "many":
		many(os.Args[2:])
	}
}

// threads makes sure that there are some, each with an entry in /proc.
func threads() {
	var ready sync.WaitGroup
	for range 4 {
		ready.Add(1)
		go func() {
			runtime.LockOSThread()
			ready.Done()
			select {}
		}()
	}
	ready.Wait()
}

func run(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	for i := range cmd.Args {
		cmd.Args[i] = strings.ReplaceAll(cmd.Args[i], "@", strconv.Itoa(os.Getpid()))
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		fmt.Println(err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

var sink atomic.Pointer[[]byte]

func many(args []string) {
	n, _ := strconv.Atoi(args[0])
	var stop atomic.Bool
	for range 4 {
		go func() {
			for !stop.Load() {
				b := make([]byte, 1<<16)
				for i := range b {
					b[i] = byte(i)
				}
				sink.Store(&b)
			}
		}()
	}
	var clean, other atomic.Int64
	var all sync.WaitGroup
	work := make(chan int)
	for range 8 {
		all.Go(func() {
			for range work {
				out, err := exec.Command(args[1], args[2:]...).Output()
				if err == nil && strings.Contains(string(out), " clean") {
					clean.Add(1)
				} else {
					other.Add(1)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	all.Wait()
	stop.Store(true)
	fmt.Printf("clean %d, other %d\n", clean.Load(), other.Load())
}
