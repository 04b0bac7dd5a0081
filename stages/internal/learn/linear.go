package learn

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
)

// Linear is a linear model of one or more outputs: Coef[k] and Intercept[k] of
// output k.
type Linear struct {
	Coef      [][]float64
	Intercept []float64
}

// chunk is the number of rows that are worked on at once, so that a block of
// every column stays in the cache.
const chunk = 512

// Decision returns x Coef' + Intercept: a column for each output.
func (l *Linear) Decision(x Matrix) Matrix {
	d := NewMatrix(x.Rows, len(l.Coef))
	if s := x.lists(); s != nil {
		for k, w := range l.Coef {
			d.Cols[k] = s.times(append(slices.Clip(w), l.Intercept[k]))
		}
		return d
	}
	for lo := 0; lo < x.Rows; lo += chunk {
		hi := min(lo+chunk, x.Rows)
		for k, w := range l.Coef {
			out := d.Cols[k][lo:hi]
			for i := range out {
				out[i] = l.Intercept[k]
			}
			x.each(func(j int, c []float64) {
				if w[j] != 0 {
					axpy(w[j], c[lo:hi], out)
				}
			}, func(b Block) { b.add(w[b.First:b.First+b.Width], lo, out) })
		}
	}
	return d
}

// Predict returns the first output.
func (l *Linear) Predict(x Matrix) []float64 { return l.Decision(x).Cols[0] }

// logit scores classes by the sigmoid of one output, or the softmax of K.
type logit struct{ Linear }

func (l *logit) Probabilities() bool { return true }

func (l *logit) Scores(x Matrix) Matrix {
	d := l.Decision(x)
	if len(d.Cols) > 1 {
		softmaxRows(d)
		return d
	}
	return twoColumns(d.Cols[0], Sigmoid)
}

func softmaxRows(d Matrix) {
	row := make([]float64, len(d.Cols))
	for i := range d.Rows {
		softmax(d.Row(i, row))
		for k, v := range row {
			d.Cols[k][i] = v
		}
	}
}

// twoColumns returns (1-p, p) of p = f(z).
func twoColumns(z []float64, f func(float64) float64) Matrix {
	p := NewMatrix(len(z), 2)
	for i, v := range z {
		p.Cols[1][i] = f(v)
		p.Cols[0][i] = 1 - p.Cols[1][i]
	}
	return p
}

// margin scores by decision values: (-z, z) of one output, else one a class.
type margin struct{ Linear }

func (m *margin) Probabilities() bool { return false }

func (m *margin) Scores(x Matrix) Matrix {
	d := m.Decision(x)
	if len(d.Cols) > 1 {
		return d
	}
	return signed(d.Cols[0])
}

func signed(z []float64) Matrix {
	s := NewMatrix(len(z), 2)
	for i, v := range z {
		s.Cols[0][i], s.Cols[1][i] = -v, v
	}
	return s
}

// Model returns the linear model below the probabilities.
func (l *logit) Model() *Linear { return &l.Linear }

// centred returns x with every column centred, its means, y centred and its mean.
func centred(x Matrix, y []float64) (Matrix, []float64, []float64, float64) {
	x = x.Dense()
	z, means := NewMatrix(x.Rows, len(x.Cols)), make([]float64, len(x.Cols))
	for j, c := range x.Cols {
		means[j], _ = Moments(c)
		for i, v := range c {
			z.Cols[j][i] = v - means[j]
		}
	}
	mean, _ := Moments(y)
	r := make([]float64, len(y))
	for i, v := range y {
		r[i] = v - mean
	}
	return z, means, r, mean
}

// withIntercept returns the model of coefficients on centred columns.
func withIntercept(w, means []float64, mean float64) *Linear {
	return &Linear{Coef: [][]float64{w}, Intercept: []float64{mean - dot(w, means)}}
}

// crossMoments returns Z'Z and Z'r for centred columns.
func crossMoments(z Matrix, r []float64, workers int) (*mat.SymDense, []float64) {
	full := gram(z, nil, workers)
	p := len(z.Cols)
	h, g := mat.NewSymDense(max(p, 1), nil), make([]float64, p)
	for j, c := range z.Cols {
		g[j] = dot(c, r)
		for k := j; k < p; k++ {
			h.SetSym(j, k, full.At(j, k))
		}
	}
	return h, g
}

// Ridge minimises |y-Xw-b|^2 + Alpha |w|^2 (sklearn Ridge).
type Ridge struct{ Alpha float64 }

// Fit implements Regressor.
func (a Ridge) Fit(_ context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	z, means, r, mean := centred(x, y)
	if len(x.Cols) == 0 {
		return withIntercept(nil, nil, mean), nil
	}
	h, g := crossMoments(z, r, run.Workers)
	for j := range g {
		h.SetSym(j, j, h.At(j, j)+a.Alpha)
	}
	w, err := solve(h, g)
	if err != nil {
		return nil, err
	}
	return withIntercept(w, means, mean), nil
}

// LeastSquares minimises |y-Xw-b|^2; of many minima it takes the one of least
// |w|, by the pseudo-inverse of the centred columns with singular values below
// 1e-10 of the greatest cut off (numpy.linalg.pinv, rcond 1e-10).
type LeastSquares struct{}

