package graphical

import (
	"context"
	"math"

	"weir/train/graphical"
)

const (
	// clearly is how many standard deviations of its noise a cell of published tables has to
	// hold on average, for them to be fitted to the optimum.
	clearly = 5
	// publishedWork bounds the cells of a tree times sweeps to the optimum, some seconds.
	publishedWork, publishedSweeps = 50_000_000, 4_000
)

// fitPublished fits tables that others have published. Where noise drowns most of their
// cells the fit stops as every other does, where noise explains what is left: that is
// nearest to the table that was counted. Where noise is little the user wants the
// published cells back, and the stop would leave small ones too large, so the fit goes on
// to the least squares of all, as far as publishedWork goes; what is nearer to
// the tables is taken.
func fitPublished(ctx context.Context, t *graphical.Tree, rows float64, tables []graphical.Table, masks []graphical.Mask, o graphical.Options) (*graphical.Model, graphical.Report, error) {
	m, report, err := graphical.Fit(ctx, t, rows, tables, masks, o)
	if err != nil || !clearOf(rows, tables) {
		return m, report, err
	}
	o.Stop, o.Sweeps = -1, int(min(max(publishedWork/max(t.Cells(), 1), 60), publishedSweeps))
	further, last, err := graphical.Fit(ctx, t, rows, tables, masks, o)
	if err != nil {
		return nil, last, err
	}
	before, err := squares(m, tables)
	if err != nil {
		return nil, report, err
	}
	after, err := squares(further, tables)
	if err != nil || after > before {
		return m, report, err
	}
	return further, last, nil
}

// clearOf tells whether cells hold enough beside their noise. It sees released numbers.
func clearOf(rows float64, tables []graphical.Table) bool {
	held, noise := 0.0, 0.0
	for _, x := range tables {
		held += rows
		for _, v := range x.Var {
			noise += math.Sqrt(v)
		}
	}
	return held >= clearly*noise
}

// squares is the sum of squared distances of a model from tables, over variances.
func squares(m *graphical.Model, tables []graphical.Table) (float64, error) {
	sum := 0.0
	for _, x := range tables {
		y, err := m.Marginal(x.Vars)
		if err != nil {
			return 0, err
		}
		for k, v := range x.Var {
			if v == 0 {
				continue // exact, of every model
			}
			sum += (y[k] - x.Y[k]) * (y[k] - x.Y[k]) / v
		}
	}
	return sum, nil
}
