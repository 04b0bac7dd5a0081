package table

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// small returns a domain of one column of each type; secret values below must never
// come back in an error.
func small() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "n", Type: domain.Integer, Missing: []string{"99"}},
		{Name: "x", Type: domain.Numeric, Nullable: true},
		{Name: "c", Type: domain.Categorical, Categories: []string{"red", "blue"}},
	}}
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// readText opens and drains a file of that content.
func readText(text string, csv *pipeline.CSV, d *domain.Domain) (int64, error) {
	table, err := openWith(fstest.MapFS{"f.csv": {Data: []byte(text)}}, "f.csv", csv, d, options{BatchRows: 4})
	if err != nil {
		return 0, err
	}
	rows := int64(0)
	for r, err := range table.Open(context.Background()) {
		if err != nil {
			return rows, err
		}
		rows += r.NumRows()
	}
	return rows, nil
}

func TestBadTextIsRefused(t *testing.T) {
	no := false
	good := "n,x,c\n1,2.5,red\n"
	for name, c := range map[string]struct {
		text string
		csv  *pipeline.CSV
		want string
	}{
		"whole number": {good + "7771.5,1,red\n", nil, `f.csv: line 3: column "n": is not a whole number`},
		"number":       {good + "1,seven777,red\n", nil, `line 3: column "x": is not a number`},
		"decimal comma": {"n;x;c\n1;7771,5;red\n", &pipeline.CSV{Delimiter: ";"},
			`line 2: column "x": is not a number: it holds a comma`},
		"NaN":          {good + "1,NaN,red\n", nil, `line 3: column "x": is not a finite number`},
		"infinite":     {good + "1,-inf,red\n", nil, `is not a finite number`},
		"huge integer": {good + "777777777777777777777777,1,red\n", nil, `64-bit range`},
		"hexadecimal":  {good + "0x777,1,red\n", nil, `column "n": is not a number`},
		"category": {good + "1,1,secret777\n", nil,
			`line 3: column "c": is outside the declared categories; declare it, or set csv.unknown: missing and, on the column, nullable: true`},
		"unknown category": {good + "1,1,secret777\n", &pipeline.CSV{Unknown: "missing"},
			`line 3: column "c": is outside the declared categories, and csv.unknown: missing needs a column with nullable: true`},
		"missing category": {good + "1,1,\n", nil, `column "c": is missing, which the domain does not allow`},
		"ragged short":     {good + "1,777\n", nil, `line 3: has 2 values where the file has 3 columns`},
		"ragged long":      {good + "1,2,red,777\n", nil, `line 3: has 4 values where the file has 3 columns`},
		"wrong delimiter": {"n;x;c\n1;777;red\n", nil,
			`has one column where the domain declares 3: the delimiter is ","; ";" would give 3`},
		"one column too many": {"n;x;c;d\n1;777;red;1\n", &pipeline.CSV{Extra: "ignore"},
			`the delimiter is ","; ";" would give 4`},
		"tabs":              {"n\tx\tc\n1\t777\tred\n", nil, `csv.delimiter: "\t"`},
		"not UTF-8":         {good + "1,1,r\xe9d\n", nil, `line 3: is not UTF-8`},
		"UTF-16":            {"\xff\xfen\x00", nil, `UTF-16`},
		"NUL":               {good + "1,7\x0077,red\n", nil, `line 3: column "x": holds a NUL byte`},
		"open quote":        {good + "1,1,\"red\n2,777,blue\n", nil, `line 3: column "c": opens a quote`},
		"bare quote":        {good + "1,1,secret\"777\n", nil, `holds a quote inside`},
		"after quote":       {good + "1,1,\"red\"777\n", nil, `after its closing quote`},
		"empty file":        {"", nil, "not even a header"},
		"duplicate column":  {"n,x,c,x\n1,2,red,777\n", nil, `column "x": stands 2 times`},
		"missing column":    {"n,X,c\n1,777,red\n", nil, `column "x": is declared and not in the file; did you mean "X"?`},
		"extra column":      {"n,x,c,d\n1,2,red,777\n", nil, `column 4 of the file is not declared`},
		"misspelt column":   {"n,y,cc\n1,2,red\n", nil, `names 1 of the 3`},
		"like a column":     {"n,x,777\n1,2,red\n", nil, `column "c": is declared and not in the file`},
		"CR alone":          {"n,x,c\r1,777,red\r2,778,blue\r", nil, `line 1: holds a carriage return that ends no line`},
		"values in header":  {"n,x,c,777,7778\n1,2,red,3,4\n", nil, `column 5 of the file is not declared`},
		"two headers":       {"n,x,c,n\n1,2,red,777\n", nil, `column "n": stands 2 times`},
		"no header":         {"777,778,secret777\n1,2,red\n", nil, `names 0 of the 3 declared columns`},
		"header after all":  {good, &pipeline.CSV{Header: &no}, `set csv.header: true`},
		"fewer by position": {"1,777\n", &pipeline.CSV{Header: &no}, `has 2 columns where the domain declares 3`},
		"truncated gzip":    {zipped(strings.Repeat(good, 999))[:60], nil, "truncated"},
		"damaged gzip":      {zipped(good)[:20] + "777777" + zipped(good)[26:], nil, "compressed data"},
		"SQLite":            {"SQLite format 3\x00777", nil, "is a SQLite database; accepted: "},
		"DuckDB":            {"777\x01\x02\x03\x04\x05DUCK\x40\x00\x00\x00777", nil, "is a DuckDB database"},
		"zip":               {"PK\x03\x04777", nil, "archive"},
		"Parquet in name":   {"PAR1777", nil, "not a whole Parquet file"},
		"Arrow in name":     {"ARROW1\x00\x00777", nil, "Arrow file"},
		"bad delimiter":     {good, &pipeline.CSV{Delimiter: "ab"}, `csv.delimiter is "ab", must be one ASCII character`},
		"delimiter quote":   {good, &pipeline.CSV{Delimiter: `"`}, `must differ`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readText(c.text, c.csv, small())
			var e *Error
			if err == nil || !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "f.csv") {
				t.Fatalf("error %v, must say f.csv and %s", err, c.want)
			}
			if strings.Contains(err.Error(), "777") {
				t.Errorf("error quotes a value: %v", err)
			}
		})
	}
}

