package train

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// workers is how many goroutines n pieces of work are worth.
func workers(n int) int { return max(1, min(runtime.GOMAXPROCS(0), n)) }

// parallel does pieces 0 to n-1 on up to count workers; do must give the same
// result whichever worker does a piece.
func parallel(count, n int, do func(worker, piece int)) {
	var next atomic.Int64
	run := func(worker int) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(worker, i)
		}
	}
	var group sync.WaitGroup
	for worker := 1; worker < min(count, n); worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			run(worker)
		}()
	}
	run(0)
	group.Wait()
}
