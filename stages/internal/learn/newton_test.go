package learn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLogisticReachesTheOptimumOfHardData: two classes that a column separates, weak penalties, equal columns and
// columns of any size: the gradient of the objective vanishes, to the rounding of C times
// the rows' residuals.
func TestLogisticReachesTheOptimumOfHardData(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []float64{1e-3, 1, 1e3, 1e6, 1e9} {
		for _, penalty := range []Penalty{L1, L2} {
			for _, shape := range []string{"separated", "equal columns", "large"} {
				x, y := NewMatrix(42, 4), make([]float64, 42)
				for i := range y {
					for j := range x.Cols {
						x.Cols[j][i] = rng.NormFloat64()
						switch shape {
						case "equal columns":
							x.Cols[j][i] = x.Cols[0][i]
						case "large":
							x.Cols[j][i] *= 1e4
						}
					}
					if i > 36 {
						y[i] = 1
					}
				}
				if shape == "separated" {
					for i := 37; i < 42; i++ {
						x.Cols[1][i] = 50
					}
				}
				l := Logistic{C: c, Penalty: penalty}
				m, err := l.fitBinary(t.Context(), x, y, nil, nil, Run{Workers: 1})
				if err != nil {
					t.Errorf("C %g, %s, %s: %v", c, penalty, shape, err)
					continue
				}
				b := &binary{Logistic: l, x: x, t: y, p: 4}
				theta := append(append([]float64(nil), m.Coef[0]...), m.Intercept[0])
				z := b.decision(theta)
				g, _ := b.slope(z)
				for j := range g {
					if rest := b.stationarity(g, theta, j); math.Abs(rest) > 1e-6*(1+c*maxNorm(x)) {
						t.Errorf("C %g, %s, %s: gradient %d is %g", c, penalty, shape, j, rest)
					}
				}
			}
		}
	}
}

func maxNorm(x Matrix) float64 {
	m := 0.0
	for _, c := range x.Cols {
		m = max(m, normInf(c))
	}
	return m
}

// stationarity returns the distance of 0 from the subgradient in place j.
func (b *binary) stationarity(g, theta []float64, j int) float64 {
	switch {
	case !b.penalised(j):
		return g[j]
	case b.Penalty == L2:
		return g[j] + theta[j]
	case theta[j] == 0:
		return max(math.Abs(g[j])-1, 0)
	}
	return g[j] + math.Copysign(1, theta[j])
}

// TestNearlyConstantColumns: l1 has its optimum where columns are almost the intercept, as of rows that a generator
// drove to the end of a range. At it the gradient of the loss is 0 for the intercept, a coefficient's sign where it is
// not 0, and at most 1 in size elsewhere.
func TestNearlyConstantColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	x, target := NewMatrix(4000, 4), make([]float64, 4000)
	for i := range target {
		for j := range 3 {
			x.Cols[j][i] = 1 - 0.01*rng.Float64()
		}
		x.Cols[3][i] = rng.Float64()
		if rng.Float64() < Sigmoid(300*(x.Cols[0][i]-0.995)+100*(x.Cols[1][i]-0.995)) {
			target[i] = 1
		}
	}
	for _, c := range []float64{0.1, 1, 10} {
		l := Logistic{C: c, Penalty: L1}
		m, err := l.fitBinary(t.Context(), x, target, nil, nil, Run{Workers: 1})
		if err != nil {
			t.Errorf("C = %g: %v", c, err)
			continue
		}
		b := &binary{Logistic: l, x: x, t: target, p: 4, workers: 1}
		grad, _ := b.slope(m.Predict(x))
		for j, g := range grad {
			w := append(m.Coef[0], m.Intercept[0])[j]
			want := 0.0
			switch {
			case j < 4 && w > 0:
				want = -1
			case j < 4 && w < 0:
				want = 1
			case j < 4:
				want = max(-1, min(1, g))
			}
			if math.Abs(g-want) > 1e-6 {
				t.Errorf("C = %g: the gradient of place %d is %g at %g, must be %g", c, j, g, w, want)
			}
		}
	}
}
