package graphical

import (
	"weir/pipeline"
	"weir/privacy"
)

// publicRows is the number of rows where it is public, else 0: under replace_one, with
// a row as unit, of a table whose count the header states and whose rows are their
// own. Everywhere else it is private, and what is said of the rows in all comes from
// released histograms.
func publicRows(h pipeline.Header) float64 {
	if h.Terms.Adjacency == privacy.ReplaceOne && h.Terms.Unit.Column == "" && h.OwnRows && h.Stability == pipeline.Rows(1) {
		return float64(max(0, h.Rows))
	}
	return 0
}
