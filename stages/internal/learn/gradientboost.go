package learn

import (
	"context"

	"weir/internal/bitmath"
	"weir/train/parallel"
)

// GradientBoosting adds regression trees to the log odds (classes) or the mean
// (numbers) along the gradient of the loss (GradientBoostingClassifier and
// -Regressor; Friedman 2001). Zero values: 100 rounds, depth 3, rate 0.1.
type GradientBoosting struct {
	Rounds, MaxDepth int
	Rate             float64
}

func (g GradientBoosting) defaults() GradientBoosting {
	if g.Rounds == 0 {
		g.Rounds = 100
	}
	if g.MaxDepth == 0 {
		g.MaxDepth = 3
	}
	if g.Rate == 0 {
		g.Rate = 0.1
	}
	return g
}

// additive is a sum of trees whose leaves hold the steps, for each output.
type additive struct {
	start   []float64
	list    [][]*Tree // by round, then output
	workers int
}

// decision returns the sum for each output.
func (a *additive) decision(x Matrix) Matrix {
	d := NewMatrix(x.Rows, len(a.start))
	blocks := (x.Rows + chunk - 1) / chunk
	parallel.Do(a.workers, blocks, func(_, b int) {
		lo, hi := b*chunk, min((b+1)*chunk, x.Rows)
		for k, v := range a.start {
			for i := lo; i < hi; i++ {
				d.Cols[k][i] = v
			}
			list := make([]*Tree, len(a.list))
			for r, round := range a.list {
				list[r] = round[k]
			}
			walk(list, x, lo, hi, func(tree, i int, leaf int32) { d.Cols[k][i] += list[tree].value(leaf)[0] })
		}
	})
	return d
}

func (a *additive) Predict(x Matrix) []float64 { return a.decision(x).Cols[0] }

type additiveClasses struct{ additive }

func (a *additiveClasses) Probabilities() bool { return true }

func (a *additiveClasses) Scores(x Matrix) Matrix {
	d := a.decision(x)
	if len(d.Cols) == 1 {
		return twoColumns(d.Cols[0], Sigmoid)
	}
	softmaxRows(d)
	return d
}

// Fit implements Classifier: one output of two classes, else one a class.
func (g GradientBoosting) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	g = g.defaults()
	m := &additiveClasses{additive{start: startLogits(y), workers: run.Workers}}
	outputs := len(m.start)
	f, targets := NewMatrix(x.Rows, outputs), make([][]float64, outputs)
	for k := range targets {
		targets[k] = y.indicator(k)
		if outputs == 1 {
			targets[k] = y.indicator(1)
		}
		for i := range f.Cols[k] {
			f.Cols[k][i] = m.start[k]
		}
	}
	grow := newNumberGrower(Growth{Criterion: friedman, MaxDepth: g.MaxDepth}, rank(x, run.Workers))
	p := NewMatrix(x.Rows, outputs)
	for range g.Rounds {
		for k := range f.Cols {
			copy(p.Cols[k], f.Cols[k])
		}
		shares(p)
		round := make([]*Tree, outputs)
		for k := range round {
			t, err := g.round(ctx, grow, x, targets[k], p.Cols[k], f.Cols[k], float64(y.Classes), run)
			if err != nil {
				return nil, err
			}
			round[k] = t
		}
		m.list = append(m.list, round)
	}
	return m, nil
}

func startLogits(y Labels) []float64 {
	n := y.counts()
	if y.Classes == 2 {
		return []float64{bitmath.Log(float64(n[1]) / float64(n[0]))}
	}
	var start []float64
	for _, c := range n {
		start = append(start, bitmath.Log(float64(c)/float64(len(y.Y))))
	}
	return start
}

// shares turns decision values into probabilities.
func shares(f Matrix) {
	if len(f.Cols) > 1 {
		softmaxRows(f)
		return
	}
	for i, v := range f.Cols[0] {
		f.Cols[0][i] = Sigmoid(v)
	}
}

// round fits a tree to the residuals and sets its leaves to one Newton step,
// sum r / sum p(1-p), times the rate and, for K > 2 classes, (K-1)/K. It adds them
// to f.
func (g GradientBoosting) round(ctx context.Context, grow *grower, x Matrix, target, p, f []float64, classes float64,
	run Run) (*Tree, error) {
	r := make([]float64, len(p))
	for i := range r {
		r[i] = target[i] - p[i]
	}
	t, err := grow.grow(ctx, numberItems(r, nil), run.Rand)
	if err != nil {
		return nil, err
	}
	higher, lower := make([]float64, len(t.Nodes)), make([]float64, len(t.Nodes))
	leaves := t.leaves(x)
	for i, leaf := range leaves {
		higher[leaf] += r[i]
		lower[leaf] += float64(p[i] * (1 - p[i]))
	}
	factor := g.Rate
	if classes > 2 {
		factor *= (classes - 1) / classes
	}
	for n := range t.Nodes {
		t.value(int32(n))[0] = 0
		if lower[n] >= 1e-150 { // else every row is sure, and the quotient overflows
			t.value(int32(n))[0] = factor * higher[n] / lower[n]
		}
	}
	for i, leaf := range leaves {
		f[i] += t.value(leaf)[0]
	}
	return t, nil
}

// GradientBoostingNumbers is GradientBoosting with the squared loss.
type GradientBoostingNumbers struct{ GradientBoosting }

// Fit implements Regressor.
func (g GradientBoostingNumbers) Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	s := g.defaults()
	mean, _ := Moments(y)
	m := &additive{start: []float64{mean}, workers: run.Workers}
	grow := newNumberGrower(Growth{Criterion: friedman, MaxDepth: s.MaxDepth}, rank(x, run.Workers))
	r := make([]float64, len(y))
	for i, v := range y {
		r[i] = v - mean
	}
	for range s.Rounds {
		t, err := grow.grow(ctx, numberItems(r, nil), run.Rand)
		if err != nil {
			return nil, err
		}
		for n := range t.Nodes {
			t.value(int32(n))[0] *= s.Rate
		}
		for i, leaf := range t.leaves(x) {
			r[i] -= t.value(leaf)[0]
		}
		m.list = append(m.list, []*Tree{t})
	}
	return m, nil
}
