package domain

import (
	"math"
	"strings"
	"testing"
)

// TestMomentForms: 2020-01-31T14:05:09 is second 1580479509 (date -u +%s). A form without seconds drops them; one of
// times of day has 14:05:09, second 50709 of its day.
func TestMomentForms(t *testing.T) {
	const at, ofDay = 1580479509, 14*3600 + 5*60 + 9
	for form, text := range map[string]string{
		"DD.MM.YYYY HH:mm": "31.01.2020 14:05", "M/D/YYYY h:mm AM": "1/31/2020 2:05 PM",
		"D/M/YYYY H:mm:ss":     "31/1/2020 14:05:09",
		"YYYY-MM-DDTHH:mm:ssZ": "2020-01-31T14:05:09Z", "YYYYMMDDHHmmss": "20200131140509",
		"HH:mm:ss, DD.MM.YYYY": "14:05:09, 31.01.2020",
		"HH:mm":                "14:05", "hh:mm:ss am": "02:05:09 pm", "HHmm": "1405", "YYYY年M月D日 HH:mm": "2020年1月31日 14:05",
	} {
		f, ok := ReadMomentForm(form)
		if !ok {
			t.Errorf("%q is no form", form)
			continue
		}
		value := int64(at)
		if f.OfDay() {
			value = ofDay
		}
		got, ok := f.Append(nil, value)
		if !ok || string(got) != text {
			t.Errorf("%s: written as %q, %t; must be %q", form, got, ok, text)
		}
		if !f.has('s') {
			value = value / 60 * 60
		}
		if back, ok := f.Parse([]byte(text)); !ok || back != value {
			t.Errorf("%s: %s is second %d, %t; must be %d", form, text, back, ok, value)
		}
		for _, wrong := range []string{"", "32.01.2020 14:05", "31.01.2020 24:00", "31.01.2020 14:60", "1/31/2020 13:05 PM",
			"1/31/2020 0:05 AM", text + " ", text[1:], "1:5"} {
			if x, ok := f.Parse([]byte(wrong)); ok && wrong != text[1:] {
				t.Errorf("%s: %q is second %d, must be none", form, wrong, x)
			}
		}
	}
	for _, form := range []string{"", "YYYY-MM-DD", "HH", "mm:ss", "HH:ss", "hh:mm", "HH:mm AM", "DD.MM HH:mm",
		"YYYY-MM-DD ZHH:mm", "HH:mm:mm", "MDYYYY HH:mm",
		"YYYY-MM-DDTHH:mm x", "YYYY-MM-DD HH:mm 1", "Hmm", "mm:HH", "DD.MM.YYYY DD HH:mm", "HH:mm\n", "YYYY-MM-DD+HH:mm",
		"HH:mmZ"} {
		if _, ok := ReadMomentForm(form); ok {
			t.Errorf("%q is a form, must be none", form)
		}
	}
}

// TestMomentFormsAreInverse: what a form writes it reads as the same whole minutes, whatever the day and hour.
func TestMomentFormsAreInverse(t *testing.T) {
	for _, form := range []string{"DD.MM.YYYY HH:mm", "M/D/YYYY h:mm AM", "H:mm D/M/YYYY", "YYYYMMDDHHmm",
		"hh:mm:ssam YYYY/MM/DDZ"} {
		f, ok := ReadMomentForm(form)
		if !ok {
			t.Fatalf("%q is no form", form)
		}
		for pos := int64(FirstSecond); pos <= LastSecond; pos += 60 * 1234577 {
			text, _ := f.Append(nil, pos)
			if back, ok := f.Parse(text); !ok || back != pos {
				t.Fatalf("%s: second %d is written %q and read as %d, %t", form, pos, text, back, ok)
			}
		}
	}
}

