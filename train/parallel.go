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
	var broken broken
	run := func(worker int) {
		defer broken.note()
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
	broken.repeat()
}

// broken keeps the first panic of several workers, for their caller to repeat: a
// program must be able to end a stage without ending itself.
type broken struct{ first atomic.Pointer[any] }

// note is deferred by a worker.
func (b *broken) note() {
	if p := recover(); p != nil {
		b.first.CompareAndSwap(nil, &p)
	}
}

func (b *broken) repeat() {
	if p := b.first.Load(); p != nil {
		panic(*p)
	}
}
