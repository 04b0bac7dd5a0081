package mechanism

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"weir/privacy"
)

// TestGridKeepsSensitivity moves scores by at most one Sensitivity: on the grid
// no pair of neighbours may be further apart than Epsilon/2, in steps.
func TestGridKeepsSensitivity(t *testing.T) {
	st, err := source(0).Stream("grid", 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 20000 {
		s := scoresOf(math.Exp2(st.Float64()*34-24), math.Exp2(st.Float64()*40-20), st.Uint64()&1 == 0, 2)
		moves := s.Moves.AddRemove
		x := (st.Float64() - 0.5) * moves * math.Exp2(st.Float64()*23)
		y := x + moves
		for y-x > moves {
			y = math.Nextafter(y, x)
		}
		steps, bits, err := s.grid([]float64{x, y})
		if err != nil {
			t.Fatal(err)
		}
		most := s.Epsilon / 2
		if s.Monotone {
			most = s.Epsilon
		}
		moved := math.Ldexp(float64(steps[1]-steps[0]), -bits)
		if moved > most || (moved < most*(1-0x1p-20) && math.Abs(y) < mostSensitivities*moves*0.9) {
			t.Fatalf("%+v: %.17g to %.17g moves %.17g, must be at most %.17g and near it", s, x, y, moved, most)
		}
	}
}

func TestSelectionsAtTheEnds(t *testing.T) {
	for _, m := range []func(candidates int) privacy.Mechanism{
		func(n int) privacy.Mechanism { return Exponential{scoresOf(1, 1, false, n)} },
		func(n int) privacy.Mechanism { return NoisyMax{scoresOf(1, 1, false, n)} },
	} {
		if i, err := Select(open(m(1), 0), []float64{5}); err != nil || i != 0 {
			t.Errorf("%T of one candidate: %d, %v", m(1), i, err)
		}
		if i, err := Select(open(m(4), 0), []float64{-math.MaxFloat64, math.Inf(1), math.Inf(-1), 0}); err != nil || i != 1 {
			t.Errorf("%T with an infinite score: %d, %v", m(4), i, err)
		}
		h := open(m(privacy.AnyNumber), 0)
		for _, scores := range [][]float64{{5}, {0, 0, 1e9}} {
			if i, err := Select(h, scores); err != nil || i != len(scores)-1 {
				t.Errorf("%T of any number: %d, %v", m(1), i, err)
			}
		}
		if _, err := Select(h, nil); err == nil {
			t.Errorf("%T of any number selects from none", m(1))
		}
		for _, scores := range [][]float64{nil, {}, {1}, {1, 2, 3}, {1, math.NaN()}} {
			if _, err := Select(open(m(2), 0), scores); err == nil {
				t.Errorf("%T selects from %v", m(2), scores)
			}
		}
	}
	for _, s := range []Scores{
		scoresOf(0, 1, false, 2), scoresOf(math.NaN(), 1, false, 2), scoresOf(math.Inf(1), 1, false, 2),
		scoresOf(1, 0, false, 2),
		scoresOf(1, math.Inf(1), false, 2), scoresOf(0x1p-25, 1, false, 2), scoresOf(1, 1, false, 0),
		{1, "", Moves{1, 1}, false, 2, 1}, {1, "add_remove", Moves{1, 0}, false, 2, 1}, {1, "add_remove", Moves{1, 1}, false,
			2, 0},
	} {
		if _, err := Select(open(Exponential{s}, 0), []float64{1, 2}); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}

func TestNonsenseIsRefused(t *testing.T) {
	quantiles := []Quantile{
		{Q: 2, High: 1, Step: 1, Epsilon: 1, Adjacency: "add_remove", Releases: 1},
		{Q: 0.5, Low: 1, High: 1, Step: 1, Epsilon: 1, Adjacency: "add_remove", Releases: 1},
		{Q: 0.5, High: 1, Epsilon: 1, Adjacency: "add_remove", Releases: 1},
		{Q: 0.5, High: math.Inf(1), Step: 1, Epsilon: 1, Adjacency: "add_remove", Releases: 1},
		{Q: 0.5, Low: math.NaN(), High: 1, Step: 1, Epsilon: 1, Adjacency: "add_remove", Releases: 1},
		{Q: 0.5, High: 1, Step: 0.1, Epsilon: 0, Adjacency: "add_remove", Releases: 1},
		{Q: 0.5, High: 1, Step: 0.1, Epsilon: 1, Releases: 1},
		{Q: 0.5, High: 1, Step: 0.1, Epsilon: 1, Adjacency: "add_remove"},
		{Q: 0.5, High: 1, Step: 1.5, Epsilon: 1, Adjacency: "add_remove", Releases: 1},
	}
	for _, m := range quantiles {
		if x, err := ReleaseQuantile(open(m, 0), []float64{1, 2}); err == nil {
			t.Errorf("%+v releases %g", m, x)
		}
	}
	for _, m := range []Partitions{{0, 0.1, 1, "add_remove", 1}, {1, 0, 1, "add_remove", 1}, {1, 1, 1, "add_remove", 1},
		{1, 0.1, 0, "add_remove", 1}, {1, 0.1, 1, "", 1}, {1e-300, 0.1, 1, "add_remove", 1}, {1, 0.1, 1, "add_remove", 0},
		{0.01, 0.1, 1, "add_remove", 1}} {
		if _, err := ReleasePartitions(open(m, 0), map[string]int64{"a": 5}); err == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
	for _, m := range []Bounds{{0, 0, 1, 0.1, 1}, {1, 3, 3, 0.1, 1}, {1, 0, 1, 0, 1}, {1, -5000, 1, 0.1, 1},
		{1, 0, 1, 0.1, 0}} {
		if _, _, err := ReleaseBounds(open(m, 0), nil); err == nil || errors.Is(err, ErrNoBounds) {
			t.Errorf("%+v: %v", m, err)
		}
	}
	for _, nm := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-9, 1e30} {
		for _, m := range []privacy.Mechanism{LaplaceCounts{nm, 1}, LaplaceTotal{nm, 1}, GaussianHistogram{nm / 16, 1},
			GaussianFilter{NoiseMultiplier: nm / 16, Adjacency: "add_remove"}, ZCDPFilter{nm / 16, "add_remove", 0}} {
			if _, filter := m.(inRounds); m.Check() == nil && !(filter && nm == 0) {
				t.Errorf("%T with noise %g is accepted", m, nm)
			}
		}
	}
}

func TestCountsDoNotOverflow(t *testing.T) {
	counts := []int64{math.MaxInt64, math.MinInt64, 0}
	counts, err := ReleaseCounts(open(LaplaceCounts{1 << 39, 1}, 0), counts)
	if err != nil {
		t.Fatal(err)
	}
	if counts[0] < 1<<60 || counts[1] > -1<<60 {
		t.Errorf("counts at the ends become %v", counts)
	}
}

func TestBoundsHoldTheData(t *testing.T) {
	values := []float64{math.NaN(), math.Inf(1), 1e9}
	for i := range 1000 {
		values = append(values, -3.7, 0, 0.2, float64(i%10))
	}
	m := Bounds{NoiseMultiplier: 1, LowExponent: -4, HighExponent: 20, Failure: 1e-9, Releases: 2}
	h := open(m, 0)
	low, high, err := ReleaseBounds(h, m.Count(nil, values))
	if err != nil || low != -4 || high != 16 {
		t.Errorf("bounds are [%g, %g], %v; must be [-4, 16]", low, high, err)
	}
	for _, c := range []struct{ x, low, high float64 }{{0, -0x1p-4, 0x1p-4}, {0.01, -0x1p-4, 0x1p-4}, {1, 1, 2},
		{-1, -2, -1}, {0x1p-4, 0x1p-4, 0x1p-3}, {5, 4, 8}, {-5, -8, -4}, {1e300, 0x1p20, 0x1p20}} {
		if b := m.bin(c.x); m.edge(b, -1) != c.low || m.edge(b, 1) != c.high {
			t.Errorf("%g is in the bin [%g, %g], must be [%g, %g]", c.x, m.edge(b, -1), m.edge(b, 1), c.low, c.high)
		}
	}
	if _, _, err := ReleaseBounds(h, m.Count(nil, values[:10])); !errors.Is(err, ErrNoBounds) {
		t.Errorf("ten values: %v", err)
	}
}

func TestPartitionsAreByName(t *testing.T) {
	m := Partitions{Epsilon: 1, Delta: 1e-9, PerUnit: 1, Adjacency: "replace_one", Releases: 1}
	out, err := ReleasePartitions(open(m, 0), map[string]int64{"b": 10000, "a": 9000, "rare": 2, "absent": 0})
	if err != nil || len(out) != 2 || out[0].Name != "a" || out[1].Name != "b" || out[0].Count < 8800 {
		t.Errorf("released %v, %v", out, err)
	}
	single, _ := Partitions{Epsilon: 1, Delta: 1e-9, PerUnit: 1, Adjacency: "add_remove"}.Threshold()
	double, _ := m.Threshold()
	// 1 + ceil(b (ln(1e9) - ln(1+exp(-1/b)))): b = 1 gives 22, b = 2 gives 42.
	if single != 22 || double != 42 {
		t.Errorf("thresholds are %d and %d, must be 22 and 42", single, double)
	}
}

func BenchmarkExponential(b *testing.B) {
	scores := make([]float64, 1000)
	for i := range scores {
		scores[i] = float64(i % 100)
	}
	m := Exponential{scoresOf(1, 1, false, len(scores))}
	m.Selections = math.MaxInt64
	h := open(m, 0)
	for b.Loop() {
		if _, err := Select(h, scores); err != nil {
			b.Fatal(err)
		}
	}
}

// exactOff returns how far Q n is from the ranks, without rounding.
func exactOff(q float64, lower, end, n int) *big.Float {
	exact := func() *big.Float { return new(big.Float).SetPrec(2000) }
	target := exact().Mul(exact().SetFloat64(q), exact().SetInt64(int64(n)))
	off := exact()
	for _, d := range []*big.Float{exact().Sub(exact().SetInt64(int64(lower)), target),
		exact().Sub(target, exact().SetInt64(int64(end)))} {
		if d.Cmp(off) > 0 {
			off = d
		}
	}
	return off
}

// manyUnits calls f with quantiles, numbers of units near 2^31 and ranks near and far from the quantile.
func manyUnits(f func(q float64, below, n int)) {
	for _, q := range []float64{0, 1e-300, 0.001, 0.1, 1. / 3, 0.45, 0.5, math.Nextafter(0.5, 1), 0.7, 0.9, 0.999999,
		math.Nextafter(1, 0), 1} {
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
	manyUnits(func(q float64, lower, n int) {
		got, want := (Quantile{Q: q}).off(lower, lower, n), exactOff(q, lower, lower, n)
		gap := new(big.Float).SetPrec(2000).SetFloat64(got)
		apart, _ := gap.Sub(gap, want).Float64()
		if size, _ := want.Float64(); math.Abs(apart) > float64(size*0x1p-52)+0x1p-1060 {
			t.Errorf("q %g, n %d: rank %d is off by %g, %g too much, above 2^-52 of it", q, n, lower, got, apart)
		}
	})
}

// TestQuantileReserve: a unit more moves the weight of a point by no more than half of what
// is charged and a share of the reserve of 2^-34, at the largest epsilon.
func TestQuantileReserve(t *testing.T) {
	for _, move := range []int{0, 1} { // the unit's number is above the point, or below
		manyUnits(func(q float64, lower, n int) {
			m := Quantile{Q: q, Low: 0, High: 1, Step: 0.5, Epsilon: 0x1p10, Adjacency: "add_remove", Releases: 1}
			one := stretch{size: 1, off: m.off(lower, lower, n)}
			two := stretch{size: 1, off: m.off(lower+move, lower+move, n+1)}
			moved := math.Abs(one.weight(m.Rate()) - two.weight(m.Rate()))
			if over := 2*moved - m.Epsilon; over > 0x1p-36-0x1p-34 {
				t.Errorf("q %g, n %d, rank %d: a unit moves the odds by %g more than epsilon, must leave most of the reserve", q, n,
					lower, over)
			}
		})
	}
}
