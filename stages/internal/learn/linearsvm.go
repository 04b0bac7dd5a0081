package learn

import (
	"context"
	"math"
	"math/rand/v2"
)

// LinearSVM minimises 0.5 |w|^2 + C sum loss with the intercept penalised like a
// weight (LinearSVC), by dual coordinate descent (Hsieh et al. 2008). Loss is
// the squared hinge, or with Hinge the hinge. More than two classes: one against
// the rest.
type LinearSVM struct {
	C     float64
	Hinge bool
}

// Fit implements Classifier.
func (s LinearSVM) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	rows := rowMajor(x)
	m := &margin{}
	for k := range y.Classes {
		if y.Classes == 2 && k == 0 {
			continue
		}
		w, err := s.dual(ctx, rows, len(x.Cols)+1, y.is(k), run.Rand)
		if err != nil {
			return nil, err
		}
		m.Coef, m.Intercept = append(m.Coef, w[:len(x.Cols)]), append(m.Intercept, w[len(x.Cols)])
	}
	return m, nil
}

// rowMajor holds the rows of x, each with a last 1.
func rowMajor(x Matrix) []float64 {
	p := len(x.Cols) + 1
	r := make([]float64, x.Rows*p)
	x.rows(0, x.Rows, p, r)
	for i := range x.Rows {
		r[i*p+p-1] = 1
	}
	return r
}

// dualSweeps and dualTolerance bound the descent: liblinear's 1000 passes and a
// projected gradient a hundred times below its 1e-4.
const (
	dualSweeps    = 1000
	dualTolerance = 1e-6
)

func (s LinearSVM) dual(ctx context.Context, rows []float64, p int, t []float64, rng *rand.Rand) ([]float64, error) {
	n := len(t)
	diagonal, upper := 0.5/s.C, math.Inf(1)
	if s.Hinge {
		diagonal, upper = 0, s.C
	}
	w, alpha, norms, order := make([]float64, p), make([]float64, n), make([]float64, n), make([]int, n)
	for i := range order {
		order[i] = i
		norms[i] = dot(rows[i*p:(i+1)*p], rows[i*p:(i+1)*p]) + diagonal
	}
	for range dualSweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rng.Shuffle(n, func(a, b int) { order[a], order[b] = order[b], order[a] })
		worst := 0.0
		for _, i := range order {
			row, sign := rows[i*p:(i+1)*p], float64(2*t[i])-1
			g := float64(sign*dot(w, row)) - 1 + float64(diagonal*alpha[i])
			if alpha[i] == 0 && g > 0 || alpha[i] >= upper && g < 0 {
				continue
			}
			worst = max(worst, math.Abs(g))
			next := min(max(alpha[i]-g/norms[i], 0), upper)
			axpy((next-alpha[i])*sign, row, w)
			alpha[i] = next
		}
		if worst < dualTolerance {
			break
		}
	}
	return w, nil
}
