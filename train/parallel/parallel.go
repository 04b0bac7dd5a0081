// Package parallel spreads pieces of work over goroutines.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers returns how many goroutines n pieces of work are worth.
func Workers(n int) int { return max(1, min(runtime.GOMAXPROCS(0), n)) }

// Do does pieces 0 to n-1 on up to count workers, of which the caller is one; do
// must give the same result whichever worker does a piece. It repeats a worker's
// panic: a program must be able to end a stage without ending itself.
func Do(count, n int, do func(worker, piece int)) {
	if count = min(count, n); count <= 1 {
		for i := range n {
			do(0, i)
		}
		return
	}
	w := work{do: do, n: n}
	for worker := 1; worker < count; worker++ {
		w.group.Add(1)
		go w.helper(worker)
	}
	w.run(0)
	w.group.Wait()
	if p := w.broken.Load(); p != nil {
		panic(*p)
	}
}

// work is what the workers share, one allocation: loops call Do at every step.
type work struct {
	do     func(worker, piece int)
	n      int
	next   atomic.Int64
	group  sync.WaitGroup
	broken atomic.Pointer[any] // the first panic
}

func (w *work) helper(worker int) {
	defer w.group.Done()
	w.run(worker)
}

func (w *work) run(worker int) {
	defer func() {
		if p := recover(); p != nil {
			w.broken.CompareAndSwap(nil, &p)
		}
	}()
	for i := int(w.next.Add(1)) - 1; i < w.n; i = int(w.next.Add(1)) - 1 {
		w.do(worker, i)
	}
}
