package graphical

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
)

// Options of Fit. The zero value is 60 sweeps at most and a stop at .9 of half the
// degrees of freedom.
type Options struct {
	// Sweeps is the most sweeps over the tree.
	Sweeps int
	// Stop ends the fit when the loss is at most this many halves of the measured
	// cells less the tables: what is left then is what the noise explains. Below 0 the
	// fit goes on to the optimum.
	Stop float64
	// Workers share the cells of large cliques; 0: as many as there are cores.
	Workers int
	// Near is by how much of the total a cell of an exact table may be off; 0: 1e-9.
	Near float64
	// Lenient ends a fit whose exact tables contradict each other or the masks where it
	// stands: Report.Off says how far they are off. Else that is an error.
	Lenient bool
	// Start holds factors to start from, of an earlier model; nil: the uniform
	// distribution of allowed rows.
	Start []Factor
}

// Report says how a fit ended.
type Report struct {
	Sweeps int
	Loss   float64 // half the sum of squares over variances, before the last sweep (at the end where Stop is below 0)
	Target float64 // where the noise-aware stop stands
	Cells  int     // measured cells that are not forbidden
	Off    float64 // rows by which a cell of an exact table is off at most
	Gap    float64 // at most so much is the loss above the least, where Stop is below 0
}

// Fit finds the model of the tree whose marginals are near the tables: half the sum
// of squared differences over variances, over cells that are measured and not
// forbidden. By default it stops where the noise explains what is left: fitting on is
// fitting noise. Each table and mask must lie within a clique. The model's total is
// total; tables should sum to it.
func Fit(ctx context.Context, t *Tree, total float64, tables []Table, masks []Mask, o Options) (*Model, Report, error) {
	if err := t.check(total, tables, masks, o.Start); err != nil {
		return nil, Report{}, err
	}
	masks = cloneMasks(slices.Concat(masks, zeros(tables)))
	var factors []factor
	for _, f := range o.Start {
		factors = append(factors, t.factor(f.Vars, inward(t.dom, f.Vars, f.Log)))
	}
	m, err := newModel(t, total, factors, masks)
	if err != nil {
		return nil, Report{}, err
	}
	f := newFitting(m, tables, o)
	report, err := f.run(ctx)
	if err == nil {
		report.Off, err = f.meet(ctx)
	}
	if err != nil {
		return nil, report, err
	}
	m, err = newModel(t, total, f.factors(factors), masks)
	return m, report, err
}

// check says everything that is wrong with the input of a fit, or nil.
func (t *Tree) check(total float64, tables []Table, masks []Mask, start []Factor) error {
	errs := []error{checkTotal(total)}
	for i, x := range tables {
		errs = append(errs, t.checkTable(fmt.Sprintf("graphical: tables[%d]", i), x, total))
	}
	for i, x := range masks {
		errs = append(errs, t.checkPart(fmt.Sprintf("graphical: masks[%d]", i), x.Vars, len(x.Forbidden)))
	}
	for i, x := range start {
		errs = append(errs, t.checkFactor(fmt.Sprintf("graphical: factors[%d]", i), x))
	}
	return errors.Join(errs...)
}

func cloneMasks(masks []Mask) []Mask {
	copies := make([]Mask, len(masks))
	for i, m := range masks {
		copies[i] = Mask{Vars: slices.Clone(m.Vars), Forbidden: slices.Clone(m.Forbidden)}
	}
	return copies
}

// What the fit to the optimum stops at and how it steps.
const (
	optimumSweeps = 20_000
	optimumGap    = 1e-8  // of 1 + the loss; what is left to gain at most
	optimumStill  = 1e-12 // of 1 + the loss; what a round gains
	settled       = 1e-9  // largest step of a potential that is none
	roundSweeps   = 10
	roundGap      = .05 // of 1 + the loss: the bound is coarse where a round is not at its end
	fast, slow    = .02, .2
	change        = 1.5
)

// optimum goes on to the least loss of all tables of the total that are nowhere
// negative. It goes in rounds, each of which finds by sweeps the minimum of the loss
// plus a divergence from the model of the round before, with less and less weight on
// the divergence (the proximal point method with entropy: Censor and Zenios 1992).
// It ends when a bound says that nothing is left to gain, or a round gains nothing.
func (f *fitting) optimum(ctx context.Context, r *Report) error {
	for _, t := range f.targets {
		t.theta, t.move = make([]float64, len(t.y)), make([]float64, len(t.y))
	}
	r.Loss = math.Inf(1)
	var p pace
	exact := slices.ContainsFunc(f.targets, func(t *target) bool { return t.exact }) // the bound does not know them
	for f.stiff = f.stiffest(); r.Sweeps < f.options.Sweeps; {
		left, err := f.round(ctx)
		if err != nil {
			return err
		}
		before := r.Loss
		r.Sweeps += roundSweeps
		r.Loss, r.Gap = f.certificate()
		for _, t := range f.targets {
			t.carry(f.total, f.stiff)
		}
		still := math.Abs(before-r.Loss) <= optimumStill*(1+r.Loss) && (r.Gap <= roundGap*(1+r.Loss) || exact)
		if still || r.Gap <= optimumGap*(1+r.Loss) {
			break
		}
		hard := r.Loss-before > optimumStill*1e3*(1+before)
		f.stiff *= p.factor(left, hard)
	}
	return nil
}

// stiffest returns where the rounds begin: r is 40 variances over the least standard
// deviation, however large others are.
func (f *fitting) stiffest() float64 {
	least, mean := math.Inf(1), 1.0
	for _, t := range f.targets {
		for i, w := range t.weight {
			if w > 0 && 1/math.Sqrt(w) < least {
				least = 1 / math.Sqrt(w)
				mean = stiffness / (w * t.rate[i])
			}
		}
	}
	if least > math.MaxFloat64 {
		return 1
	}
	return mean / least
}

// pace sets the stiffness of rounds such that sweeps come near the end of each: softer
// while that is quick, stiffer where it is slow. What it sets comes to rest, since
// every turn makes its steps smaller.
type pace struct {
	last  float64
	turns int
}

// factor returns what to multiply the stiffness by, left being the share of a round's
// steps that was left in its last sweep; hard says that the loss has grown.
func (p *pace) factor(left float64, hard bool) float64 {
	way := 0.0
	switch {
	case hard:
		way = 2
	case left < fast:
		way = -1
	case left > slow:
		way = 1
	}
	if way*p.last < 0 {
		p.turns++
	}
	if way != 0 {
		p.last = way
	}
	return bitmath.Pow(change, way/(1+float64(p.turns)/5))
}

// round makes the sweeps of one round; it returns how much smaller the last one's steps
// are than the second one's.
func (f *fitting) round(ctx context.Context) (float64, error) {
	first := 0.0
	for sweep := range roundSweeps {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		f.moved = 0
		f.visit(0)
		if sweep == 1 {
			first = f.moved
		}
	}
	if first < settled {
		return 0, nil
	}
	return f.moved / first, nil
}

// certificate returns the loss of the model and a bound on how far it is above the least:
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
			gap -= float64(slope.log[i] * m)
		}
		slopes = append(slopes, slope)
	}
	return loss, max(gap+float64(f.total*f.tree.best(slopes, f.masks)), 0)
}

// best returns the largest sum of factors over all allowed rows.
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
