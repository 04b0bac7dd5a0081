package report

import (
	"strings"
	"testing"
)

// TestCalendarTicks: marks are where a calendar or a clock is round, as `date -u -d 2026-05-14 +%s` and the like say,
// of the least step of which three fill the axis.
func TestCalendarTicks(t *testing.T) {
	const start = 1778716800 // date -u -d 2026-05-14 +%s
	for _, c := range []struct {
		kind   string
		lo, hi float64
		want   string
	}{
		{"date", 10000, 20000, "2000-01-01 2010-01-01 2020-01-01"}, // from 1997-05-19 to 2024-10-04
		{"date", -800, -100, "1968-01-01 1969-01-01"},              // from 1967-10-24 to 1969-09-23
		{"date", 20587, 20589, "2026-05-14 2026-05-15 2026-05-16"},
		{"datetime", start, start + 300*day, "2026-07-01 2027-01-01"}, // to 2027-03-10
		{"datetime", start, start + 2*day, "2026-05-14 2026-05-15 2026-05-16"},
		{"datetime", start + 10, start + 70, "2026-05-14T00:00:30 2026-05-14T00:01"},
		{"time", 0, day, "00:00 12:00"}, {"time", 3600 * 7, 3600 * 19, "12:00 18:00"},
		{"datetime", 0, 1e12, "1970-01-01T00:00 5e+11 1e+12"}, // beyond the year 9999
	} {
		var labels []string
		for _, m := range (calendarTicks{ticks{3}, Column{Type: c.kind}}).Ticks(c.lo, c.hi) {
			if m.Value < c.lo || m.Value > c.hi {
				t.Errorf("%s: %s stands at %g, outside %g to %g", c.kind, m.Label, m.Value, c.lo, c.hi)
			}
			labels = append(labels, m.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%s from %g to %g: %s, must be %s", c.kind, c.lo, c.hi, got, c.want)
		}
	}
}
