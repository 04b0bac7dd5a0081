package learn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"weir/internal/bitmath"
)

// Penalty is the norm of a penalty on coefficients.
type Penalty string

const (
	L1 Penalty = "l1"
	L2 Penalty = "l2"
)

// Logistic is penalised logistic regression at its exact optimum:
//
//	penalty(w) + C sum_i weight_i logloss_i, penalty 0.5 |w|^2 or |w|_1
//
// Two classes: one output; l2 by Newton's method, l1 by proximal Newton steps
// (Lee, Sun, Saunders 2014) with coordinate descent. More classes: the softmax
// of one output a class with l2 (sklearn multi_class="multinomial"), and one
// regression against the rest a class with l1 (as liblinear).
type Logistic struct {
	C                 float64
	Penalty           Penalty
	PenalizeIntercept bool // as liblinear does
	Balanced          bool // weights n/(K n_k) on the losses
}

// Fit implements Classifier.
func (l Logistic) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	if y.Classes > 2 && l.Penalty == L1 {
		return oneVsRest(y, func(t []float64) (*Linear, error) { return l.fitBinary(ctx, x, t, l.weights(y), nil, run) })
	}
	var m *Linear
	var err error
	if y.Classes > 2 {
		m, err = l.fitMultinomial(ctx, x, y)
	} else {
		m, err = l.fitBinary(ctx, x, y.indicator(1), l.weights(y), nil, run)
	}
	if err != nil {
		return nil, err
	}
	return &logit{*m}, nil
}

func (l Logistic) weights(y Labels) []float64 {
	if l.Balanced {
		return y.balanced()
	}
	return nil
}

// binary is the problem of two classes, at its current parameters: coefficients,
// then the intercept.
type binary struct {
	Logistic
	x       Matrix
	t, w    []float64 // target 0 or 1; weights (nil: ones)
	p       int
	workers int
	sparse  *sparse // of a wide table of indicators; nil: x is taken as it is
	begun   float64 // square of the first gradient; 0 before
}

// maxNewton bounds the steps; Newton's method needs about ten.
const maxNewton = 200

// fitBinary minimises from the given start (nil: zeros).
func (l Logistic) fitBinary(ctx context.Context, x Matrix, t, w, start []float64, run Run) (*Linear, error) {
	b := &binary{Logistic: l, x: x, t: t, w: w, p: len(x.Cols), workers: run.Workers}
	if l.Penalty == L2 {
		b.sparse = newSparse(x)
	}
	theta := make([]float64, b.p+1)
	if start == nil && !l.PenalizeIntercept {
		theta[b.p] = b.baseLogit()
	}
	copy(theta, start)
	for range maxNewton {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		done, err := b.step(theta)
		if err != nil {
			return nil, err
		}
		if done {
			return &Linear{Coef: [][]float64{theta[:b.p]}, Intercept: theta[b.p:]}, nil
		}
	}
	return nil, &NotEstimable{-1, fmt.Sprintf("logistic regression did not converge in %d Newton steps", maxNewton)}
}

// baseLogit returns the optimal intercept without coefficients.
func (b *binary) baseLogit() float64 {
	one, all := 0.0, 0.0
	for i, t := range b.t {
		one, all = one+float64(t*b.weight(i)), all+b.weight(i)
	}
	if one == 0 || one == all {
		return 0
	}
	return bitmath.Log(one / (all - one))
}

func (b *binary) weight(i int) float64 {
	if b.w == nil {
		return 1
	}
	return b.w[i]
}

func (b *binary) decision(theta []float64) []float64 {
	if b.sparse != nil {
		return b.sparse.times(theta)
	}
	m := Linear{Coef: [][]float64{theta[:b.p]}, Intercept: theta[b.p:]}
	return m.Predict(b.x)
}

func (b *binary) penalised(j int) bool { return j < b.p || b.PenalizeIntercept }

func (b *binary) penalty(theta []float64) float64 {
	sum := 0.0
	for j, v := range theta {
		switch {
		case !b.penalised(j):
		case b.Penalty == L1:
			sum += math.Abs(v)
		default:
			sum += float64(v * v / 2)
		}
	}
	return sum
}

// loss returns C sum weight logloss at decision values z. Each term keeps its leading
// digits however small it is: of separated classes nothing else is left.
func (b *binary) loss(z []float64) float64 {
	sum := 0.0
	for i, v := range z {
		if b.t[i] == 1 {
			v = -v
		}
		sum += float64(b.weight(i) * softplus(v))
	}
	return b.C * sum
}

// slope returns the gradient of the loss and the weights of its Hessian.
func (b *binary) slope(z []float64) (grad, curvature []float64) {
	r, h := make([]float64, len(z)), make([]float64, len(z))
	grad = make([]float64, b.p+1)
	for i, v := range z {
		s, not := sigmoids(v)
		if r[i] = s; b.t[i] == 1 {
			r[i] = -not // s-1 without the loss of its digits
		}
		r[i] *= b.C * b.weight(i)
		h[i] = b.C * b.weight(i) * s * not
		grad[b.p] += r[i]
	}
	if b.sparse != nil {
		b.sparse.dots(r, grad)
	} else {
		b.x.dots(r, grad)
	}
	return grad, h
}

