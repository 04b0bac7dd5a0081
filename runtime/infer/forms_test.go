package infer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/runtime/table"
)

// column returns a file of one named column beside a counter, one row for each cell, many times over.
func column(cells ...string) string {
	var b strings.Builder
	b.WriteString("row;value\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%d.5;%s\n", i, cells[i%len(cells)])
	}
	return b.String()
}

// TestFormsAreDrafted: what the cells show is declared, what they leave open is asked, and what is not a number is
// none.
func TestFormsAreDrafted(t *testing.T) {
	for name, c := range map[string]struct {
		cells []string
		want  string
	}{
		"decimal comma": {[]string{"1,5", "22,25", "-7"}, "type: numeric\n    bounds: [-7, 22.25]" + confirm +
			"\n    step: 0.01\n    format: \"1,5\""},
		"German money":   {[]string{"1.234,50 €", "2 €", "12.345.678,25 €"}, "bounds: [2, 12345678.25]"},
		"American money": {[]string{"$1,234.50", "-$7.25"}, "format: \"$1,234.5\""},
		"percent": {[]string{"12,5 %", "99 %"}, "type: numeric\n    bounds: [12.5, 99]" + confirm +
			"\n    step: 0.1\n    format: \"1,5 %\""},
		"a unit": {[]string{"7.5 mg", "12.25 mg"}, "format: \"1.5 mg\""},
		"Swiss":  {[]string{"12'345", "1'000'000"}, "type: integer\n    bounds: [12345, 1000000]"},
		"German dates": {[]string{"31.01.2020", "01.02.2020"},
			"type: date # days; written as DD.MM.YYYY in files"},
		"American dates": {[]string{"1/31/2020", "2/1/2020"}, "format: \"M/D/YYYY\""},
		"years first":    {[]string{"2020/01/31", "2020/02/01"}, "format: \"YYYY/MM/DD\""},
		"day or month": {[]string{"01/02/2020", "03/04/2020"}, "no cell tells which of these it is: type: " +
			"date, format: DD/MM/YYYY, or type: date, format: MM/DD/YYYY"},
		"thousands or decimals": {[]string{"1,234", "5,678"},
			`no cell tells which of these it is: type: numeric, format: "1,5", or type: numeric, format: "1,234"`},
		"names with numbers":       {[]string{"P001", "P002", "P003"}, `type: categorical`},
		"codes with leading zeros": {[]string{"01067", "80331", "10115"}, `categories: ["01067", "10115", "80331"]`},
		"short codes with zeros": {[]string{"01", "02"}, "type: categorical # codes with leading zeros, which stay as " +
			"they are"},
		"blanks part thousands": {[]string{"1 234,5 %", "12,5 %"}, "format: \"1 234,5 %\""},
		"versions":              {[]string{"1.2.3", "1.2.4"}, `type: categorical`},
		"ISO date-times": {[]string{"2020-01-31T14:05:09", "2020-02-01T00:00:30"}, "type: datetime # written as " +
			"YYYY-MM-DDTHH:mm:ss in files, as 2019-04-30T08:00 in bounds and constraints; a coarser step is easier to learn\n " +
			"   bounds: [2020-01-31T14:05:09, 2020-02-01T00:00:30]" + confirm + "\n    step: second\n    source"},
		"some without seconds": {[]string{"2020-01-31T14:05:09", "2020-02-01T00:00"}, "step: second\n    source"},
		"seconds that are zero": {[]string{"2020-01-31 14:05:00", "2020-02-01 00:30:00"},
			"step: minute\n    format: \"YYYY-MM-DD HH:mm:ss\"\n"},
		"pandas' offsets": {[]string{"2020-01-31 14:00:00+00:00", "2020-02-01 01:00:00+02:00"},
			"bounds: [2020-01-31T14:00, 2020-01-31T23:00]" + confirm +
				"\n    step: hour\n    format: \"YYYY-MM-DD HH:mm:ssZ\"\n    zone: UTC\n"},
		"German date-times": {[]string{"31.01.2020 14:05", "01.02.2020 09:30"},
			"step: minute\n    format: \"DD.MM.YYYY HH:mm\"\n"},
		"American date-times": {[]string{"1/31/2020 2:05 PM", "12/1/2020 11:30 AM"}, "format: \"M/D/YYYY h:mm AM\"\n"},
		"times of day": {[]string{"12:30", "09:15"}, "type: time # written as HH:mm in files, as 08:00 in " +
			"bounds and constraints; a coarser step is easier to learn\n    bounds: [00:00, 23:59] # the whole day\n    step: " +
			"minute\n"},
		"short times of day": {[]string{"12:30:15", "9:15:00"},
			"bounds: [00:00, 23:59:59] # the whole day\n    step: second\n    format: \"H:mm:ss\"\n"},
		"day or month, and a time": {[]string{"01/02/2020 14:05", "03/04/2020 14:05"},
			`no cell tells which of these it is: type: datetime, format: "DD/MM/YYYY HH:mm", or type: datetime, format: "MM/DD/YYYY HH:mm"`},
		"ratios":                    {[]string{"12:30:15:1", "1:2"}, "type: categorical"},
		"plain decimals, untouched": {[]string{"1.5", "2.25"}, "step: 0.01\n    source"},
	} {
		out := draftOf(t, column(c.cells...))
		if !strings.Contains(out, c.want) {
			t.Errorf("%s: draft lacks %q:\n%s", name, c.want, out)
		}
	}
}

