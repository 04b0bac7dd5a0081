package learn

import (
	"context"
	"math"

	"weir/internal/bitmath"
)

// fitMultinomial minimises 0.5 |W|^2 + C sum weight cross-entropy by L-BFGS.
// Rows of W sum to 0 and intercepts have mean 0, as at the optimum.
func (l Logistic) fitMultinomial(ctx context.Context, x Matrix, y Labels) (*Linear, error) {
	s := &softmaxProblem{Logistic: l, x: x, y: y, w: l.weights(y), p: len(x.Cols)}
	// Dividing by C n keeps the gradient's size near one for any data.
	s.scale = 1 / (l.C * float64(x.Rows))
	// The objective's relative rounding error is near 1e-16 and it is quadratic
	// around the optimum, so gradients settle near 1e-8.
	m := lbfgs{at: func(at []float64) (float64, []float64) { s.at(at); return s.value, s.grad }}
	best, err := m.minimise(ctx, make([]float64, y.Classes*(s.p+1)))
	if err != nil {
		return nil, err
	}
	w := s.linear(best)
	centre(w.Intercept)
	return w, nil
}

func centre(b []float64) {
	mean := 0.0
	for _, v := range b {
		mean += v / float64(len(b))
	}
	for k := range b {
		b[k] -= mean
	}
}

type softmaxProblem struct {
	Logistic
	x     Matrix
	y     Labels
	w     []float64
	p     int
	scale float64
	value float64
	grad  []float64
}

// linear reads the parameters: K rows of p coefficients, then K intercepts.
func (s *softmaxProblem) linear(at []float64) *Linear {
	m := &Linear{Intercept: at[s.y.Classes*s.p:]}
	for k := range s.y.Classes {
		m.Coef = append(m.Coef, at[k*s.p:(k+1)*s.p])
	}
	return m
}

// at computes value and gradient at parameters.
func (s *softmaxProblem) at(theta []float64) {
	m := s.linear(theta)
	d := m.Decision(s.x)
	s.value = s.residuals(d) * s.C
	s.grad = make([]float64, len(theta))
	for k, r := range d.Cols {
		g := s.grad[k*s.p : (k+1)*s.p]
		s.x.dots(r, g)
		for j := range g {
			g[j] *= s.C
		}
		for _, v := range r {
			s.grad[s.y.Classes*s.p+k] += float64(s.C * v)
		}
	}
	for i, v := range theta[:s.y.Classes*s.p] {
		s.value += float64(v * v / 2)
		s.grad[i] += v
	}
	s.value *= s.scale
	for i := range s.grad {
		s.grad[i] *= s.scale
	}
}

// residuals turns decision values into weighted p - 1[y = k] and returns the
// weighted sum of cross-entropies.
func (s *softmaxProblem) residuals(d Matrix) float64 {
	sum, row := 0.0, make([]float64, len(d.Cols))
	for i := range d.Rows {
		d.Row(i, row)
		loss := logSumExp(row) - row[s.y.Y[i]]
		softmax(row)
		row[s.y.Y[i]]--
		w := 1.0
		if s.w != nil {
			w = s.w[i]
		}
		sum += float64(w * loss)
		for k, v := range row {
			d.Cols[k][i] = w * v
		}
	}
	return sum
}

func logSumExp(z []float64) float64 {
	greatest, sum := math.Inf(-1), 0.0
	for _, v := range z {
		greatest = max(greatest, v)
	}
	for _, v := range z {
		sum += bitmath.Exp(v - greatest)
	}
	return greatest + bitmath.Log(sum)
}
