package ask

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"weir/stages/internal/columns"
)

// Lacks says why the question cannot be asked of a table: "" where it can.
func (a Asked) Lacks(f *columns.Frame) string {
	names := a.Columns
	if a.Column != "" {
		names = []string{a.Column}
	}
	for i, name := range names {
		number := a.Ask == Mean || a.Ask == Quantile || len(a.Edges) > 0 || a.Ask == Covariance && a.Cells[i] == ""
		if why := lacks(f, name, number); why != "" {
			return why
		}
	}
	for _, c := range a.Where {
		if why := lacks(f, c.Column, len(c.In) == 0); why != "" {
			return why
		}
	}
	return ""
}

func lacks(f *columns.Frame, name string, number bool) string {
	switch c := f.Column(name); {
	case c == nil:
		return "the table has no column " + name
	case c.Coded() == number:
		return fmt.Sprintf("column %s is %s", name, c.Type)
	}
	return ""
}

// Tally is what a question comes down to: whole numbers to which every row adds its part,
// so many at most as Moves says. A count is one number. A histogram is one for each cell.
// A mean is the number of rows asked about, each Unit (left out where it is public), and
// the sum of their values, the middle of the bounds as 0 and the ends as +-Unit. A
// covariance is described beside moments. A quantile has none (Values).
func (a Asked) Tally(ctx context.Context, f *columns.Frame) ([]int64, error) {
	switch a.Ask {
	case Count:
		return []int64{a.count(f)}, ctx.Err()
	case Histogram:
		return a.histogram(f), ctx.Err()
	case Mean:
		return a.sum(f), ctx.Err()
	}
	return a.moments(ctx, f)
}

func (a Asked) count(f *columns.Frame) (n int64) {
	meets := a.meets(f)
	for i := range f.Rows {
		if meets(i) {
			n++
		}
	}
	return n
}

func (a Asked) histogram(f *columns.Frame) []int64 {
	counts, c, meets := make([]int64, len(a.Cells)), f.Column(a.Column), a.meets(f)
	cell := func(i int) int { return a.bin(c.Numbers[i]) }
	if c.Coded() {
		to := places(c.Categories, a.Cells)
		cell = func(i int) int { return to[c.Codes[i]] }
	}
	for i := range f.Rows {
		switch {
		case !meets(i):
		case !c.Absent(i):
			if k := cell(i); k >= 0 {
				counts[k]++
			}
		case a.Missing:
			counts[len(counts)-1]++
		}
	}
	return counts
}

// places are those of names in a list, -1 where it lacks one.
func places(names, list []string) []int {
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = slices.Index(list, name)
	}
	return at
}

// bin is that of a number among the edges, -1 outside.
func (a Asked) bin(x float64) int {
	last := len(a.Edges) - 1
	if x == a.Edges[last] {
		return last - 1
	}
	k := sort.Search(len(a.Edges), func(k int) bool { return a.Edges[k] > x }) - 1
	if k >= last {
		return -1
	}
	return k
}

func (a Asked) sum(f *columns.Frame) []int64 {
	c, meets := f.Column(a.Column), a.meets(f)
	var rows, sum int64
	for i := range f.Rows {
		if meets(i) && !c.Absent(i) {
			rows, sum = rows+Unit, sum+scaled(c.Numbers[i], a.Bounds[0])
		}
	}
	if a.Rows > 0 {
		return []int64{sum}
	}
	return []int64{rows, sum}
}

// scaled is a number between bounds as a whole one from -Unit to Unit; what lies outside
// is taken to the nearer bound, so that no row moves a sum further.
func scaled(x float64, b [2]float64) int64 {
	half := float64((b[1] - b[0]) / 2)
	z := min(max((x-(b[0]+half))/half, -1), 1)
	return int64(math.RoundToEven(z * Unit))
}

// Values are those of a quantile, one a row: NaN for rows that are not asked about.
func (a Asked) Values(f *columns.Frame) []float64 {
	c, meets := f.Column(a.Column), a.meets(f)
	list := make([]float64, f.Rows)
	for i := range list {
		list[i] = math.NaN()
		if meets(i) {
			list[i] = min(max(c.Numbers[i], a.Bounds[0][0]), a.Bounds[0][1])
		}
	}
	return list
}

// meets tells which rows a question is about.
func (a Asked) meets(f *columns.Frame) func(i int) bool {
	tests := make([]func(i int) bool, len(a.Where))
	for k, w := range a.Where {
		tests[k] = w.test(f.Column(w.Column))
	}
	return func(i int) bool {
		for _, meets := range tests {
			if !meets(i) {
				return false
			}
		}
		return true
	}
}

func (w Condition) test(c *columns.Column) func(i int) bool {
	if c.Coded() {
		at := places(c.Categories, w.In)
		return func(i int) bool { return c.Codes[i] >= 0 && at[c.Codes[i]] >= 0 }
	}
	from, to := math.Inf(-1), math.Inf(1)
	if w.From != nil {
		from = *w.From
	}
	if w.To != nil {
		to = *w.To
	}
	return func(i int) bool { return c.Numbers[i] >= from && c.Numbers[i] <= to }
}
