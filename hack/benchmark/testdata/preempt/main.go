// Command preempt computes for a while in more goroutines than there are processors, so that the scheduler preempts them
// by signals, and prints how many nanoseconds that took.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

func main() {
	start := time.Now()
	var all sync.WaitGroup
	sums := make([]uint64, 4*runtime.NumCPU())
	for i := range sums {
		all.Go(func() {
			x := uint64(i)
			for n := range uint64(100_000_000) {
				x = x*6364136223846793005 + n
			}
			sums[i] = x
		})
	}
	all.Wait()
	fmt.Println(time.Since(start).Nanoseconds())
}