// Fit implements Regressor. The singular value decomposition is computed from the
// triangular factor, so that no more memory than x is needed.
func (LeastSquares) Fit(_ context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	z, means, r, mean := centred(x, y)
	p := len(x.Cols)
	if p == 0 {
		return withIntercept(nil, nil, mean), nil
	}
	tri := triangle(append(z.Cols[:p:p], r), run.Workers)
	scaled, values, right, err := singular(tri, p)
	if err != nil {
		return nil, err
	}
	target, w := mat.Col(nil, p, tri)[:p], make([]float64, p)
	for k, s := range values {
		if s > 1e-10*slices.Max(values) {
			bitmath.Axpy(bitmath.Dot(scaled[k], target)/s/s, right[k], w)
		}
	}
	return withIntercept(w, means, mean), nil
}

// ElasticNet minimises
//
//	|y-Xw-b|^2/(2n) + Alpha L1Ratio |w|_1 + 0.5 Alpha (1-L1Ratio) |w|^2
//
// by coordinate descent on the Gram matrix (sklearn ElasticNet; Lasso is
// L1Ratio 1) until no prediction moves: coefficients that are 0 are exactly 0.
type ElasticNet struct{ Alpha, L1Ratio float64 }

// Fit implements Regressor.
func (e ElasticNet) Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	z, means, r, mean := centred(x, y)
	if len(x.Cols) == 0 {
		return withIntercept(nil, nil, mean), nil
	}
	h, g := crossMoments(z, r, run.Workers)
	p, n := len(g), float64(x.Rows)
	w, hw := make([]float64, p), make([]float64, p)
	l1, l2 := float64(n*e.Alpha*e.L1Ratio), float64(n*e.Alpha*(1-e.L1Ratio))
	scale := math.Sqrt(dot(r, r) / n)
	// Sweeps until no coefficient moves its column by 1e-11 of y's spread; the
	// bound is far above what correlated columns need.
	for range 100000 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		moved := 0.0
		for j := range w {
			a := h.At(j, j)
			if a+l2 <= 0 {
				continue
			}
			to := shrink(g[j]-hw[j]+float64(a*w[j]), l1) / (a + l2)
			if d := to - w[j]; d != 0 {
				w[j] = to
				for k := range hw {
					hw[k] += float64(d * h.At(j, k))
				}
				moved = max(moved, math.Abs(d)*math.Sqrt(a/n))
			}
		}
		if moved <= 1e-11*scale {
			break
		}
	}
	return withIntercept(w, means, mean), nil
}

// LDA is linear discriminant analysis: normal classes with one covariance, the
// within-class scatter divided by n-K (LinearDiscriminantAnalysis, solver svd)
// or by n (solver lsqr).
type LDA struct{ DivideByN bool }

// Fit implements Classifier. Directions in which the classes have no spread
// (1e-4 of the standardised within-class spread, as the svd solver) are left out.
func (l LDA) Fit(_ context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	x = x.Dense()
	mean, _ := classMoments(x, y)
	within, scales := withinScatter(x, y, mean)
	n, p := y.counts(), len(x.Cols)
	divisor := float64(x.Rows - y.Classes)
	if l.DivideByN || divisor <= 0 {
		divisor = float64(x.Rows)
	}
	inverse, err := whitener(within, divisor, run.Workers)
	if err != nil {
		return nil, err
	}
	m := &Linear{Coef: make([][]float64, y.Classes), Intercept: make([]float64, y.Classes)}
	for k := range y.Classes {
		w := make([]float64, p)
		for j := range w {
			for i := range w {
				w[j] += float64(inverse.At(j, i) / scales[j] / scales[i] * mean[k][i])
			}
		}
		m.Coef[k], m.Intercept[k] = w, float64(-0.5*dot(w, mean[k]))+bitmath.Log(float64(n[k])/float64(x.Rows))
	}
	if y.Classes > 2 {
		return &logit{*m}, nil
	}
	w := append([]float64(nil), m.Coef[1]...)
	axpy(-1, m.Coef[0], w)
	return &logit{Linear{Coef: [][]float64{w}, Intercept: []float64{m.Intercept[1] - m.Intercept[0]}}}, nil
}

// withinScatter returns x less its class means, columns divided by their spread.
func withinScatter(x Matrix, y Labels, mean [][]float64) (Matrix, []float64) {
	z, scales := NewMatrix(x.Rows, len(x.Cols)), make([]float64, len(x.Cols))
	for j, c := range x.Cols {
		ss := 0.0
		for i, v := range c {
			d := v - mean[y.Y[i]][j]
			z.Cols[j][i] = d
			ss += float64(d * d)
		}
		if scales[j] = sqrt(ss / float64(x.Rows)); scales[j] == 0 {
			scales[j] = 1
		}
		for i := range c {
			z.Cols[j][i] /= scales[j]
		}
	}
	return z, scales
}

// whitener returns the pseudo-inverse of z'z/divisor.
func whitener(z Matrix, divisor float64, workers int) (*mat.SymDense, error) {
	p := len(z.Cols)
	inverse := mat.NewSymDense(max(p, 1), nil)
	if p == 0 {
		return inverse, nil
	}
	_, values, right, err := singular(triangle(z.Cols, workers), p)
	if err != nil {
		return nil, err
	}
	n := float64(z.Rows)
	for k, s := range values {
		if s*s/n <= 1e-8 { // the square of sklearn's tol on singular values over root n
			continue
		}
		for i, v := range right[k] {
			bitmath.Axpy(divisor/(s*s)*v, right[k][i:], inverse.RawSymmetric().Data[i*p+i:][:p-i])
		}
	}
	return inverse, nil
}
