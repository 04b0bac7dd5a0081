package learn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
)

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
	return &chosen{scorer, fmt.Sprintf("chosen on a validation part of the training rows: %s, C = %.4g", best.Penalty, best.C)}, nil
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
