package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The nearest point of a simplex, by hand: all positive, one that drops out, one that
// takes all, no total.
func TestSimplexByHand(t *testing.T) {
	for _, c := range []struct {
		y     []float64
		total float64
		want  []float64
	}{
		{[]float64{1, 2, 3}, 9, []float64{2, 3, 4}},
		{[]float64{1, 2, 3}, 3, []float64{0, 1, 2}},
		{[]float64{10, -5, 0}, 4, []float64{4, 0, 0}},
		{[]float64{0.5, 0.75, -0.125, math.Inf(-1)}, 1, []float64{0.375, 0.625, 0, 0}}, // a cell that nothing can be in
		{[]float64{-1, -1}, 2, []float64{1, 1}},
		{[]float64{4, 5}, 0, []float64{0, 0}},
		{[]float64{4, 5}, -3, []float64{0, 0}},
		{[]float64{4, 5}, math.NaN(), []float64{0, 0}},
		{nil, 3, []float64{}},
	} {
		if got := Simplex(c.y, c.total); !slices.Equal(got, c.want) {
			t.Errorf("%v to sum %v is %v, must be %v", c.y, c.total, got, c.want)
		}
	}
}

// FuzzSimplex: the result is feasible and is y less one number wherever it is positive,
// and at least y less that number elsewhere: the conditions (Karush, Kuhn, Tucker) that
// only the nearest point meets.
func FuzzSimplex(f *testing.F) {
	f.Add(uint64(1), uint8(5), 10.)
	f.Add(uint64(2), uint8(200), 1e9)
	f.Add(uint64(3), uint8(1), 1e-9)
	f.Fuzz(func(t *testing.T, seed uint64, n uint8, total float64) {
		if n == 0 || !(total > 1e-12 && total < 1e12) {
			t.Skip()
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		y := make([]float64, n)
		for i := range y {
			y[i] = 100 * rng.NormFloat64()
		}
		x := Simplex(y, total)
		less, most := math.Inf(-1), 0.0
		for i := range x {
			most = max(most, math.Abs(y[i]))
			if x[i] > 0 {
				less = y[i] - x[i]
			}
		}
		slack := 1e-12 * (most + total)
		if math.Abs(sum(x)-total) > 1e-10*(most+total) {
			t.Errorf("sum %v, must be %v", sum(x), total)
		}
		for i := range x {
			if x[i] < 0 || x[i] > 0 && math.Abs(y[i]-x[i]-less) > slack || x[i] == 0 && y[i] > less+slack {
				t.Errorf("%v becomes %v where others lose %v", y[i], x[i], less)
			}
		}
	})
}
