// Package parallel calls a function many times in parallel.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f with each number below n, on all processors, and returns when all calls have.
func Each(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	group.Wait()
}
