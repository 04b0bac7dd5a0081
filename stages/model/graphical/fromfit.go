package graphical

import (
	"context"
	"math"

	"weir/train/graphical"
)

const (
	// clearly is how many standard deviations of its noise a cell of published tables has to
	// hold on average, for them to be fitted closer than the noise asks.
	clearly = 5
	// closely and closelySweeps take the place of Options.Stop and Options.Sweeps then.
	closely, closelySweeps = 0.02, 600
)

// fitPublished fits tables that others have published. Where noise drowns most of their
// cells the fit stops as every other does, where noise explains what is left: that is
// nearest to the table that was counted. Where noise is little the user wants the
// published cells back, and the stop would leave small ones too large, so the fit goes on.
func fitPublished(ctx context.Context, t *graphical.Tree, rows float64, tables []graphical.Table, masks []graphical.Mask, o graphical.Options) (*graphical.Model, graphical.Report, error) {
	if clearOf(rows, tables) {
		o.Stop, o.Sweeps = closely, closelySweeps
	}
	return graphical.Fit(ctx, t, rows, tables, masks, o)
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
