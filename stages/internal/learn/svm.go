package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/train/parallel"
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
		w, err := s.dual(ctx, rows, len(x.Cols)+1, y.indicator(k), run.Rand)
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

// smo returns alpha_i y_i and rho of the decision sum alpha_i y_i k(x_i, .) - rho.
func (s RBFSVM) smo(ctx context.Context, kernel [][]float32, t []float64) ([]float64, float64, error) {
	n := len(t)
	p := &smoState{k: kernel, c: s.C, y: make([]float64, n), a: make([]float64, n), g: make([]float64, n)}
	for i := range t {
		p.y[i], p.g[i] = float64(2*t[i])-1, -1
	}
	// Far more steps than any gap of 1e-3 has taken.
	for step := range max(10000000, 100*n) {
		if step%1024 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		i, j := p.pick()
		if j < 0 {
			break
		}
		p.update(i, j)
	}
	rho := p.rho()
	for i := range p.a {
		p.a[i] *= p.y[i]
	}
	return p.a, rho, nil
}

type smoState struct {
	k       [][]float32
	c       float64
	y, a, g []float64 // sign, weight, gradient
}

func (p *smoState) up(i int) bool   { return p.y[i] > 0 && p.a[i] < p.c || p.y[i] < 0 && p.a[i] > 0 }
func (p *smoState) down(i int) bool { return p.y[i] > 0 && p.a[i] > 0 || p.y[i] < 0 && p.a[i] < p.c }

// pick returns the pair of greatest violation and greatest decrease (Fan, Chen, Lin 2005, WSS 2);
// j < 0 where the gap is below 1e-3.
func (p *smoState) pick() (i, j int) {
	i, j = -1, -1
	high, low := math.Inf(-1), math.Inf(1)
	for t := range p.y {
		if v := -p.y[t] * p.g[t]; p.up(t) && v > high {
			high, i = v, t
		}
	}
	if i < 0 {
		return -1, -1
	}
	best, row := math.Inf(1), p.k[i]
	for t := range p.y {
		if !p.down(t) {
			continue
		}
		v := float64(-p.y[t] * p.g[t])
		low = min(low, v)
		if d := high - v; d > 0 {
			if fall := -d * d / max(2-float64(2*float64(row[t])), 1e-12); fall < best {
				best, j = fall, t
			}
		}
	}
	if high-low < 1e-3 {
		return i, -1
	}
	return i, j
}

// update moves the pair to its optimum inside the box.
func (p *smoState) update(i, j int) {
	ki, kj := p.k[i], p.k[j]
	d := (float64(-p.y[i]*p.g[i]) + float64(p.y[j]*p.g[j])) / max(2-float64(2*float64(ki[j])), 1e-12)
	d = min(d, room(p.y[i], p.a[i], p.c), room(-p.y[j], p.a[j], p.c))
	p.a[i] = min(max(p.a[i]+float64(p.y[i]*d), 0), p.c)
	p.a[j] = min(max(p.a[j]-float64(p.y[j]*d), 0), p.c)
	for t := range p.g {
		p.g[t] += float64(p.y[t] * d * float64(ki[t]-kj[t]))
	}
}

// room returns how far a weight may move in the direction of sign.
func room(sign, a, c float64) float64 {
	if sign > 0 {
		return c - a
	}
	return a
}

// rho returns the mean of signed gradients where a weight is inside its bounds, all of which are
// rho at the optimum; without such a weight the middle of what the others allow (Chang, Lin
// 2011, section 4.1.5).
func (p *smoState) rho() float64 {
	sum, n, high, low := 0.0, 0, math.Inf(1), math.Inf(-1)
	for i, g := range p.g {
		v := float64(p.y[i] * g)
		switch {
		case p.a[i] > 0 && p.a[i] < p.c:
			sum, n = sum+v, n+1
		case p.up(i):
			high = min(high, v)
		default:
			low = max(low, v)
		}
	}
	if n > 0 {
		return sum / float64(n)
	}
	return (high + low) / 2
}

// RBFSVM is a support vector classifier with kernel exp(-gamma |a-b|^2), gamma
// 1/(p Var(x)) (SVC, gamma="scale"), trained by sequential minimal optimisation
// with second-order working sets to a gap of 1e-3 (Fan, Chen, Lin 2005). The
// kernel matrix is held whole, 4 bytes a cell, so that more than MaxRows rows
// are sampled down at random, and said so. More than two classes: one against
// the rest.
type RBFSVM struct {
	C       float64
	MaxRows int
}

