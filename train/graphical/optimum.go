package graphical

import (
	"context"
	"math"
)

// What the fit to the optimum stops at and how it steps.
const (
	optimumSweeps = 20_000
	optimumGap    = 1e-8 // of 1 + the loss; what is left to gain at most
	optimumStill  = 1e-9 // of 1 + the loss; what a round gains
	roundMoved    = 1e-6 // largest step of a potential at the end of a round
	roundMost     = 400  // sweeps of a round
	roundEasy     = 30   // a round of fewer makes the next one less stiff
	roundChange   = 1.5  // by so much
	roundGap      = .05  // of 1 + the loss: the bound is coarse where a round is not at its end
)

// optimum goes on to the least loss of all tables of the total that are nowhere
// negative. It goes in rounds, each of which finds by sweeps the minimum of the loss
// plus a divergence from the model of the round before, with less and less weight on
// the divergence (the proximal point method with entropy: Censor and Zenios 1992).
// It ends when a bound says that nothing is left to gain, or a round gains nothing.
func (f *fitting) optimum(ctx context.Context, r *Report) error {
	for f.scale = 1; r.Sweeps < f.options.Sweeps; {
		sweeps, err := f.round(ctx)
		if err != nil {
			return err
		}
		before := r.Loss
		r.Sweeps += sweeps
		r.Loss, r.Gap = f.certificate()
		still := math.Abs(before-r.Loss) <= optimumStill*(1+r.Loss) && r.Gap <= roundGap*(1+r.Loss)
		if still || r.Gap <= optimumGap*(1+r.Loss) {
			break
		}
		if sweeps <= roundEasy {
			f.scale /= roundChange
		} else {
			f.scale *= roundChange
		}
	}
	return nil
}

// round is the sweeps of one round; their number says how hard it was.
func (f *fitting) round(ctx context.Context) (int, error) {
	for _, t := range f.targets {
		t.theta, t.move = make([]float64, len(t.y)), make([]float64, len(t.y))
	}
	for sweep := range roundMost {
		if err := ctx.Err(); err != nil {
			return sweep, err
		}
		f.moved = 0
		if f.visit(0); f.moved < roundMoved {
			return sweep + 1, nil
		}
	}
	return roundMost, nil
}

// certificate is the loss of the model and a bound on how far it is above the least:
// the loss is convex, so no table of the total lies below its tangent at the best
// single row (Jaggi 2013, the gap of Frank and Wolfe). The best row is found as the
// beliefs are, with maxima for sums.
func (f *fitting) certificate() (loss, gap float64) {
	for i := 1; i < len(f.tree.nodes); i++ {
		n := &f.tree.nodes[i]
		f.pass(i, &n.above, &n.own, n.parent, i)
	}
	var slopes []factor
	for _, t := range f.targets {
		slope := f.tree.factor(t.vars, make([]float64, len(t.y)))
		slope.view.sum(f.beliefs[slope.node], t.count)
		loss += t.loss()
		for i, m := range t.count {
			slope.log[i] = t.weight[i] * (t.y[i] - m)
			gap -= slope.log[i] * m
		}
		slopes = append(slopes, slope)
	}
	return loss, max(gap+f.total*f.tree.best(slopes, f.masks), 0)
}

// best is the largest sum of factors over all allowed rows.
func (t *Tree) best(factors []factor, masks []Mask) float64 {
	m := t.blank(factors, masks)
	for i := len(t.nodes) - 1; i > 0; i-- {
		n := &t.nodes[i]
		n.own.greatest(m.beliefs[i], m.seps[i])
		n.above.add(m.beliefs[n.parent], m.seps[i])
	}
	best := math.Inf(-1)
	for _, x := range m.beliefs[0] {
		best = max(best, x)
	}
	return best
}