// TestSpellingsAlikeAreDraftedAsAliases: what differs in case and blanks is one category, to be confirmed; the draft
// reads the file, whose rows have the two categories.
func TestSpellingsAlikeAreDraftedAsAliases(t *testing.T) {
	if out := draftOf(t, column("HOMBRE", "Hombre", "mujer")); !strings.Contains(out, `categories: ["Hombre", "mujer"]`) {
		t.Errorf("the spelling with fewer capitals is not the category:\n%s", out)
	}
	text := column("Yes", "yes", "YES", "no", "No")
	out := draftOf(t, text)
	want := "categories: [\"no\", \"yes\"]" + confirm + "\n    aliases: # spelled alike in the file: confirm that each " +
		"is one value\n      \"no\": [\"No\"]\n      \"yes\": [\"YES\", \"Yes\"]\n"
	if !strings.Contains(out, want) {
		t.Fatalf("draft lacks %q:\n%s", want, out)
	}
	d, err := spec.ParseDomain("d.yaml", []byte(strings.ReplaceAll(out, "UNDECIDED", "public")))
	if err != nil {
		t.Fatal(err)
	}
	tab, err := table.Open(fstest.MapFS{"f.csv": {Data: []byte(text)}}, "f.csv", &pipeline.CSV{Delimiter: ";"}, d)
	if err != nil {
		t.Fatal(err)
	}
	if got := tab.Domain.Columns[1].Aliases; got != nil {
		t.Errorf("the table knows the aliases %v; it has categories alone", got)
	}
	var again bytes.Buffer
	if err := table.WriteText(t.Context(), &again, tab, table.Style{}); err != nil {
		t.Fatal(err)
	}
	if yes, no := strings.Count(again.String(), ",yes\n"), strings.Count(again.String(), ",no\n"); yes != 36 || no != 24 {
		t.Errorf("%d rows of yes and %d of no, must be 36 and 24", yes, no)
	}
}

// TestDraftedFormsReadTheirFiles: a draft, once decided, reads its file, and what is written by it drafts the same.
func TestDraftedFormsReadTheirFiles(t *testing.T) {
	for _, cells := range [][]string{{"1,5", "22,25", "-7,75"}, {"1.234,50 €", "2,00 €"}, {"$1,234.50", "-$7.25"},
		{"12'345", "1'000'000"},
		{"31.01.2020", "01.02.2020"}, {"1/31/2020", "2/1/2020"}, {"12,5 %", "99,0 %"},
		{"2020-01-31T14:05:09", "2020-02-01T00:00:30"},
		{"2020-01-31 14:05:00", "2020-02-01 00:30:00"}, {"2020-01-31 14:00:00Z", "2020-02-01 01:00:00Z"},
		{"31.01.2020 14:05", "01.02.2020 09:30"},
		{"1/31/2020 2:05 PM", "12/1/2020 11:30 AM"}, {"12:30", "09:15"}, {"12:30:15", "9:15:00"},
		{"2020-01-31T00:00:00", "2020-02-01T00:00:00"}} {
		text := column(cells...)
		out := draftOf(t, text)
		d, err := spec.ParseDomain("d.yaml", []byte(strings.ReplaceAll(out, "UNDECIDED", "public")))
		if err != nil {
			t.Fatalf("%v: %v\n%s", cells, err, out)
		}
		files := fstest.MapFS{"f.csv": {Data: []byte(text)}}
		csv := &pipeline.CSV{Delimiter: ";"}
		tab, err := table.Open(files, "f.csv", csv, d)
		if err != nil {
			t.Fatalf("%v: %v", cells, err)
		}
		w, err := table.WriterOf("f.csv")
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := w.Write(t.Context(), &again, "f.csv", tab, table.Style{CSV: csv}); err != nil {
			t.Errorf("%v: %v", cells, err)
		}
		if second := draftOf(t, again.String()); second != out {
			t.Errorf("%v: what is written is drafted as\n%s\nmust be\n%s", cells, second, out)
		}
	}
}

// TestNamedSpellingsOfMissing: a spelling of missing that a person names leaves the form of the other cells, in a file
// whose delimiter, comment and header nobody named; a person who says that there is no header is believed.
func TestNamedSpellingsOfMissing(t *testing.T) {
	text := "% made by hand\nvon;anteil;kurz\n01.02.2020;12,5 %;ja\nk. A.;k. A.;k. A.\n31.01.2020;3,0 " +
		"%;nein\n15.07.2021;k. A.;ja\n"
	files := fstest.MapFS{"f.csv": {Data: []byte(text)}}
	out, err := Draft(t.Context(), Files(files, table.One("f.csv")), &pipeline.CSV{Missing: []string{"k. A."},
		Comment: "%"})
	if err != nil {
		t.Fatal(err)
	}
	missing, end := confirm+"\n    missing: [\"k. A.\"]", "\n    source: UNDECIDED\n    nullable: true\n"
	for _, want := range []string{
		`csv: {delimiter: ";", comment: "%"}`, "bounds: [2020-01-31, 2021-07-15]" + missing +
			"\n    format: \"DD.MM.YYYY\"" + end,
		"bounds: [3, 12.5]" + missing + "\n    step: 0.1\n    format: \"1,5 %\"" + end,
		`categories: ["ja", "nein"]` + missing + end,
	} {
		if !strings.Contains(string(out.Domain), want) {
			t.Errorf("draft lacks %q:\n%s", want, out)
		}
	}
	no := false
	out, err = Draft(t.Context(), Files(files, table.One("f.csv")), &pipeline.CSV{Comment: "%", Header: &no})
	if err != nil || !strings.Contains(string(out.Domain), `csv: {delimiter: ";", header: false, comment: "%"}`) ||
		!strings.Contains(string(out.Domain), `"kurz"`) {
		t.Errorf("error %v, draft\n%s", err, out)
	}
}
