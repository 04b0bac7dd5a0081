package graphical

import (
	"weir/pipeline"
	"weir/stages/internal/rowcount"
)

// publicRows is the number of rows where it is public, else 0. Where it is private, what is
// said of the rows in all comes from released histograms.
func publicRows(h pipeline.Header) float64 {
	return float64(rowcount.Public(h))
}