// TestISOMoments: seconds and their fraction may be there or not, a blank stands for T, and an offset is taken off
// where the column has a zone and refused elsewhere. 1580471109 is 1580479509 less 8400 seconds, two hours and twenty
// minutes.
func TestISOMoments(t *testing.T) {
	local, zoned, clock := Column{Type: Datetime, Step: 1}, Column{Type: Datetime, Step: 1, Zone: "UTC"},
		Column{Type: Time, Step: 60}
	for text, want := range map[string]int64{"2020-01-31T14:05:09": 1580479509, "2020-01-31 14:05:09.999": 1580479509,
		"2020-01-31T14:05":    1580479500,
		"1969-12-31T23:59:30": -30, "0000-01-01T00:00": FirstSecond, "9999-12-31T23:59:59": LastSecond} {
		if got, ok := local.ReadsMoments().Parse([]byte(text)); !ok || got != want {
			t.Errorf("%s is %d, %t; must be %d", text, got, ok, want)
		}
		if got, ok := zoned.ReadsMoments().Parse([]byte(text)); ok {
			t.Errorf("%s is %d in a column with a zone, must be none", text, got)
		}
	}
	for text, want := range map[string]int64{"2020-01-31T14:05:09Z": 1580479509, "2020-01-31 14:05:09.5+02:20": 1580471109,
		"2020-01-31T14:05:09-0220": 1580487909, "2020-01-31T14:05+00": 1580479500} {
		if got, ok := zoned.ReadsMoments().Parse([]byte(text)); !ok || got != want {
			t.Errorf("%s is %d, %t; must be %d", text, got, ok, want)
		}
		if got, ok := local.ReadsMoments().Parse([]byte(text)); ok {
			t.Errorf("%s is %d in a column without a zone, must be none", text, got)
		}
	}
	for text, want := range map[string]int64{"14:05": 50700, "14:05:09": 50709, "00:00": 0} {
		if got, ok := clock.ReadsMoments().Parse([]byte(text)); !ok || got != want || clock.Down(got) != want/60*60 {
			t.Errorf("%s is %d, %t; must be %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"2020-01-31", "2020-02-30T00:00", "2020-01-31T14", "2020-01-31T14:05:",
		"2020-01-31T14:05:09.", "2020-01-31t14:05", "20-01-31T14:05", "0000-01-01T00:00:00+01:00", "2020-01-31T14:05+1",
		"2020-01-31T14:05+24:00", "2020-01-31T14:05+01:"} {
		for _, c := range []Column{local, zoned} {
			if got, ok := c.ReadsMoments().Parse([]byte(text)); ok {
				t.Errorf("%s is %d, must be none", text, got)
			}
		}
	}
	if got := local.Down(-30); got != -30 {
		t.Errorf("second -30 is read as %d", got)
	}
	if got := (&Column{Type: Datetime, Step: 3600}).Down(-30); got != -3600 {
		t.Errorf("second -30 is in the hour from %d, must be -3600", got)
	}
}

// TestMomentColumns: what a column of times cannot be is told.
func TestMomentColumns(t *testing.T) {
	for want, c := range map[string]Column{
		"": {Name: "a", Type: Datetime, Step: 60, Bounds: &[2]float64{0, 86400},
			Format: "DD.MM.YYYY HH:mm"},
		"columns[0].step: is missing": {Name: "a", Type: Time},
		"a number of seconds that":    {Name: "a", Type: Time, Step: 7},
		"inside [00:00, 23:59:59]":    {Name: "a", Type: Time, Step: 1, Bounds: &[2]float64{0, 86400}},
		"whole steps of 900 seconds, counted from midnight, such as [1970-01-01T00:00, 1970-01-01T00:15]": {Name: "a",
			Type: Datetime, Step: 900, Bounds: &[2]float64{30, 930}},
		"whole minutes, such as [1970-01-01T00:00, 1970-01-01T00:10]": {Name: "a",
			Type: Datetime, Step: 60, Bounds: &[2]float64{30, 600}},
		"a form with ss":                 {Name: "a", Type: Datetime, Step: 1, Format: "DD.MM.YYYY HH:mm"},
		"a form of times of day such as": {Name: "a", Type: Time, Step: 1, Format: "DD.MM.YYYY HH:mm"},
		"a form of date-times such as":   {Name: "a", Type: Datetime, Step: 1, Format: "HH:mm:ss"},
		"zone: UTC, or a form without Z": {Name: "a", Type: Datetime, Step: 60, Format: "YYYY-MM-DD HH:mmZ"},
		"UTC for type datetime":          {Name: "a", Type: Date, Zone: "UTC"},
		`"CET" of type datetime`:         {Name: "a", Type: Datetime, Step: 1, Zone: "CET"},
	} {
		ps := Check(&Domain{Columns: []Column{c}}, Declared)
		if want == "" && len(ps) > 0 || want != "" && (len(ps) != 1 || !strings.Contains(ps.Error(), want)) {
			t.Errorf("%+v: %v, must hold %q", c, ps, want)
		}
	}
}

// FuzzMoments: no form and no cell panics, and a cell that a form reads is read as the same value from what it writes.
func FuzzMoments(f *testing.F) {
	f.Add("DD.MM.YYYY HH:mm", "31.01.2020 14:05")
	f.Add("YYYY-MM-DDTHH:mm:ssZ", "2020-01-31T14:05:09.5+02:20")
	f.Add("h:mm AM", "2:05 PM")
	f.Fuzz(func(t *testing.T, text, cell string) {
		form, _ := ReadMomentForm(text)
		for _, form := range []MomentForm{form, (&Column{Type: Datetime}).ReadsMoments(),
			(&Column{Type: Time, Step: 1}).ReadsMoments()} {
			pos, read := form.Parse([]byte(cell))
			if !read || len(form.parts) == 0 {
				continue
			}
			again, written := form.Append(nil, pos)
			back, _ := form.Parse(again)
			if !written || back != pos {
				t.Fatalf("%q: %q is %d, written %q (%t) and read as %d", text, cell, pos, again, written, back)
			}
		}
	})
}

// TestDays: 1970-01-01 is day 0; 2000-03-01 is day 11017 (the count of RFC 3339 dates in
// POSIX seconds over 86,400), 1900-01-01 day -25567. Python: date(9999, 12, 31).toordinal()
// less the day of 1970-01-01 is 2932896; the year 0 is 366 days more before date.min.
func TestDays(t *testing.T) {
	c := Column{Type: Date}
	for text, day := range map[string]float64{"1970-01-01": 0, "1969-12-31": -1, "2000-03-01": 11017, "1900-01-01": -25567,
		"0000-01-01": FirstDay, "9999-12-31": LastDay} {
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

// TestShowOfMoments: as forms of ISO 8601 have them, from the first year to the last. A listing shows some 100,000
// values, so a value takes no more than its text.
func TestShowOfMoments(t *testing.T) {
	for _, c := range []*Column{{Type: Datetime, Step: 60}, {Type: Datetime, Step: 1}, {Type: Time, Step: 60},
		{Type: Time, Step: 1}} {
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
