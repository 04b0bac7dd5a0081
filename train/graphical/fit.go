package graphical

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
