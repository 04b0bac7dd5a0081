package marginal

import (
	"context"
	"math/rand/v2"
	"sync"

	"weir/stages/internal/columns"
	"weir/train/marginal"
	"weir/train/parallel"
)

// Table is two tables in codes, over the same columns.
type Table struct {
	Columns     []Column
	Real, Synth int // rows
	Skipped     []columns.Drop
}

// CodeAll codes all columns of two aligned frames. Memory is two bytes a value.
func (b Binning) CodeAll(real, synth *columns.Frame, workers int) *Table {
	t := &Table{Real: real.Rows, Synth: synth.Rows}
	coded, ok := make([]Column, len(real.Columns)), make([]bool, len(real.Columns))
	parallel.Do(workers, len(coded), func(_, i int) {
		coded[i], ok[i] = b.Code(&real.Columns[i], &synth.Columns[i])
	})
	for i, c := range coded {
		if ok[i] {
			t.Columns = append(t.Columns, c)
			continue
		}
		t.Skipped = append(t.Skipped, columns.Drop{Column: real.Columns[i].Name, Reason: "has more categories than a marginal can hold (65534)"})
	}
	return t
}

// Queries lists the sets of k columns, or `most` of them drawn by rng where there are
// more.
func (t *Table) Queries(k, most int, rng *rand.Rand) (list [][]int, drawn bool) {
	return marginal.Queries(len(t.Columns), k, most, rng)
}

// Compare counts and compares each query, a list of places of columns, on up to
// `workers` goroutines. Results are in the order of queries and do not depend on
// workers. done is called, from one goroutine at a time, with the finished
// number; it stops early with the context's error.
func (t *Table) Compare(ctx context.Context, queries [][]int, workers int, done func(int)) ([]Comparison, error) {
	out := make([]Comparison, len(queries))
	counters := sync.Pool{New: func() any { return &comparer{} }}
	var finished int
	var mu sync.Mutex
	parallel.Do(workers, len(queries), func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		c := counters.Get().(*comparer)
		out[i] = t.compare(c, queries[i])
		counters.Put(c)
		mu.Lock()
		finished++
		done(finished)
		mu.Unlock()
	})
	return out, ctx.Err()
}
