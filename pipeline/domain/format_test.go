package domain

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestNumberForms: forms as offices write them (Unicode CLDR's patterns of de, de-CH, fr, en, sv), each with cells
// that have the form and cells that do not. A group of other than three digits is no group: 1.5 is not 15.
func TestNumberForms(t *testing.T) {
	for form, cells := range map[string]map[string]string{
		"1.234,5": {"1.234,5": "1234.5", "1234,5": "1234.5", "-12,25": "-12.25", "1.234.567": "1234567", "0": "0",
			"1.5": "", "1.23,4": "", "1,": "", ",5": "", "1.234.": "", "": "", "1e5": "", "--1": ""},
		"1,5": {"3,75": "3.75", "4": "4", "1.234,5": "", "1 234,5": ""},
		"$1,234.5": {"$1,234.50": "1234.50", "-$12": "-12", "$-12": "-12", "-$-12": "", "12.5": "12.5", " $ 7 ": "7",
			"€7": ""},
		"1\u202f234,5 €": {"12\u202f345,67 €": "12345.67", "12,5€": "12.5", "12,5": "12.5", "-3 €": "-3"},
		"1,5 %":          {"12,5 %": "12.5", "12,5%": "12.5", "7": "7", "7 %%": ""},
		"1'234":          {"12'345": "12345", "12345": "12345", "1'23": "", "12'345.5": ""},
		"1 234.5 mg/l":   {"1 234.5 mg/l": "1234.5", "2 mg/l": "2", "2 mg": ""},
		"EUR 1,5":        {"EUR 7,5": "7.5", "-EUR 7": "-7", "7": "7"},
		"°1.5":           {"°3.5": "3.5"},
	} {
		f, ok := ReadNumberForm(form)
		if !ok {
			t.Errorf("%q is no form", form)
		}
		for cell, want := range cells {
			got, ok := f.AppendDecimal(nil, []byte(cell))
			if ok != (want != "") || ok && string(got) != want {
				t.Errorf("%q: cell %q is %q, %t; must be %q", form, cell, got, ok, want)
			}
		}
	}
	for _, form := range []string{"", "5", "12,5", "1.234.5", "1,234,5", "2,5", "1,6", "=1,5", "+1,5", "-1,5", "1,5\n",
		"x.1", "A1", "EUR1,5", "1.2345", strings.Repeat("e", 17) + "1.5"} {
		if f, ok := ReadNumberForm(form); ok {
			t.Errorf("%q is the form %+v, must be none", form, f)
		}
	}
}

// TestNumberFormsAreInverse: what a form writes it reads back, digit by digit.
func TestNumberFormsAreInverse(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, form := range []string{"1.234,5", "1,5", "$1,234.5", "1\u202f234,5 €", "1,5 %", "1 234.5 mg/l"} {
		f, _ := ReadNumberForm(form)
		for range 2000 {
			plain := strconv.FormatFloat(float64(r.Int64N(2_000_000)-1_000_000)/float64(int(1)<<r.IntN(8)), 'f', -1, 64)
			cell := f.Append(nil, []byte(plain))
			if back, ok := f.AppendDecimal(nil, cell); !ok || string(back) != plain {
				t.Fatalf("%q: %s is written %q and read back as %q, %t", form, plain, cell, back, ok)
			}
		}
	}
	f, _ := ReadNumberForm("€ 1.234,5")
	if got := string(f.Append(nil, []byte("-1234567.25"))); got != "-€ 1.234.567,25" {
		t.Errorf("%q, must be -€ 1.234.567,25", got)
	}
}

// TestDayForms: the same day in several forms, and what no form is. 2020-01-31 is day 18292 (POSIX seconds over
// 86,400).
func TestDayForms(t *testing.T) {
	for form, text := range map[string]string{"DD.MM.YYYY": "31.01.2020", "M/D/YYYY": "1/31/2020", "D/M/YYYY": "31/1/2020",
		"YYYYMMDD": "20200131", "DD-MM-YYYY": "31-01-2020", "YYYY/M/D": "2020/1/31"} {
		f, ok := ReadDayForm(form)
		if !ok {
			t.Errorf("%q is no form", form)
			continue
		}
		if day, ok := f.Parse(text); !ok || day != 18292 {
			t.Errorf("%s: %s is day %d, %t; must be 18292", form, text, day, ok)
		}
		if got, ok := f.Append(nil, 18292); !ok || string(got) != text {
			t.Errorf("%s: day 18292 is written %q, must be %q", form, got, text)
		}
		for _, wrong := range []string{"", "32.01.2020", "2020-13-01", "31.01.20", "0/1/2020", "31/31/2020"} {
			if day, ok := f.Parse(wrong); ok {
				t.Errorf("%s: %q is day %d, must be none", form, wrong, day)
			}
		}
	}
	for _, form := range []string{"", "DD.MM.YY", "MM/MM/YYYY", "DD.MM", "DMYYYY", "YYYY-MM-DD hh", "Jan 2 2006",
		"2006-01-02",
		"YYYY-MDD", "MM-DYYYY", "YYYY年MD", "YYYY_M_D", "M_D_YYYY", "YYYY\nMM\nDD"} {
		if f, ok := ReadDayForm(form); ok {
			t.Errorf("%q is the form %q, must be none", form, f)
		}
	}
}

// TestDayFormsAreInverse: what a form writes, it reads as the same day. Parts and separators are all that there are of
// their sorts; the days are 800 from 2019-01-01 on, day 17897.
func TestDayFormsAreInverse(t *testing.T) {
	for _, parts := range [][3]string{{"YYYY", "MM", "DD"}, {"YYYY", "M", "D"}, {"D", "M", "YYYY"}, {"M", "D", "YYYY"},
		{"DD", "MM", "YYYY"}, {"M", "DD", "YYYY"}, {"YYYY", "D", "MM"}} {
		for _, first := range []string{"", ".", "_", "年"} {
			for _, second := range []string{"", "/", "_", "月"} {
				form := parts[0] + first + parts[1] + second + parts[2]
				f, ok := ReadDayForm(form)
				for day := int64(17897); ok && day < 17897+800; day++ {
					text, _ := f.Append(nil, day)
					if back, read := f.Parse(string(text)); !read || back != day || strings.Count(string(text), "_") != strings.Count(
						form, "_") {
						t.Fatalf("%s: day %d is written %q and read as %d, %t", form, day, text, back, read)
					}
				}
			}
		}
	}
}

// TestFormatsFitTheirColumns: a format that no cell of the column can have is a problem of the domain.
func TestFormatsFitTheirColumns(t *testing.T) {
	for want, c := range map[string]Column{
		"":                      {Name: "a", Type: Numeric, Format: "1.234,5"},
		"a form of dates":       {Name: "a", Type: Date, Format: "1,5"},
		"the number 1234.5":     {Name: "a", Type: Integer, Format: "DD.MM.YYYY"},
		"left out, or the type": {Name: "a", Type: Text, Format: "1,5"},
		"or a whole step":       {Name: "a", Type: Numeric, Format: "1.234"},
	} {
		ps := Check(&Domain{Columns: []Column{c}}, Declared)
		if want == "" && len(ps) > 0 || want != "" && (len(ps) != 1 || !strings.Contains(ps.Error(), want)) {
			t.Errorf("%+v: %v, must hold %q", c, ps, want)
		}
	}
}

// TestConditionsAreNotSpelledAsFiles: what is spelled by the format of a column is refused in conditions and rules, and
// the message says that files alone have the format.
func TestConditionsAreNotSpelledAsFiles(t *testing.T) {
	d := &Domain{Columns: []Column{{Name: "born", Type: Date, Format: "DD.MM.YYYY", Bounds: &[2]float64{0, 20000}},
		{Name: "paid", Type: Numeric, Format: "1.234,5", Bounds: &[2]float64{0, 9000}}, {Name: "n", Type: Integer}}}
	for column, wrong := range map[string]string{"born": "31.01.2020..", "paid": "1.234,5"} {
		_, ps := ReadWhere(d, "where", map[string]Choice{column: {wrong}})
		if want := fmt.Sprintf("spelled so although files spell it by the format %q", d.Column(column).Format); len(ps) !=
			1 || !strings.HasSuffix(ps[0].Accepted, want) {
			t.Errorf("%s: %v, must end with %s", column, ps, want)
		}
	}
	if _, ps := ReadWhere(d, "where", map[string]Choice{"n": {"x"}}); len(ps) != 1 || strings.Contains(ps.Error(),
		"format") {
		t.Errorf("a column without a format: %v", ps)
	}
	if _, ps := ReadWhere(d, "where", map[string]Choice{"born": {"2020-01-31.."}, "paid": {"1234.5"}}); len(ps) > 0 {
		t.Error(ps)
	}
}
