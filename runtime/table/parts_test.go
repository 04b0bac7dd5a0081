package table

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
)

// asCSV returns a table as text, by the writer of CSV.
func asCSV(t *testing.T, read pipeline.Table) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(t.Context(), &b, read, Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPartsAreOneTable: files of any format have the rows of one file that holds them all, in the order of the
// files, and both readings see the same ones.
func TestPartsAreOneTable(t *testing.T) {
	one := randomTable(rand.New(rand.NewPCG(3, 3)), every(), 2, 50)
	two := randomTable(rand.New(rand.NewPCG(4, 4)), every(), 1, 7)
	whole := asCSV(t, one)
	_, rest, _ := strings.Cut(asCSV(t, two), "\n")
	whole += rest
	text := func(of pipeline.Table) ([]byte, error) { return []byte(asCSV(t, of)), nil }
	for name, format := range map[string]func(pipeline.Table) ([]byte, error){
		"csv": text, "arrow": arrowBytes, "xlsx": excelBytes,
		"zst": func(of pipeline.Table) ([]byte, error) {
			data, err := text(of)
			return []byte(zstandard(t, string(data))), err
		},
		"parquet": func(of pipeline.Table) ([]byte, error) {
			var b bytes.Buffer
			err := writeParquet(t.Context(), &b, of)
			return b.Bytes(), err
		},
	} {
		files := fstest.MapFS{}
		parts := Parts{Name: "p-*", Files: []string{"p-1", "p-2"}}
		for i, of := range []pipeline.Table{one, two} {
			data, err := format(of)
			if err != nil {
				t.Fatal(err)
			}
			files[parts.Files[i]] = &fstest.MapFile{Data: data}
		}
		got, err := OpenParts(files, parts, nil, every(), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if all := asCSV(t, got); all != whole {
			t.Errorf("%s: other rows than those of one file:\n%s", name, all)
		}
		raw, err := OpenRawParts(t.Context(), files, parts, nil)
		n := 0
		for _, failed := range raw.Rows {
			n, err = n+1, errors.Join(err, failed)
		}
		if err != nil || n != 107 || !slices.Equal(raw.Names, every().Names()) {
			t.Errorf("%s: raw: %d rows of %v, %v; must be 107", name, n, raw.Names, err)
		}
	}
}

// TestPartsAreReadByTheNameOfTheTable: content does not tell a .tsv from a .csv, and what a pattern matches is no
// setting: equal content under one pattern is equal rows, whatever the files are called.
func TestPartsAreReadByTheNameOfTheTable(t *testing.T) {
	files := fstest.MapFS{"p.tsv": {Data: []byte("n,x,c\n1,2,red\n")}, "p.csv": {Data: []byte("n,x,c\n1,2,red\n")}}
	for _, file := range []string{"p.tsv", "p.csv"} {
		got, err := OpenParts(files, Parts{Name: "p.*", Files: []string{file}}, nil, small(), "")
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if rows := all(t, got).NumRows(); rows != 1 {
			t.Errorf("%s: %d rows, must be 1", file, rows)
		}
	}
	if _, err := OpenParts(files, Parts{Name: "p.*sv", Files: []string{"p.csv"}}, nil, small(), ""); err != nil {
		t.Error(err)
	}
	if _, err := OpenParts(files, Parts{Name: "*.tsv", Files: []string{"p.tsv"}}, nil, small(), ""); err == nil {
		t.Error("a pattern of .tsv is read with commas")
	}
}

// TestProblemsOfPartsAreToldTogether: of every file by its name, without a cell; no rows come behind the first problem.
func TestProblemsOfPartsAreToldTogether(t *testing.T) {
	parts := Parts{Name: "*.csv", Files: []string{"1.csv", "2.csv", "3.csv"}}
	files := fstest.MapFS{"1.csv": {Data: []byte("n,x,c\n1,2,red\nsecret,2,red\n")},
		"2.csv": {Data: []byte("n,x,c\n1,2,red\n")},
		"3.csv": {Data: []byte("c,x,n\nred,2,1\nred,2,1\nred,2,secret\n")}}
	got, err := OpenParts(files, parts, nil, small(), "")
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for rec, failed := range got.Open(t.Context()) {
		if err = failed; err == nil {
			rows += rec.NumRows()
		}
	}
	if err == nil || rows != 0 || strings.Contains(err.Error(), "secret") ||
		!strings.Contains(err.Error(), `1.csv: line 3: column "n"`) ||
		!strings.Contains(err.Error(), `3.csv: line 4: column "n"`) {
		t.Errorf("%d rows, %v; must be the problems of 1.csv and 3.csv", rows, err)
	}
	files["2.csv"].Data, files["3.csv"].Data = []byte("n,x\n1,2\n"), []byte("n,x,c,d\n1,2,red,4\n")
	_, err = OpenParts(files, parts, nil, small(), "")
	if err == nil || !strings.Contains(err.Error(), `2.csv: line 1: column "c": is declared and not in the file`) ||
		!strings.Contains(err.Error(), "3.csv: line 1: column 4 of the file is not declared") {
		t.Errorf("%v: must name the columns of 2.csv and 3.csv", err)
	}
}

// TestPartsOfTwoForms: files of two formats are no table, nor files of other columns; a name that stands twice is a
// column twice.
func TestPartsOfTwoForms(t *testing.T) {
	written := randomTable(rand.New(rand.NewPCG(3, 3)), every(), 1, 5)
	stored, err := arrowBytes(written)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"a": {Data: []byte(asCSV(t, written))}, "b": {Data: stored}}
	const mixed = "b: is of the format arrow where a is csv; the files of one table must be of one format"
	_, err1 := OpenParts(files, Parts{Name: "?", Files: []string{"a", "b"}}, nil, every(), "")
	_, err2 := OpenRawParts(t.Context(), files, Parts{Name: "?", Files: []string{"a", "b"}}, nil)
	for _, err := range []error{err1, err2} {
		if err == nil || err.Error() != mixed {
			t.Errorf("%v: must be %s", err, mixed)
		}
	}
	no := false
	for _, c := range []struct {
		one, two, want string
		csv            *pipeline.CSV
	}{
		{"a,b\n1,2\n", "b,a\n4,3\n", "1 2;3 4", nil},
		{"a,a\n1,2\n", "a,a\n3,4\n", "1 2;3 4", nil},
		{"a,b\n1,2\n", "a,c\n3,4\n", "two: column \"b\": is not here and in one\ntwo: column \"c\": is here and not in one",
			nil},
		{"a,a\n1,2\n", "a\n3\n", "two: column \"a\": is not here and in one", nil},
		{"1,2\n", "3,4\n", "1 2;3 4", &pipeline.CSV{Header: &no}},
		{"1,2\n", "3,4\n5\n", "two: row 2: has 1 values where the table has 2 columns", &pipeline.CSV{Header: &no}},
	} {
		files := fstest.MapFS{"one": {Data: []byte(c.one)}, "two": {Data: []byte(c.two)}}
		var lines []string
		raw, err := OpenRawParts(t.Context(), files, Parts{Name: "*", Files: []string{"one", "two"}}, c.csv)
		if err == nil {
			for row, failed := range raw.Rows {
				if err = failed; err == nil {
					lines = append(lines, string(bytes.Join(row, []byte(" "))))
				}
			}
		}
		if got := strings.Join(lines, ";"); err == nil && got != c.want || err != nil && err.Error() != c.want {
			t.Errorf("%q and %q: %s, %v; must be %s", c.one, c.two, got, err, c.want)
		}
	}
}

// TestUnitsOfParts: a name that the domain does not list is kept in each file.
func TestUnitsOfParts(t *testing.T) {
	files := fstest.MapFS{"1": {Data: []byte("n,x,c\n1,2,red\n1,2,else\n")}, "2": {Data: []byte("n,x,c\n1,2,else\n")}}
	d := small()
	d.Columns[2].Nullable = true
	got, err := OpenParts(files, Parts{Name: "?", Files: []string{"1", "2"}}, &pipeline.CSV{Unknown: "missing"}, d, "c")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for rec, err := range got.Open(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		last := rec.Column(int(rec.NumCols()) - 1)
		for i := range int(rec.NumRows()) {
			if last.IsValid(i) {
				names = append(names, last.(*array.String).Value(i))
			}
		}
	}
	if len(names) != 2 || names[0] != names[1] {
		t.Errorf("units %q, must be one name twice", names)
	}
}
