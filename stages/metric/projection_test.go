package metric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"weir/stages/metric"
)

// cheapest returns the best assignment by trying all.
func cheapest(c [][]float64, row int, used []bool) float64 {
	if row == len(c) {
		return 0
	}
	best := math.Inf(1)
	for j := range c {
		if !used[j] {
			used[j] = true
			best = min(best, c[row][j]+cheapest(c, row+1, used))
			used[j] = false
		}
	}
	return best
}

func TestTransportIsTheBestAssignment(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for n := 1; n <= 7; n++ {
		var a, b [][]float64
		for range n {
			a = append(a, []float64{rng.NormFloat64(), rng.NormFloat64()})
			b = append(b, []float64{rng.NormFloat64(), rng.NormFloat64()})
		}
		costs := make([][]float64, n)
		for i := range a {
			for j := range b {
				costs[i] = append(costs[i], math.Hypot(a[i][0]-b[j][0], a[i][1]-b[j][1]))
			}
		}
		want := cheapest(costs, 0, make([]bool, n)) / float64(n)
		if got := metric.Transport(a, b); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d points: cost %v, must be %v", n, got, want)
		}
	}
	if !math.IsNaN(metric.Transport(nil, nil)) {
		t.Error("the distance of no points is a number")
	}
	for _, odd := range []float64{math.NaN(), math.Inf(1)} {
		if got := metric.Transport([][]float64{{odd}, {1}}, [][]float64{{0}, {odd}}); !math.IsNaN(got) {
			t.Errorf("the distance of points at %v is %v", odd, got)
		}
	}
}

// TestPCA: the covariance [[2,-1],[-1,2]] has the components (1,-1)/sqrt 2 with variance 3
// and (1,1)/sqrt 2 with 1; of equal loadings the first is made positive.
func TestPCA(t *testing.T) {
	p, err := metric.NewPCA([]float64{5, 5}, mat.NewSymDense(2, []float64{2, -1, -1, 2}), 3)
	if err != nil {
		t.Fatal(err)
	}
	h := math.Sqrt(0.5)
	for k, want := range [][]float64{{h, -h}, {h, h}} {
		if math.Abs(p.Components[k][0]-want[0]) > 1e-12 || math.Abs(p.Components[k][1]-want[1]) > 1e-12 {
			t.Errorf("component %d is %v, must be %v", k, p.Components[k], want)
		}
	}
	if math.Abs(p.Ratio[0]-0.75) > 1e-12 || len(p.Variance) != 2 {
		t.Errorf("variance %v, ratio %v", p.Variance, p.Ratio)
	}
}