type rbf struct {
	vectors Matrix // the rows with a weight in any output
	alpha   [][]float64
	rho     []float64
	gamma   float64
	workers int
	note    string
}

// Fit implements Classifier.
func (s RBFSVM) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	m := &rbf{workers: run.Workers}
	if s.MaxRows > 0 && x.Rows > s.MaxRows {
		m.note = fmt.Sprintf("the RBF SVM learns from %d of %d rows, drawn at random", s.MaxRows, x.Rows)
		keep := keepClasses(run.Rand.Perm(x.Rows), y, s.MaxRows)
		x, y = x.Take(keep), Labels{takeInts(y.Y, keep), y.Classes}
	}
	m.gamma = scaleGamma(x)
	kernel := m.kernel(x)
	for k := range y.Classes {
		if y.Classes == 2 && k == 0 {
			continue
		}
		a, rho, err := s.smo(ctx, kernel, y.indicator(k))
		if err != nil {
			return nil, err
		}
		m.alpha, m.rho = append(m.alpha, a), append(m.rho, rho)
	}
	m.compact(x)
	return m, nil
}

// keepClasses returns the first n rows of order, with one row of each class that they
// lack put in the place of the last ones.
func keepClasses(order []int, y Labels, n int) []int {
	keep, seen := order[:n], make([]bool, y.Classes)
	for _, i := range keep {
		seen[y.Y[i]] = true
	}
	pos := n - 1
	for _, i := range order[n:] {
		if !seen[y.Y[i]] {
			seen[y.Y[i]] = true
			keep[pos] = i
			pos--
		}
	}
	return keep
}

func takeInts(src []int, places []int) []int {
	dst := make([]int, len(places))
	for k, i := range places {
		dst[k] = src[i]
	}
	return dst
}

// scaleGamma returns 1/(p Var) with the variance of all cells; 1 where it is 0.
func scaleGamma(x Matrix) float64 {
	var all []float64
	for _, c := range x.Dense().Cols {
		all = append(all, c...)
	}
	if len(all) == 0 || constant(all) {
		return 1
	}
	_, sd := Moments(all)
	return 1 / (float64(len(x.Cols)) * sd * sd)
}

func (m *rbf) kernel(x Matrix) [][]float32 {
	p := len(x.Cols) + 1
	rows, k := rowMajor(x), make([][]float32, x.Rows)
	parallel.Do(m.workers, x.Rows, func(_, i int) {
		k[i] = make([]float32, x.Rows)
		a := rows[i*p : i*p+p-1]
		for j := range x.Rows {
			k[i][j] = float32(bitmath.Exp(-m.gamma * squared(a, rows[j*p:j*p+p-1])))
		}
	})
	return k
}

func squared(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		d := v - b[i]
		s += float64(d * d)
	}
	return s
}

// compact keeps the rows that any output uses.
func (m *rbf) compact(x Matrix) {
	var keep []int
	for i := range x.Rows {
		for _, a := range m.alpha {
			if a[i] != 0 {
				keep = append(keep, i)
				break
			}
		}
	}
	m.vectors = x.Take(keep)
	for k, a := range m.alpha {
		cut := make([]float64, len(keep))
		for j, i := range keep {
			cut[j] = a[i]
		}
		m.alpha[k] = cut
	}
}

// Note says that rows were sampled down.
func (m *rbf) Note() string { return m.note }

func (m *rbf) Probabilities() bool { return false }

func (m *rbf) Scores(x Matrix) Matrix {
	p := len(x.Cols) + 1
	rows, vectors, d := rowMajor(x), rowMajor(m.vectors), NewMatrix(x.Rows, len(m.alpha))
	blocks := (x.Rows + chunk - 1) / chunk
	parallel.Do(m.workers, blocks, func(_, b int) {
		for i := b * chunk; i < min((b+1)*chunk, x.Rows); i++ {
			for k := range m.alpha {
				d.Cols[k][i] = -m.rho[k]
			}
			for v := range m.vectors.Rows {
				s := bitmath.Exp(-m.gamma * squared(rows[i*p:i*p+p-1], vectors[v*p:v*p+p-1]))
				for k, a := range m.alpha {
					d.Cols[k][i] += float64(a[v] * s)
				}
			}
		}
	})
	if len(d.Cols) > 1 {
		return d
	}
	return signed(d.Cols[0])
}