// fitMultinomial minimises 0.5 |W|^2 + C sum weight cross-entropy by L-BFGS.
// Rows of W sum to 0 and intercepts have mean 0, as at the optimum.
func (l Logistic) fitMultinomial(ctx context.Context, x Matrix, y Labels) (*Linear, error) {
	s := &softmaxProblem{Logistic: l, x: x, y: y, w: l.weights(y), p: len(x.Cols)}
	// Dividing by C n keeps the gradient's size near one for any data.
	s.scale = 1 / (l.C * float64(x.Rows))
	// The objective's relative rounding error is near 1e-16 and it is quadratic
	// around the optimum, so gradients settle near 1e-8.
	m := lbfgs{at: func(at []float64) (float64, []float64) { s.eval(at); return s.value, s.grad }}
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
func (s *softmaxProblem) linear(point []float64) *Linear {
	m := &Linear{Intercept: point[s.y.Classes*s.p:]}
	for k := range s.y.Classes {
		m.Coef = append(m.Coef, point[k*s.p:(k+1)*s.p])
	}
	return m
}

// eval computes value and gradient at parameters.
func (s *softmaxProblem) eval(theta []float64) {
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

// oneVsRest fits one output against the rest for each class; probabilities are
// the sigmoids divided by their sum (sklearn OneVsRestClassifier, liblinear).
func oneVsRest(y Labels, fit func(t []float64) (*Linear, error)) (Scorer, error) {
	all := &versus{}
	for k := range y.Classes {
		m, err := fit(y.indicator(k))
		if err != nil {
			return nil, err
		}
		all.Coef = append(all.Coef, m.Coef[0])
		all.Intercept = append(all.Intercept, m.Intercept[0])
	}
	return all, nil
}

type versus struct{ Linear }

func (v *versus) Probabilities() bool { return true }

func (v *versus) Scores(x Matrix) Matrix {
	d := v.Decision(x)
	for i := range d.Rows {
		sum := 0.0
		for _, c := range d.Cols {
			c[i] = Sigmoid(c[i])
			sum += c[i]
		}
		for _, c := range d.Cols {
			if c[i] /= sum; sum == 0 {
				c[i] = 1 / float64(len(d.Cols))
			}
		}
	}
	return d
}

// Search is logistic regression with strength and penalty chosen on a validation
// part of the training rows (as the Turku thesis does on synthetic rows): C from
// 20 values evenly spaced in logarithm from 1e-4 to 1e4, penalties l1 and l2,
// intercept free. A fifth of each class validates; the least log loss wins, of
// equals the stronger penalty. The winner is fitted to all rows.
type Search struct {
	Balanced bool
	Strong   bool // C from 1e-4 to 1, the thesis's range (0, 1): rows that can be told apart have an optimum then
}

// searchSteps strengths between these powers of ten.
const (
	searchSteps = 20
	searchLow   = -4.0
	searchHigh  = 4.0
)

// strengths ascend.
func (s Search) strengths() []float64 {
	list, high := make([]float64, searchSteps), searchHigh
	if s.Strong {
		high = 0
	}
	for k := range list {
		list[k] = bitmath.Pow(10, searchLow+(high-searchLow)*float64(k)/(searchSteps-1))
	}
	return list
}

// Fit implements Classifier.
func (s Search) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	fit, check := stratified(y, run)
	if len(check) == 0 {
		return nil, &NotEstimable{-1, "the training rows are too few to set a fifth of each class aside"}
	}
	xf, yf := x.Take(fit), Labels{takeInts(y.Y, fit), y.Classes}
	xc, yc := x.Take(check), takeInts(y.Y, check)
	best, loss := Logistic{}, math.Inf(1)
	for _, p := range []Penalty{L1, L2} {
		var start []float64
		for _, c := range s.strengths() {
			l := Logistic{C: c, Penalty: p, Balanced: s.Balanced}
			scorer, point, err := l.fitFrom(ctx, xf, yf, start, run)
			if err != nil {
				return nil, err
			}
			start = point
			if v := meanLoss(scorer.Scores(xc), yc); v < loss {
				best, loss = l, v
			}
		}
	}
	scorer, err := best.Fit(ctx, x, y, run)
	if err != nil {
		return nil, err
	}
	return &chosen{scorer, fmt.Sprintf("chosen on a validation part of the training rows: %s, C = %.4g", best.Penalty,
		best.C)}, nil
}

// fitFrom fits from the parameters of a neighbouring strength (two classes only).
func (l Logistic) fitFrom(ctx context.Context, x Matrix, y Labels, start []float64, run Run) (Scorer, []float64,
	error) {
	if y.Classes > 2 {
		s, err := l.Fit(ctx, x, y, run)
		return s, nil, err
	}
	m, err := l.fitBinary(ctx, x, y.indicator(1), l.weights(y), slices.Clone(start), run)
	if err != nil {
		return nil, nil, err
	}
	return &logit{*m}, append(slices.Clone(m.Coef[0]), m.Intercept[0]), nil
}

// stratified parts the rows: a fifth of each class, rounded down, validates.
func stratified(y Labels, run Run) (fit, check []int) {
	n, used := y.counts(), make([]int, y.Classes)
	for _, i := range run.Rand.Perm(len(y.Y)) {
		if k := y.Y[i]; used[k] < n[k]/5 {
			used[k]++
			check = append(check, i)
		} else {
			fit = append(fit, i)
		}
	}
	return fit, check
}

func meanLoss(p Matrix, y []int) float64 {
	sum := 0.0
	for i, k := range y {
		sum -= bitmath.Log(max(p.Cols[k][i], 0x1p-52))
	}
	return sum / float64(len(y))
}

// chosen is a scorer with the choice that led to it.
type chosen struct {
	Scorer
	note string
}

// Note says which settings were chosen.
func (c *chosen) Note() string { return c.note }
