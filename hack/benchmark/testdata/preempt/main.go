// Command preempt computes as often as its argument says in more goroutines than there are processors, so that the scheduler
// preempts them by signals.
package main

import (
	"os"
	"runtime"
	"strconv"
	"sync"
)

func main() {
	times, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err != nil {
		panic(err)
	}
	var all sync.WaitGroup
	sums := make([]uint64, 4*runtime.NumCPU())
	for i := range sums {
		all.Go(func() {
			x := uint64(i)
			for n := range times {
				x = x*6364136223846793005 + n
			}
			sums[i] = x
		})
	}
	all.Wait()
}