func TestOddTextIsRead(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		text string
		csv  *pipeline.CSV
		rows int64
	}{
		"no newline at end": {"n,x,c\n1,2.5,red", nil, 1},
		"byte order mark":   {"\xef\xbb\xbfn,x,c\n1,2.5,red\n", nil, 1},
		"CRLF":              {"n,x,c\r\n1,2.5,red\r\n2,,blue\r\n", nil, 2},
		"CRLF quoted":       {"n,x,\"c\"\r\n1,2.5,\"red\"\r\n", nil, 1},
		"blank lines":       {"\n\nn,x,c\n\n1,2.5,red\n\r\n2,3,blue\n\n", nil, 2},
		"order":             {"c,n,x\nred,1,2\n", nil, 1},
		"exponent":          {"n,x,c\n1e+05,-1.5E-3,red\n4.0,.5,blue\n", nil, 2},
		"missing codes":     {"n,x,c\n99,,red\n99.0,2,blue\n", nil, 2},
		"extra ignored":     {"d,n,x,c\n\"a,b\"\"c\nd\",1,2,red\n", &pipeline.CSV{Extra: "ignore"}, 1},
		"comments and blanks": {"# it's \"\n# x\n 1 , 2 , red \n#\n2,3,blue.\n",
			&pipeline.CSV{Header: &no, Comment: "#", Trim: true, StripSuffix: "."}, 2},
		"gzip in pieces": {zipped("n,x,c\n1,2,red\n") + zipped("2,3,blue\n"), nil, 2},
		"single quotes":  {"n,x,c\n'1',2,'red'\n", &pipeline.CSV{Quote: "'"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := readText(c.text, c.csv, small())
			if err != nil || rows != c.rows {
				t.Errorf("%d rows, error %v; must be %d rows", rows, err, c.rows)
			}
		})
	}
}

func TestProblemsAreListedTogether(t *testing.T) {
	text := "n,x,c\n1,2,red\nq,2,red\n1,2,green\nq,w,red\nq,2,red\n1,2\n"
	_, err := readText(text, nil, small())
	var e *Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	got := fmt.Sprint(len(e.Problems), e.Problems[0].Line, e.Problems[0].More, e.Stopped)
	if got != "4 3 2 false" { // n (lines 3, 5, 6), c, x, ragged
		t.Errorf("%s:\n%v", got, err)
	}
}

func TestLinesAreCountedThroughQuotesAndBatches(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "a", Type: domain.Text}, {Name: "b", Type: domain.Integer}}}
	text := "a,b\n" + strings.Repeat("\"two\nlines\",1\n", 10) + "x,bad\n"
	_, err := readText(text, nil, d)
	if err == nil || !strings.Contains(err.Error(), "line 22:") {
		t.Errorf("%v, must name line 22", err)
	}
}

