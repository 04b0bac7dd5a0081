package domain

import (
	"math"
	"testing"
)

// TestDays: 1970-01-01 is day 0; 2000-03-01 is day 11017 (the count of RFC 3339 dates in
// POSIX seconds over 86,400), 1900-01-01 day -25567. Python: date(9999, 12, 31).toordinal()
// less that of 1970-01-01 is 2932896; the year 0 is 366 days more before date.min.
func TestDays(t *testing.T) {
	c := Column{Type: Date}
	for text, day := range map[string]float64{"1970-01-01": 0, "1969-12-31": -1, "2000-03-01": 11017, "1900-01-01": -25567, "0000-01-01": FirstDay, "9999-12-31": LastDay} {
		if got, ok := ParseDay(text); !ok || got != day {
			t.Errorf("%s is day %v, must be %v", text, got, day)
		}
		if got := c.Show(day); got != text {
			t.Errorf("day %v is written %s, must be %s", day, got, text)
		}
	}
	for _, text := range []string{"", "2001-02-30", "01/02/2001", "2001-1-2", "11017"} {
		if day, ok := ParseDay(text); ok {
			t.Errorf("%q is day %v, must be no date", text, day)
		}
	}
	for day, want := range map[float64]string{FirstDay - 1: "-719529", LastDay + 1: "2.932897e+06"} {
		if got := c.Show(day); got != want {
			t.Errorf("day %v, which no file spells, is written %s, must be %s", day, got, want)
		}
	}
	if got := (&Column{Type: Integer}).Show(11017); got != "11017" {
		t.Errorf("a whole number is written %s", got)
	}
}

// TestShowOfMoments: as forms of ISO 8601 have them, from the first year to the last. A listing shows some 100,000 values,
// so a value takes no more than its text.
func TestShowOfMoments(t *testing.T) {
	for _, c := range []*Column{{Type: Datetime, Step: 60}, {Type: Datetime, Step: 1}, {Type: Time, Step: 60}, {Type: Time, Step: 1}} {
		least, greatest := c.Type.Span()
		for _, x := range []float64{least, least + 61, 0, 60, 3661, greatest - 59, greatest} {
			fine := Column{Type: c.Type, Step: 60}
			if math.Mod(x, 60) != 0 {
				fine.Step = 1
			}
			want, _ := fine.MomentForm().Append(nil, int64(x))
			if got := c.Show(x); got != string(want) {
				t.Errorf("%s %g is shown as %s, must be %s", c.Type, x, got, want)
			}
		}
		if n := testing.AllocsPerRun(10, func() { c.Show(3661) }); n > 2 {
			t.Errorf("%s: a value takes %g allocations, must take 2 or less", c.Type, n)
		}
	}
}
