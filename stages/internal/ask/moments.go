package ask

import (
	"context"
	"math"

	"weir/stages/internal/columns"
)

// Products are whole numbers of these: coarser than Unit, so that the noise on those of
// thousands of columns can be drawn.
const (
	square = 1 << 16
	root2  = 92681 // sqrt(2) of it, rounded down, so that no norm is above what is proven
)

// moments is the tally of a covariance: the distinct numbers of the sum of a a' over the
// rows, a = (1, z) with each column scaled to z in [-1, 1]. Those off the diagonal, which
// stand in the matrix twice, count sqrt(2) times, so that the length of what a row adds is
// |a|^2, at most d+1. The order is by rows of the upper triangle. The first, the number of
// rows, is 0 where that is public. Each is in units of 2^-16 of its own product.
func (a Asked) moments(ctx context.Context, f *columns.Frame) ([]int64, error) {
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
func (a Asked) number(j int, c *columns.Column) func(i int) int64 {
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

// Scatter is a covariance without noise, times the rows, of columns scaled to [0, 1] (not
// [-1, 1]): the distinct numbers by rows of the upper triangle, each over 2^-16. It is the
// tally of the published mechanism.
func (a Asked) Scatter(ctx context.Context, f *columns.Frame) ([]int64, error) {
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
