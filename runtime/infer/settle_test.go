package infer

import (
	"math"
	"testing"
)

// TestTestShare: a tenth of large tables, twice the rows of a verdict of smaller ones, at most two fifths, and a tenth
// again where those would be too few.
func TestTestShare(t *testing.T) {
	for rows, want := range map[int64]float64{0: .2, 70000: .1, 4000: .1, 3999: .15, 2000: .2, 1000: .4, 500: .4, 499: .1,
		1: .1} {
		if got := float64(testShare(rows)) / 20; math.Abs(got-want) > 1e-12 {
			t.Errorf("%d rows: %g, must be %g", rows, got, want)
		}
	}
}