func TestManyKindsOfProblemsStopAtTwenty(t *testing.T) {
	d := &domain.Domain{}
	for i := range 30 {
		d.Columns = append(d.Columns, domain.Column{Name: fmt.Sprint("c", i), Type: domain.Integer})
	}
	text := strings.Join(d.Names(), ",") + "\n" + strings.Repeat("x,", 29) + "x\n"
	_, err := readText(text, nil, d)
	var e *Error
	if !errors.As(err, &e) || len(e.Problems) != maxProblems || !e.Stopped {
		t.Errorf("%v", err)
	}
}

func TestMissingNeedsLeave(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "a", Type: domain.Integer}, {Name: "b", Type: domain.Integer}}}
	if _, err := readText("a,b\n1,\n", nil, d); err == nil || !strings.Contains(err.Error(), `column "b": is missing`) {
		t.Errorf("%v", err)
	}
	d.Columns[1].Nullable = true
	if _, err := readText("a,b\n1,\n", nil, d); err != nil {
		t.Error(err)
	}
}

func TestUnknownCategoriesMayBecomeMissing(t *testing.T) {
	d := small()
	d.Columns[2].Nullable = true
	if _, err := readText("n,x,c\n1,2,green\n", &pipeline.CSV{Unknown: "missing"}, d); err != nil {
		t.Error(err)
	}
}

func TestALineWithoutEndIsRefused(t *testing.T) {
	_, err := readText("n,x,c\n1,2,\""+strings.Repeat("y", maxRecord+chunkBytes)+"\n", nil, small())
	if err == nil || !strings.Contains(err.Error(), "line 2: a record is longer than 16 MiB") {
		t.Errorf("%.200v", err)
	}
}

func TestMissingFileIsNamed(t *testing.T) {
	_, err := Open(fstest.MapFS{}, "none.csv", nil, small())
	if err == nil || err.Error() != "none.csv: file does not exist" {
		t.Errorf("%v", err)
	}
}

func TestCancelEndsReading(t *testing.T) {
	head, body, d := sample(t, 1000)
	table, err := Open(repeated{head, body, 1 << 30}, "x.csv", &pipeline.CSV{Delimiter: ";"}, d)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for _, err := range table.Open(ctx) {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("%v, must be canceled", last)
	}
	for range table.Open(context.Background()) {
		break // the reader waits for its goroutines, or the test never ends
	}
}

// TestTableWithoutRows: a header alone, and nothing at all where there is no
// header, are tables of no rows: where the count is private, an error would tell it.
func TestTableWithoutRows(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		text string
		csv  *pipeline.CSV
	}{"header": {"n,x,c\n", nil}, "nothing": {"", &pipeline.CSV{Header: &no}}} {
		if got := reread(t, name+".csv", []byte(c.text), c.csv, small()); got.NumRows() != 0 {
			t.Errorf("%s: %d rows, must be none", name, got.NumRows())
		}
	}
}

// TestBlankLinesAtTheTopCostNothing: 64 MB of blank lines, then a table, and 64 MB
// of nothing else, are read; they took a time of their square, which ends no test.
func TestBlankLinesAtTheTopCostNothing(t *testing.T) {
	body := []byte(strings.Repeat("\n", 1<<20))
	_, err := openWith(repeated{nil, body, 64}, "f.csv", nil, small(), options{})
	if err == nil || !strings.Contains(err.Error(), ruleNoHeader) {
		t.Errorf("%v, must say that it %s", err, ruleNoHeader)
	}
	for name, head := range map[string]string{"blank": "\n", "spaced": "  \r\n", "comment": "# it's \"777\n"} {
		text := strings.Repeat(head, 400_000)
		table, err := openWith(repeated{[]byte(text), []byte("n,x,c\n1,2,red\n"), 1}, "f.csv",
			&pipeline.CSV{Comment: "#", Trim: true}, small(), options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if rows := drain(t, table); rows != 1 {
			t.Errorf("%s: %d rows, must be 1", name, rows)
		}
	}
}

// TestLinesAreCountedBehindBlankOnes: a problem is told where it stands.
func TestLinesAreCountedBehindBlankOnes(t *testing.T) {
	long := "#" + strings.Repeat("x", 1<<20) + "\n" // longer than what is looked at together
	for name, head := range map[string]string{"blank": strings.Repeat("\n", 9), "long comment": strings.Repeat(long, 9),
		"none": ""} {
		lines := strings.Count(head, "\n")
		_, err := readText(head+"n,x,c\n1,2,red\nsecret,2,red\n", &pipeline.CSV{Comment: "#"}, small())
		if want := fmt.Sprintf("line %d: column \"n\"", lines+3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say %s", name, err, want)
		}
	}
}
