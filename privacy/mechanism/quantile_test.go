package mechanism

import (
	"math"
	"math/big"
	"testing"
)

// exactOff returns how far Q n is from the ranks, without rounding.
func exactOff(q float64, below, upto, n int) *big.Float {
	exact := func() *big.Float { return new(big.Float).SetPrec(2000) }
	target := exact().Mul(exact().SetFloat64(q), exact().SetInt64(int64(n)))
	off := exact()
	for _, d := range []*big.Float{exact().Sub(exact().SetInt64(int64(below)), target), exact().Sub(target, exact().SetInt64(int64(upto)))} {
		if d.Cmp(off) > 0 {
			off = d
		}
	}
	return off
}

// manyUnits calls f with quantiles, numbers of units near 2^31 and ranks near and far from the quantile.
func manyUnits(f func(q float64, below, n int)) {
	for _, q := range []float64{0, 1e-300, 0.001, 0.1, 1. / 3, 0.45, 0.5, math.Nextafter(0.5, 1), 0.7, 0.9, 0.999999, math.Nextafter(1, 0), 1} {
		for n := math.MaxInt32 - 40; n <= math.MaxInt32; n++ {
			near := int(float64(q * float64(n)))
			for _, below := range []int{0, near / 2, near - 1000, near - 1, near, near + 1, near + 1000, n - 1, n} {
				if below >= 0 && below <= n {
					f(q, below, n)
				}
			}
		}
	}
}

// TestQuantileOfManyUnits: the score of a point keeps the relative error that the proof of
// Quantile takes it to have, for as many rows as an index can name. The expected numbers are
// computed without rounding.
func TestQuantileOfManyUnits(t *testing.T) {
	manyUnits(func(q float64, below, n int) {
		got, want := (Quantile{Q: q}).off(below, below, n), exactOff(q, below, below, n)
		gap := new(big.Float).SetPrec(2000).SetFloat64(got)
		apart, _ := gap.Sub(gap, want).Float64()
		if size, _ := want.Float64(); math.Abs(apart) > float64(size*0x1p-52)+0x1p-1060 {
			t.Errorf("q %g, n %d: rank %d is off by %g, %g too much, above 2^-52 of it", q, n, below, got, apart)
		}
	})
}

// TestQuantileReserve: a unit more moves the weight of a point by no more than half of what
// is charged and a share of the reserve of 2^-34, at the largest epsilon.
func TestQuantileReserve(t *testing.T) {
	for _, move := range []int{0, 1} { // the unit's number is above the point, or below
		manyUnits(func(q float64, below, n int) {
			m := Quantile{Q: q, Low: 0, High: 1, Step: 0.5, Epsilon: 0x1p10, Adjacency: "add_remove", Releases: 1}
			one := stretch{size: 1, off: m.off(below, below, n)}
			two := stretch{size: 1, off: m.off(below+move, below+move, n+1)}
			moved := math.Abs(one.weight(m.Rate()) - two.weight(m.Rate()))
			if over := 2*moved - m.Epsilon; over > 0x1p-36-0x1p-34 {
				t.Errorf("q %g, n %d, rank %d: a unit moves the odds by %g more than epsilon, must leave most of the reserve", q, n, below, over)
			}
		})
	}
}
