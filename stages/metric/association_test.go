package metric_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"

	"weir/stages/internal/learn"
	"weir/stages/metric"
)

// ranksByDefinition: one plus the smaller values plus half the other equal ones.
func ranksByDefinition(x []float64) []float64 {
	r := make([]float64, len(x))
	for i, v := range x {
		r[i] = 1
		for j, w := range x {
			if w < v {
				r[i]++
			} else if w == v && j != i {
				r[i] += 0.5
			}
		}
	}
	return r
}

func coarse(rng *rand.Rand, n int, missing float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(rng.IntN(12))
		if rng.Float64() < missing {
			x[i] = math.NaN()
		}
	}
	return x
}

// TestSpearmanWithMissingValues: ranks are those among the rows where both columns have a value.
func TestSpearmanWithMissingValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		x, y := coarse(rng, 60, 0.2), coarse(rng, 60, 0.3)
		a, b := metric.CompletePairs(x, y)
		want := metric.Pearson(ranksByDefinition(a), ranksByDefinition(b))
		got, n := metric.Spearman(metric.NewOrdered(x), metric.NewOrdered(y))
		if math.Abs(got-want) > 1e-12 || n != len(a) {
			t.Fatalf("Spearman is %v of %d, must be %v of %d", got, n, want, len(a))
		}
	}
}

// TestKendallByPairs: Tau-b by counting pairs: (concordant-discordant)/sqrt((all-tied x)(all-tied y)).
func TestKendallByPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		x, y := coarse(rng, 40, 0), coarse(rng, 40, 0)
		var balance, untiedX, untiedY float64
		for i := range x {
			for j := range i {
				a, b := cmp.Compare(x[i], x[j]), cmp.Compare(y[i], y[j])
				balance += float64(a * b)
				untiedX += float64(a * a)
				untiedY += float64(b * b)
			}
		}
		want := balance / math.Sqrt(untiedX*untiedY)
		if got, _ := metric.KendallTauB(x, y); math.Abs(got-want) > 1e-12 {
			t.Fatalf("tau-b is %v, must be %v", got, want)
		}
	}
}

// TestKendallExact: of the 24 orders of four values one has no inversion, three have one; two-sided
// p for one discordant pair of 4 is 2*(1+3)/24 (scipy kendalltau: 0.3333).
func TestKendallExact(t *testing.T) {
	tau, p := metric.KendallTauB([]float64{1, 2, 3, 4}, []float64{2, 1, 3, 4})
	if math.Abs(tau-2.0/3) > 1e-15 || math.Abs(p-1.0/3) > 1e-15 {
		t.Errorf("tau %v with p %v, must be 2/3 with 1/3", tau, p)
	}
}

// TestContingencyOfAFunction: a table of a function: V and Theil's U of the value given the cause are 1,
// also where a declared category never occurs.
func TestContingencyOfAFunction(t *testing.T) {
	c := metric.Cross([]int32{0, 0, 1, 1, 2, 2, -1}, []int32{0, 0, 0, 0, 1, 1, 1}, 4, 3)
	i := c.Information()
	if v := c.CramersV(); math.Abs(v-1) > 1e-12 || math.Abs(i.ColGivenRows-1) > 1e-12 || i.RowGivenCol > 0.9 {
		t.Errorf("V %v, information %+v", v, i)
	}
	if c := metric.Cross(make([]int32, 3), make([]int32, 3), 1<<13, 1<<13); c.N != 0 {
		t.Error("a table beyond maxCells was counted")
	}
}

// TestPearsonOfFewPairs: two pairs allow no test (scipy pearsonr: p 1).
func TestPearsonOfFewPairs(t *testing.T) {
	x := []float64{1e9 + 1, 1e9 + 2, 1e9 + 4}
	if r := metric.Pearson(x, x); r != 1 {
		t.Errorf("correlation with itself is %v", r)
	}
	if p := metric.CorrelationP(0.5, 2); p != 1 {
		t.Errorf("p of two pairs is %v", p)
	}
}

// TestScatterInBlocks: in blocks, and far from zero: the covariance of 1, 2, 4 and 0, 3, 3 is
// [[7/3, 2], [2, 3]] by hand.
func TestScatterInBlocks(t *testing.T) {
	s := metric.NewScatter(2)
	const far = 1 << 30
	s.Add(learn.Matrix{Rows: 2, Cols: [][]float64{{far + 1, far + 2}, {0, 3}}})
	s.Add(learn.Matrix{Rows: 1, Cols: [][]float64{{far + 4}, {3}}})
	c := s.Covariance()
	for k, want := range []float64{7.0 / 3, 2, 3} {
		if got := c.At(k/2, min(1, k)); math.Abs(got-want) > 1e-9 {
			t.Errorf("entry %d is %v, must be %v", k, got, want)
		}
	}
	if m := s.Mean(); math.Abs(m[0]-far-7.0/3) > 1e-6 || m[1] != 2 {
		t.Errorf("mean is %v", m)
	}
}
