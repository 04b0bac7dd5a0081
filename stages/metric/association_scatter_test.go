package metric_test

import (
	"testing"

	"weir/stages/internal/learn"
	"weir/stages/metric"
)

// TestScatterWithoutColumns: tables may have no column in common, be it because of what their rows hold: that
// must not stop a run (found by internal/soak).
func TestScatterWithoutColumns(t *testing.T) {
	s := metric.NewScatter(0)
	s.Add(learn.Matrix{Rows: 3})
	if s.Rows() != 0 {
		t.Errorf("%d rows without a column", s.Rows())
	}
}
