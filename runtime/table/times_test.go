package table

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// timesDomain returns the domain of testdata/times/rows.csv; make.py says what is in it.
func timesDomain() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "local", Type: domain.Datetime, Step: 1, Nullable: true}, {Name: "instant", Type: domain.Datetime, Step: 1,
			Zone: "UTC", Nullable: true},
		{Name: "clock", Type: domain.Time, Step: 1, Nullable: true}, {Name: "money", Type: domain.Numeric, Step: 0.01,
			Nullable: true},
		{Name: "share", Type: domain.Numeric, Step: 0.001}, {Name: "wide", Type: domain.Text, Nullable: true}, {Name: "count",
			Type: domain.Integer},
	}}
}

// timesRead returns the table and the text of rows.csv.
func timesRead(t *testing.T, files fstest.MapFS) (rows []string, text string) {
	t.Helper()
	data, err := os.ReadFile("testdata/times/rows.csv")
	if err != nil {
		t.Fatal(err)
	}
	files["rows.csv"] = &fstest.MapFile{Data: data}
	d := timesDomain()
	d.Columns[5].Type = domain.Numeric
	table, err := Open(files, "rows.csv", nil, d)
	if err != nil {
		t.Fatal(err)
	}
	return cellsOf(t, table), string(data)
}

// TestTimesOfOthers compares every cell of every file of testdata/times with rows.csv: timestamps with and without a
// zone, of seconds to nanoseconds and of 96 bits, times of day, and decimals in every way in which Parquet stores them.
func TestTimesOfOthers(t *testing.T) {
	files, names := filesOf(t, "testdata/times/*.*a*r*", 9)
	want, _ := timesRead(t, files)
	for _, name := range names {
		d := timesDomain()
		d.Columns[5].Type = domain.Numeric
		csv := &pipeline.CSV{}
		if strings.HasPrefix(name, "pyarrow-int96") {
			d.Columns = d.Columns[:1]
		}
		table, err := Open(files, name, csv, d)
		if err != nil {
			t.Error(err)
			continue
		}
		got := cellsOf(t, table)
		for i := range want {
			if i >= len(got) || !strings.HasPrefix(want[i], got[i]) {
				t.Errorf("%s: row %d of %d is %s, must be %s", name, i, len(got), got[min(i, len(got)-1)], want[i])
				break
			}
		}
	}
}

// TestDecimalsAreSpelledExactly: a decimal of 38 digits keeps them all, as text for which the domain has categories or
// as what infer sees.
func TestDecimalsAreSpelledExactly(t *testing.T) {
	files, names := filesOf(t, "testdata/times/*.*a*r*", 9)
	_, text := timesRead(t, files)
	for _, name := range names {
		if strings.HasPrefix(name, "pyarrow-int96") {
			continue
		}
		raw, err := OpenRaw(t.Context(), files, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		out.WriteString(strings.Join(raw.Names, ",") + "\n")
		for row, err := range raw.Rows {
			if err != nil {
				t.Fatal(err)
			}
			out.Write(append(bytes.Join(row, []byte(",")), '\n'))
		}
		if out.String() != text {
			t.Errorf("%s is spelled\n%.400s\nmust be\n%.400s", name, out.String(), text)
		}
	}
}

// TestTimesLeaveAsTheyCame: rows.csv is written as the same bytes, and Parquet comes back as the same rows, with the
// types of times.
func TestTimesLeaveAsTheyCame(t *testing.T) {
	files := fstest.MapFS{}
	want, text := timesRead(t, files)
	d := timesDomain()
	got, err := rewritten(text, nil, d)
	if err != nil || got != text {
		t.Errorf("written as\n%.300s\n(%v), must be\n%.300s", got, err, text)
	}
	d.Columns[5].Type = domain.Numeric
	table, err := Open(files, "rows.csv", nil, d)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := (parquetFormat{}).Write(t.Context(), &out, "", table, Style{}); err != nil {
		t.Fatal(err)
	}
	files["out.parquet"] = &fstest.MapFile{Data: out.Bytes()}
	again, err := Open(files, "out.parquet", nil, d)
	if err != nil {
		t.Fatal(err)
	}
	if rows := cellsOf(t, again); strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("read back as\n%.300s", strings.Join(rows, "\n"))
	}
	s, err := parquetFor(files, "out.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for i, kind := range []string{"timestamp[us]", "timestamp[us, tz=UTC]", "time64[us]"} {
		if f := s.Schema.Field(i); f.Type.String() != kind {
			t.Errorf("column %s is stored as %s, must be %s", f.Name, f.Type, kind)
		}
	}
}

