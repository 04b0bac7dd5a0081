package metric_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"weir/stages/internal/learn"
	"weir/stages/metric"
)

// normal returns n rows of k independent normal columns.
func normal(rng *rand.Rand, n, k int) learn.Matrix {
	m := learn.NewMatrix(n, k)
	for j := range m.Cols {
		for i := range m.Cols[j] {
			m.Cols[j][i] = rng.NormFloat64()
		}
	}
	return m
}

func TestIndependent(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(1, 1)), 50, 3)
	sum, flat := make([]float64, 50), make([]float64, 50)
	for i := range sum {
		sum[i] = 3*x.Cols[0][i] - 2*x.Cols[1][i] + 7
	}
	x.Cols = [][]float64{x.Cols[0], flat, x.Cols[1], sum, x.Cols[2], x.Cols[0]}
	if kept := metric.IndependentColumns(x); !slices.Equal(kept, []int{0, 2, 4}) {
		t.Errorf("independent columns are %v, must be 0, 2 and 4", kept)
	}
}

// TestRatioOfIndependentSamples: where both tables are fresh samples of one distribution the ratio is
// 1/(1-c) times a chi-square variable of 20 degrees of freedom over 20, which is
// between 0.2 and 2.8 but for 4e-6 on each side; a quarter of the rows are real.
func TestRatioOfIndependentSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	const n, k, c = 4000, 20, 0.75
	x := normal(rng, n, k)
	labels := learn.Labels{Y: make([]int, n), Classes: 2}
	for i := n / 4; i < n; i++ {
		labels.Y[i] = 1
	}
	ratio := func() float64 {
		s, err := learn.Logistic{C: metric.UnpenalisedPenalty, Penalty: learn.L2}.Fit(t.Context(), x, labels,
			learn.Run{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		return metric.NewPMSE(s.Scores(x).Cols[1], c, k+1).Ratio / metric.IndependentPMSERatio(c)
	}
	if r := ratio(); r < 0.2 || r > 2.8 {
		t.Errorf("ratio over its expectation is %v", r)
	}
	for i := n / 4; i < n; i++ {
		x.Cols[0][i] += 0.3
	}
	if r := ratio(); r < 2.8 {
		t.Errorf("ratio of shifted rows over the expectation is %v", r)
	}
}
