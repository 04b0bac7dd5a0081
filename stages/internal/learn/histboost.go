package learn

import (
	"context"
)

// HistBoosting is second-order gradient boosting on binned columns: XGBoost's
// split gain and leaf weights (Chen, Guestrin 2016, equations 5 and 7) on at
// most 255 quantile bins a column, trees grown best gain first. With the zero
// values it is HistGradientBoostingClassifier: 100 rounds, rate 0.1, 31 leaves
// of at least 20 rows, no penalty. XGBoost's defaults are in XGBoostDefaults.
type HistBoosting struct {
	Rounds, MaxLeaves, MaxDepth, MinRows int
	Rate                                 float64
	Lambda, Gamma                        float64 // penalty of a squared leaf weight; of a leaf
	MinHessian                           float64
}

// XGBoostDefaults are those of XGBoost's classifier: 100 rounds, rate 0.3,
// depth 6, lambda 1, min_child_weight 1.
func XGBoostDefaults() HistBoosting {
	return HistBoosting{Rounds: 100, MaxLeaves: 64, MaxDepth: 6, MinRows: 1, Rate: 0.3, Lambda: 1, MinHessian: 1}
}

func (h HistBoosting) defaults() HistBoosting {
	if h.Rounds == 0 {
		h.Rounds, h.MaxLeaves, h.MinRows, h.Rate, h.MinHessian = 100, 31, 20, 0.1, 1e-3
	}
	return h
}

// Fit implements Classifier: one output of two classes, else one a class.
func (h HistBoosting) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	h = h.defaults()
	m := &additiveClasses{additive{start: startLogits(y), workers: run.Workers}}
	f, targets := NewMatrix(x.Rows, len(m.start)), make([][]float64, len(m.start))
	for k := range targets {
		if targets[k] = y.is(k); len(targets) == 1 {
			targets[k] = y.is(1)
		}
		for i := range f.Cols[k] {
			f.Cols[k][i] = m.start[k]
		}
	}
	g := newHistGrower(h, x, run.Workers)
	p, gh := NewMatrix(x.Rows, len(m.start)), make([]float64, 2*x.Rows)
	for range h.Rounds {
		round := make([]*Tree, len(m.start))
		for k := range f.Cols {
			copy(p.Cols[k], f.Cols[k])
		}
		shares(p)
		for k := range round {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			gradients(targets[k], p.Cols[k], gh)
			round[k] = g.grow(gh, f.Cols[k])
		}
		m.list = append(m.list, round)
	}
	return m, nil
}

// gradients puts gradient and hessian of each row in turn into gh.
func gradients(target, p, gh []float64) {
	for i, v := range p {
		gh[2*i], gh[2*i+1] = v-target[i], v*(1-v)
	}
}

// HistBoostingNumbers is HistBoosting with the squared loss.
type HistBoostingNumbers struct{ HistBoosting }

// Fit implements Regressor.
func (h HistBoostingNumbers) Fit(ctx context.Context, x Matrix, y []float64, run Run) (Predictor, error) {
	s := h.defaults()
	mean, _ := Moments(y)
	m := &additive{start: []float64{mean}, workers: run.Workers}
	g := newHistGrower(s, x, run.Workers)
	f, gh := make([]float64, len(y)), make([]float64, 2*len(y))
	for i := range f {
		f[i] = mean
	}
	for range s.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i, v := range f {
			gh[2*i], gh[2*i+1] = v-y[i], 1
		}
		m.list = append(m.list, []*Tree{g.grow(gh, f)})
	}
	return m, nil
}
