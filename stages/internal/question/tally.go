package question

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"weir/privacy/mechanism"
	"weir/stages/internal/columns"
)

// Lacks says why the question cannot be asked of a table: "" where it can.
func (a Resolved) Lacks(f *columns.Frame) string {
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

// Tally returns what a question comes down to: whole numbers to which every row adds its part,
// so many at most as Moves says. A count is one number. A histogram is one for each cell.
// A mean is the number of rows asked about, each Unit (left out where it is public), and
// the sum of their values, the middle of the bounds as 0 and the ends as +-Unit. A
// covariance is described beside moments. A quantile has none (Values).
func (a Resolved) Tally(ctx context.Context, f *columns.Frame) ([]int64, error) {
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

func (a Resolved) count(f *columns.Frame) (n int64) {
	meets := a.meets(f)
	for i := range f.Rows {
		if meets(i) {
			n++
		}
	}
	return n
}

func (a Resolved) histogram(f *columns.Frame) []int64 {
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

// places returns the places of names in a list, -1 where it lacks one.
func places(names, list []string) []int {
	places := make([]int, len(names))
	for i, name := range names {
		places[i] = slices.Index(list, name)
	}
	return places
}

// bin returns the bin of a number among the edges, -1 outside.
func (a Resolved) bin(x float64) int {
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

func (a Resolved) sum(f *columns.Frame) []int64 {
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

// scaled returns a number between bounds as a whole one from -Unit to Unit; what lies outside
// is taken to the nearer bound, so that no row moves a sum further.
func scaled(x float64, b [2]float64) int64 {
	half := float64((b[1] - b[0]) / 2)
	z := min(max((x-(b[0]+half))/half, -1), 1)
	return int64(math.RoundToEven(z * Unit))
}

// Values returns the values of a quantile, one a row: NaN for rows that are not asked about.
func (a Resolved) Values(f *columns.Frame) []float64 {
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
func (a Resolved) meets(f *columns.Frame) func(i int) bool {
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
	low, high := math.Inf(-1), math.Inf(1)
	if w.From != nil {
		low = *w.From
	}
	if w.To != nil {
		high = *w.To
	}
	return func(i int) bool { return c.Numbers[i] >= low && c.Numbers[i] <= high }
}

// square and root2 are the units of squares and of products of two columns: coarser than Unit,
// so that the noise on products of thousands of columns can be drawn.
const (
	square = 1 << 16
	root2  = 92681 // sqrt(2) of it, rounded down, so that no norm is above what is proven
)

// moments returns the tally of a covariance: the distinct numbers of the sum of a a' over the
// rows, a = (1, z) with each column scaled to z in [-1, 1]. Those off the diagonal, which
// stand in the matrix twice, count sqrt(2) times, so that the length of what a row adds is
// |a|^2, at most d+1. The order is by rows of the upper triangle. The first, the number of
// rows, is 0 where that is public. Each is in units of 2^-16 of its own product.
func (a Resolved) moments(ctx context.Context, f *columns.Frame) ([]int64, error) {
	d := len(a.Columns)
	z := make([]func(i int) int64, d)
	for j, name := range a.Columns {
		z[j] = a.number(j, f.Column(name))
	}
	sums, row := make([]int64, (d+1)*(d+2)/2), make([]int64, d+1)
	for i := range f.Rows {
		if i%between == 0 && ctx.Err() != nil { // a row of thousands of columns has millions of products
			return nil, ctx.Err()
		}
		row[0] = Unit
		for j := range z {
			row[j+1] = z[j](i)
		}
		add(sums, row)
	}
	if a.Rows > 0 {
		sums[0] = 0
	}
	return sums, nil
}

// between is how many rows are added between looks whether somebody still wants the sum.
const between = 64

// number gives column j scaled; a category is an end of [-1, 1].
func (a Resolved) number(j int, c *columns.Column) func(i int) int64 {
	if !c.Coded() {
		return func(i int) int64 {
			if c.Absent(i) { // not where the domain is kept
				return 0
			}
			return scaled(c.Numbers[i], a.Bounds[j])
		}
	}
	one := places([]string{a.Cells[j]}, c.Categories)[0]
	return func(i int) int64 {
		if int(c.Codes[i]) == one {
			return Unit
		}
		return -Unit
	}
}

// add adds the products of a row, each rounded to a whole number.
func add(sums, row []int64) {
	k := 0
	for j, x := range row {
		for l, y := range row[j:] {
			unit := float64(root2)
			if l == 0 {
				unit = square
			}
			sums[k] += int64(math.RoundToEven(float64(x*y) / (Unit * Unit) * unit))
			k++
		}
	}
}

// Scatter returns a covariance without noise, times the rows, of columns scaled to [0, 1] (not
// [-1, 1]): the distinct numbers by rows of the upper triangle, each over 2^-16. It is the
// tally of the published mechanism.
func (a Resolved) Scatter(ctx context.Context, f *columns.Frame) ([]int64, error) {
	sums, err := a.moments(ctx, f)
	if err != nil {
		return nil, err
	}
	d := len(a.Columns)
	n := max(float64(f.Rows), 1)
	mean := make([]float64, d)
	for j := range mean {
		mean[j] = float64(sums[j+1]) / root2 / n
	}
	var out []int64
	for j, k := 0, d+1; j < d; j++ {
		for l := j; l < d; l, k = l+1, k+1 {
			unit := float64(root2)
			if l == j {
				unit = square
			}
			cov := float64(sums[k])/unit/n - float64(mean[j]*mean[l])
			out = append(out, int64(math.RoundToEven(cov/4*n*square)))
		}
	}
	return out, nil
}

// Moves bounds in L2 how far one row moves the tally of a question, which has no quantiles.
//
// Input: the rows of one table. A row meets the conditions or not, by its own values.
//
// Count: a row is counted or not: 1 under either adjacency. Histogram: a row is in at most
// one cell: 1, and sqrt(2) where it leaves one for another. Mean: a row adds (Unit, z),
// |z| <= Unit: sqrt(2) Unit; replaced, it goes from there to (Unit, z') or to nothing, at
// most 2 Unit. With a public number of rows z alone moves: Unit and 2 Unit. Covariance: a
// row adds a a' with |a|^2 <= d+1, of Frobenius norm |a|^2; and since
// |a a' - b b'|^2 = |a|^4 + |b|^4 - 2 (a.b)^2, exchanging it moves at most sqrt(2) (d+1).
// Rounding its numbers adds half a unit to each of them, twice where it is exchanged.
func (a Resolved) Moves() mechanism.Moves {
	switch {
	case a.Ask == Count:
		return mechanism.Moves{AddRemove: 1, ReplaceOne: 1}
	case a.Ask == Histogram:
		return mechanism.HistogramMoves()
	case a.Ask == Mean && a.Rows > 0:
		return mechanism.Moves{AddRemove: Unit, ReplaceOne: 2 * Unit}
	case a.Ask == Mean:
		return mechanism.Moves{AddRemove: math.Sqrt2 * Unit, ReplaceOne: 2 * Unit}
	}
	whole, rounded := float64(float64(len(a.Columns)+1)*square), math.Sqrt(a.entries(1))
	return mechanism.Moves{AddRemove: whole + rounded, ReplaceOne: float64(math.Sqrt2*whole) + rounded}
}

// entries returns the distinct numbers of a symmetric matrix over the columns and some more.
func (a Resolved) entries(more int) float64 {
	d := float64(len(a.Columns) + more)
	return d * (d + 1) / 2
}

// ScatterMoves bounds in L2 how far one row moves Scatter. Replaced: entry (j, k) is the sum
// over all ordered pairs of the n rows of (x_j - y_j)(x_k - y_k)/(2n). A row is in 2(n-1) of
// the pairs that are two rows, and for a given partner y its product lies within an
// interval of length at most 1: it is at most max(y_j y_k, (1-y_j)(1-y_k)), at least
// -max(y_j (1-y_k), (1-y_j) y_k), and two of these add up to one of y_j, 1-y_j, y_k, 1-y_k.
// So each entry moves by at most (n-1)/n. Added to n rows, it moves an entry by
// n/(n+1) times the product of its distances from their means, which is no more. So each of
// d(d+1)/2 entries moves by at most 1. Rounding the numbers of a row, products and
// sums adds at most 4 units to each.
func (a Resolved) ScatterMoves() mechanism.Moves {
	d := math.Sqrt(a.entries(0)) * (square + 4)
	return mechanism.Moves{AddRemove: d, ReplaceOne: d}
}

// PublishedMoves returns what Jalko et al. 2021 take for ScatterMoves: d(d-1)/2 numbers, the ones
// of the diagonal left out, though they are released too.
func (a Resolved) PublishedMoves() float64 { return math.Sqrt(a.entries(-1)) * square }