// TestZonesAreDeclared: a zone that the file has and the domain does not say, and the other way round, is told by the
// line that mends it.
func TestZonesAreDeclared(t *testing.T) {
	files, _ := filesOf(t, "testdata/times/*.*a*r*", 9)
	for _, name := range []string{"pyarrow.parquet", "pyarrow.arrow"} {
		d := timesDomain()
		d.Columns[0].Zone, d.Columns[1].Zone = "UTC", ""
		_, err := Open(files, name, nil, d)
		for _, want := range []string{`column "local": is stored as timestamp`, "for one without a zone leave zone out",
			`column "instant": is stored as timestamp`, "for one with a zone declare zone: UTC"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, must say %q", name, err, want)
			}
		}
	}
	zoned := &domain.Domain{Columns: []domain.Column{{Name: "at", Type: domain.Datetime, Step: 60, Zone: "UTC",
		Format: "DD.MM.YYYY HH:mm"}}}
	if got, err := rewritten("at\n31.01.2020 14:05\n", nil, zoned); err != nil || got != "at\n31.01.2020 14:05\n" {
		t.Errorf("%q, %v: cells of a form without an offset are in the zone of the column", got, err)
	}
}

// TestTimesOfAForm: cells that are read by the form of their column and down to its step, and cells of another form,
// which are told by place and never quoted.
func TestTimesOfAForm(t *testing.T) {
	for name, c := range map[string]struct {
		column      domain.Column
		cells, want string // written so; or the rule that the last cell breaks
	}{
		"German": {domain.Column{Type: domain.Datetime, Step: 60, Format: "DD.MM.YYYY HH:mm"}, "31.01.2020 14:05",
			"31.01.2020 14:05"},
		"American": {domain.Column{Type: domain.Datetime, Step: 60, Format: "M/D/YYYY h:mm AM"}, "1/31/2020 2:05 PM",
			"1/31/2020 2:05 PM"},
		"down to the hour": {domain.Column{Type: domain.Datetime, Step: 3600}, "1960-01-31T14:59:59.9", "1960-01-31T14:00"},
		"down to the day": {domain.Column{Type: domain.Datetime, Step: 86400, Format: "YYYY-MM-DD HH:mm:ss"},
			"1960-01-31 23:59:59", "1960-01-31 00:00:00"},
		"quarters": {domain.Column{Type: domain.Time, Step: 900}, "12:44", "12:30"},
		"zone": {domain.Column{Type: domain.Datetime, Step: 60, Zone: "UTC"}, "2020-01-31 14:05:30+02:00",
			"2020-01-31T12:05Z"},
		"month and day": {domain.Column{Type: domain.Datetime, Step: 60, Format: "M/D/YYYY H:mm"}, "31/1/2020 14:05",
			"line 2: column \"c\": is not a date or time in the column's format"},
		"offset of nobody": {domain.Column{Type: domain.Datetime, Step: 60}, "2020-01-31T14:05Z",
			"line 2: column \"c\": is not a date-time; accepted: YYYY-MM-DDTHH:mm"},
		"no offset": {domain.Column{Type: domain.Datetime, Step: 60, Zone: "UTC"}, "2020-01-31T14:05",
			"line 2: column \"c\": is not a date-time with an offset from UTC"},
		"no time of day": {domain.Column{Type: domain.Time, Step: 60}, "24:00",
			"line 2: column \"c\": is not a time of day"},
		"a date":            {domain.Column{Type: domain.Datetime, Step: 60}, "2020-01-31", "is not a date-time"},
		"missing otherwise": {domain.Column{Type: domain.Time, Step: 60, Missing: []string{"99:99"}}, "99:99", "99:99"},
		"missing a value": {domain.Column{Type: domain.Time, Step: 60, Missing: []string{"00:00"}, Nullable: true}, "00:00",
			`""`},
	} {
		c.column.Name = "c"
		if ps := domain.Check(&domain.Domain{Columns: []domain.Column{c.column}}, domain.Declared); len(ps) > 0 {
			t.Fatal(ps)
		}
		got, err := rewritten("c\n"+c.cells+"\n", nil, &domain.Domain{Columns: []domain.Column{c.column}})
		switch {
		case err == nil && got != "c\n"+c.want+"\n":
			t.Errorf("%s: %s is written as %q, must be %s", name, c.cells, got, c.want)
		case err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.cells)):
			t.Errorf("%s: %v, must hold %q and not %q", name, err, c.want, c.cells)
		}
	}
}

// TestDate64IsFloored: a millisecond lies in the day that holds it, before 1970 as after;
// the day of -1 ms is 1969-12-31, which is day -1.
func TestDate64IsFloored(t *testing.T) {
	const day = 24 * 60 * 60 * 1000
	list := array.NewDate64Builder(memory.DefaultAllocator)
	list.AppendValues([]arrow.Date64{0, 1, day - 1, day, -1, -day, -day - 1, math.MinInt64}, nil)
	want := []int64{0, 0, 0, 1, -1, -1, -2, -106751991168} // the last: floor(-2^63 / 86,400,000)
	b := newBuilder(&domain.Column{Name: "day", Type: domain.Date}, &dialect{}, 8).(*ints)
	add := intAdder(b, list.NewArray())
	for i, w := range want {
		if rule := add(i); rule != "" || b.values[i] != w {
			t.Errorf("value %d is day %d (%s), must be %d", i, b.values[i], rule, w)
		}
	}
}
