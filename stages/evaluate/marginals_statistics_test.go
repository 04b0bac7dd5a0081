package evaluate

import (
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/metric"
)

// TestDeviationsOfTimesHaveAUnit: 86400 seconds are a day. Both numbers are in one unit.
func TestDeviationsOfTimesHaveAUnit(t *testing.T) {
	for _, c := range []struct {
		of                      domain.ColumnType
		real, synthetic         float64
		wantReal, wantSynthetic string
	}{
		{domain.Date, 12.5, 3, "12.5 days", "3 days"},
		{domain.Datetime, 129600, 43200, "1.5 days", "0.5 days"},
		{domain.Datetime, 5400, 3600, "1.5 hours", "1 hours"},
		{domain.Time, 5400, 3600, "90 minutes", "60 minutes"},
		{domain.Numeric, 5400, 3600, "5400", "3600"},
	} {
		r := marginalRun{frames: map[string]*columns.Frame{"real": {Columns: []columns.Column{{Name: "at", Type: c.of}}}}}
		real, synthetic := r.words(judgedStatistic{Statistic: metric.Statistic{Of: "at", Name: metric.StatisticSD,
			Real: c.real, Other: c.synthetic}})
		if real != c.wantReal || synthetic != c.wantSynthetic {
			t.Errorf("%s: %s real, %s synthetic, must be %s and %s", c.of, real, synthetic, c.wantReal, c.wantSynthetic)
		}
	}
}
