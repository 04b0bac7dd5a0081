package columns

import (
	"context"

	"weir/pipeline"
)

// Counter tells how many rows of a private table lie in which cells of public grids: all that a model of marginals
// learns of the rows. Where they are counted, in memory, in passes over the source or elsewhere, no user of a Counter
// can tell: its numbers are exact, the same for all of them, and private until noise was added.
//
// CounterOf counts every column on its own, so that what cannot be read is found before anything is paid for. An error
// of a later call stops the stage; what was paid for by then stays paid. A Counter is used by one goroutine at a time.
type Counter interface {
	// Cells returns the rows in each cell of a column's grid, which the caller leaves as they are.
	Cells(column int) []int64
	// Points returns the rows at each point (Grid.PointsIn) of cells of a column whose points are told apart
	// (Grid.HasInnerCounts), one cell after the other. It is not asked after Recode.
	Points(ctx context.Context, column int, cells []int) ([]int64, error)
	// Recode says which codes sets are counted by. It is called once, before the first Count.
	Recode(Coding)
	// Count hands on the rows in every combination of codes of each set of columns, in the order of the sets:
	// row-major, the last column fastest. An error names a set of no column, or of more than marginal.MostCells.
	Count(ctx context.Context, sets [][]int, use func(set int, counts []int64) error) error
}

// Coding makes cells codes, by a public rule that looks at one row: no sensitivity changes by it.
type Coding struct {
	To        [][]uint16 // of each column, the code of each cell of its grid
	Sizes     []int      // codes of each column
	Forbidden []Mask     // combinations of codes that no row may have: it counts as the nearest one that it may
}

// MostCounted is the cells that a Counter holds counts of at a time, 64 MB of them, or the counts of one set.
const MostCounted = 1 << 23

// mostHeld is the most memory for codes that the rule of Passes holds, in bytes: a quarter of what a small machine has.
// It is a constant, so that a plan is the same wherever it is made.
const mostHeld = 1 << 30

// Passes reports whether columns of the given number of rows are counted in passes over the rows, and not held. The
// rows are a public number, or one that a spec states; 0, nothing is known of them, is held. It gets no table: by it
// the number of private rows decides about nothing, an error for want of memory included.
func Passes(rows int64, columns int) bool { return rows > mostHeld/2/int64(max(1, columns)) }

// Held words the memory that Passes goes by.
const Held = "1 GiB"

// CounterOf reads a table once and counts the cells of each grid; see ReadCodes for what it refuses, and Passes for the
// rows. Env.Counting overrides that rule. Rows that stay in a database are counted there.
func CounterOf(ctx context.Context, t pipeline.Table, grids []Grid, rows int64, env *pipeline.Env) (Counter, error) {
	if t.Pushed != nil {
		return pushedOf(ctx, t, grids)
	}
	if env.Counting == pipeline.CountPasses || env.Counting == pipeline.CountByRule && Passes(rows, len(grids)) {
		return roundsOf(ctx, t, grids, nil, env)
	}
	return roundsOf(ctx, t, grids, hold(grids, t.Header.Rows), env)
}
