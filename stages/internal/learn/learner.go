package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/internal/bitmath"
)

// Run is what a fit may use beside its data.
type Run struct {
	Rand    *rand.Rand // public randomness
	Workers int        // goroutines; results do not depend on it
}

// Labels are classes 0..Classes-1, one for each row. Every class has a row.
type Labels struct {
	Y       []int
	Classes int
}

// Classifier is a learner with its settings.
type Classifier interface {
	// Fit learns from x and y of at least two classes. It stops with the
	// context's error when that is cancelled.
	Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error)
}

// Scorer is a fitted classifier. Scores has a row for each row of x and a
// column for each class; the predicted class is the arg-max, the first of
// equals. Probabilities says whether each row is a distribution; else scores
// are decision values.
type Scorer interface {
	Scores(x Matrix) Matrix
	Probabilities() bool
}

// Regressor is a learner of numbers with its settings.
type Regressor interface {
	Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error)
}

// Predictor is a fitted regressor.
type Predictor interface {
	Predict(x Matrix) []float64
}

// Predict is the arg-max of each row of scores, the first of equals.
func Predict(scores Matrix) []int {
	labels, row := make([]int, scores.Rows), make([]float64, len(scores.Cols))
	for i := range labels {
		labels[i] = argmax(scores.Row(i, row))
	}
	return labels
}

// counts is the number of rows of each class.
func (y Labels) counts() []int {
	n := make([]int, y.Classes)
	for _, k := range y.Y {
		n[k]++
	}
	return n
}

// balanced is the weight n/(K n_k) of each row (class_weight="balanced").
func (y Labels) balanced() []float64 {
	n, w := y.counts(), make([]float64, len(y.Y))
	for i, k := range y.Y {
		w[i] = float64(len(y.Y)) / float64(y.Classes) / float64(n[k])
	}
	return w
}

// is holds 1 where the class is k.
func (y Labels) is(k int) []float64 {
	t := make([]float64, len(y.Y))
	for i, c := range y.Y {
		if c == k {
			t[i] = 1
		}
	}
	return t
}

// Weighted is a fitted classifier that says how much each column counts.
type Weighted interface {
	// Weights has a number for each column that was learnt from; nil where there is none, as of more than two classes
	// by regression.
	Weights() []float64
}

// Weights are the coefficients of two classes.
func (l *logit) Weights() []float64 {
	if len(l.Coef) != 1 {
		return nil
	}
	return l.Coef[0]
}

// Weights are the importances: each tree's total decrease of impurity by column, as shares, and their mean over the
// trees (Breiman 2001, section 10, by the measure of CART).
func (t *trees) Weights() []float64 {
	mean := make([]float64, t.columns)
	for _, tree := range t.list {
		for j, v := range tree.importances(t.columns) {
			mean[j] += v / float64(len(t.list))
		}
	}
	return mean
}

// Weights are those of the chosen one.
func (c *chosen) Weights() []float64 { return weightsOf(c.Scorer) }

func weightsOf(s Scorer) []float64 {
	if w, ok := s.(Weighted); ok {
		return w.Weights()
	}
	return nil
}

// importances is the total decrease of impurity by column, as shares; zeros where nothing splits.
func (t *Tree) importances(columns int) []float64 {
	shares, sum := make([]float64, columns), 0.0
	for _, n := range t.Nodes {
		if n.Feature < 0 {
			continue
		}
		l, r := t.Nodes[n.Left], t.Nodes[n.Right]
		d := float64(n.Weight*n.Impurity) - float64(l.Weight*l.Impurity) - float64(r.Weight*r.Impurity)
		shares[n.Feature] += d
		sum += d
	}
	for j := range shares {
		if sum > 0 {
			shares[j] /= sum
		}
	}
	return shares
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
			scorer, at, err := l.from(ctx, xf, yf, start, run)
			if err != nil {
				return nil, err
			}
			start = at
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

// from is Fit from the parameters of a neighbouring strength (two classes only).
func (l Logistic) from(ctx context.Context, x Matrix, y Labels, start []float64, run Run) (Scorer, []float64, error) {
	if y.Classes > 2 {
		s, err := l.Fit(ctx, x, y, run)
		return s, nil, err
	}
	m, err := l.fitBinary(ctx, x, y.is(1), l.weights(y), slices.Clone(start), run)
	if err != nil {
		return nil, nil, err
	}
	return &logit{*m}, append(slices.Clone(m.Coef[0]), m.Intercept[0]), nil
}

// stratified parts the rows: a fifth of each class, rounded down, validates.
func stratified(y Labels, run Run) (fit, check []int) {
	n, taken := y.counts(), make([]int, y.Classes)
	for _, i := range run.Rand.Perm(len(y.Y)) {
		if k := y.Y[i]; taken[k] < n[k]/5 {
			taken[k]++
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
