package infer

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/runtime/table"
)

func draftOf(t *testing.T, text string) string {
	t.Helper()
	out, err := Draft(context.Background(), Files(fstest.MapFS{"f.csv": {Data: []byte(text)}}, table.One("f.csv")), nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(out.Domain)
}

func TestDraftsNameTypesAndMarkThem(t *testing.T) {
	text := "age;sex;weight;seen;name;smokes;income\n"
	for i := range 30 {
		text += []string{"34;m;70.5;2001-02-03;a;0;?\n", "61;f;N;1999-12-31;b;1;5000\n",
			"17;;88.25;2010-10-10;c;0;7000\n"}[i%3]
	}
	out := draftOf(t, text)
	for _, want := range []string{
		`delimiter: ";"`, "name: \"age\"\n    type: categorical", "name: \"sex\"\n    type: categorical",
		`categories: ["f", "m"]` + confirm,
		"name: \"weight\"\n    type: numeric\n    bounds: [70.5, 88.25]" + confirm +
			"\n    missing: [\"N\"]\n    step: 0.01\n    source: UNDECIDED\n    nullable: true",
		"name: \"seen\"\n    type: date # days; written as 2019-04-30 in files, bounds and constraints\n    bounds: " +
			"[1999-12-31, 2010-10-10]" + confirm, "name: \"smokes\"\n    type: boolean", `missing: ["?"]`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("draft lacks %q:\n%s", want, out)
		}
	}
}

// TestLongIDsAreText: whole numbers of more than 12 digits are drafted as text, with what they may be, whether each
// is there once or several times, also beyond 2^53 and behind zeros. Shorter ones, fractions, negative numbers and
// a few codes are drafted as before.
func TestLongIDsAreText(t *testing.T) {
	for name, c := range map[string]struct {
		cell func(i int) string
		ids  bool
	}{
		"13 digits": {func(i int) string { return fmt.Sprint(1000000000007*(i+1)%9000000000000 + 1000000000000) },
			true},
		"12 digits":       {func(i int) string { return fmt.Sprint(100000000007 + i*7919) }, false},
		"beyond 2^53":     {func(i int) string { return fmt.Sprint(9007199254740993 + 2*i) }, true},
		"beyond 64 bits":  {func(i int) string { return fmt.Sprintf("1234567890123456789%03d", i) }, true},
		"behind zeros":    {func(i int) string { return fmt.Sprintf("%016d", i) }, true},
		"with empty ones": {func(i int) string { return []string{"", fmt.Sprintf("77%012d", i)}[i%2] }, true},
		"visits of 50":    {func(i int) string { return fmt.Sprintf("77%012d", i%50) }, true},
		"of two lengths":  {func(i int) string { return fmt.Sprint([]int{31, 1000000000007}[i%2] + i) }, false},
		"fractions":       {func(i int) string { return fmt.Sprintf("1000000000007.%d", i) }, false},
		"negative":        {func(i int) string { return fmt.Sprintf("-77%012d", i) }, false},
		"codes":           {func(i int) string { return fmt.Sprintf("77%012d", i%5) }, false},
	} {
		text := "row,n\n"
		for i := range 400 {
			text += fmt.Sprintf("%d,%s\n", i, c.cell(i))
		}
		out := draftOf(t, text)
		_, n, _ := strings.Cut(out, `name: "n"`)
		if got := strings.HasPrefix(n, "\n    type: text"+" # "+whyLong+"\n") && !strings.Contains(n, "bounds: ["); got !=
			c.ids {
			t.Errorf("%s: ids %v, must be %v:\n%s", name, got, c.ids, n)
		}
	}
}

// TestDraftsSayWhatAListCannotTell: a year of few values may be a number, one value is no
// list, and the way of a private list is told once.
func TestDraftsSayWhatAListCannotTell(t *testing.T) {
	text := "year,country,sex,died\n"
	for i := range 60 {
		text += []string{"2021,NL,f,0\n", "2022,NL,m,1\n", "2023,NL,m,0\n"}[i%3]
	}
	out := draftOf(t, text)
	for want, times := range map[string]int{
		"name: \"year\"\n    type: categorical # few numbers, taken for codes;":                         1,
		"of a year, an age or a count: type integer, bounds such as [2021, 2023], read from the data\n": 1,
		"name: \"country\"\n    type: categorical # the file holds one value: list all":                 1,
		"name: \"sex\"\n    type: categorical # ordinal if the order of the values means":               1,
		"dp_categories": 1,
	} {
		if got := strings.Count(out, want); got != times {
			t.Errorf("%q stands %d times, must %d:\n%s", want, got, times, out)
		}
	}
	if out := draftOf(t, "a\n1.5\n2.5\n"); strings.Contains(out, "dp_categories") {
		t.Errorf("no list, and a word on lists:\n%s", out)
	}
}

func TestAnUneditedDraftIsRefused(t *testing.T) {
	out := draftOf(t, "a,b\n1,x\n2,y\n")
	_, err := spec.ParseDomain("d.yaml", []byte(out))
	if problems, _ := err.(spec.Diagnostics); len(problems) != 1 || !strings.Contains(err.Error(),
		"columns[0].source: is UNDECIDED in 2 of 2 columns (a, b)") {
		t.Errorf("%d problems, must be one for all columns: %v", len(problems), err)
	}
}

// TestWhatNoDomainCanBe is refused with every problem at once, and no text of the file: what can be shown to nobody is
// text.
func TestWhatNoDomainCanBe(t *testing.T) {
	_, err := Draft(t.Context(), Files(fstest.MapFS{"f.csv": {Data: []byte("weir.x,a,a\n1,x,7\n2,y,7\n")}},
		table.One("f.csv")), &pipeline.CSV{})
	want := `f.csv: columns[0].name: is a text of the file, must be a name that does not begin with weir.` + "\n" +
		`f.csv: columns[2].name: is a text of the file, a duplicate column, must be unique`
	if err == nil || err.Error() != want {
		t.Errorf("%v, must be\n%s", err, want)
	}
	if out := draftOf(t, "a,b\n1,x\n2,y\x02\n"); !strings.Contains(out, "type: text # values with control characters") {
		t.Errorf("a control character in a category:\n%s", out)
	}
}

// TestOneNumberGetsARange: a column of one number, from 0 to the largest there is,
// gets bounds that a domain takes and that hold the number.
func TestOneNumberGetsARange(t *testing.T) {
	for _, number := range []string{"0", "0.0", "-3", "7.25", "1e20", "1.7976931348623157e308", "-1.7976931348623157e308",
		"5e-324"} {
		out := draftOf(t, "a,b\n"+number+",x\n"+number+",y\n")
		d, err := spec.ParseDomain("d.yaml", []byte(strings.ReplaceAll(out, "UNDECIDED", "public")))
		if err != nil {
			t.Errorf("%s: %v\n%s", number, err, out)
			continue
		}
		x, _ := strconv.ParseFloat(number, 64)
		if b := d.Columns[0].Bounds; b == nil || x < b[0] || x > b[1] {
			t.Errorf("%s: bounds %v", number, b)
		}
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "header only": "a,b\n", "ragged": "a,b\n1,2\n777\n" +
		strings.Repeat("1,2\n", 9) + "1,2,3\n"} {
		_, err := Draft(context.Background(), Files(fstest.MapFS{"f.csv": {Data: []byte(text)}}, table.One("f.csv")), nil)
		if err == nil || strings.Contains(err.Error(), "777") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestADraftIsWhatCheckReads: a draft that weir check would refuse for its length is
// refused by infer, before the rows where the columns alone tell it.
func TestADraftIsWhatCheckReads(t *testing.T) {
	wide := func(n int, row string) string {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprint("c", i)
		}
		return strings.Join(names, ",") + "\n" + row
	}
	for name, c := range map[string]struct{ text, want string }{
		"early": {wide(100_000, ""), "has 100000 columns"}, // no row is needed to know
		"late":  {wide(15_000, strings.Repeat("7.5,", 14_999)+"7.5\n"), "weir check reads at most 1048576"},
	} {
		_, err := Draft(t.Context(), Files(fstest.MapFS{"f.csv": {Data: []byte(c.text)}}, table.One("f.csv")),
			&pipeline.CSV{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "7.5") {
			t.Errorf("%s: %.200v, must say %s", name, err, c.want)
		}
	}
	out, err := Draft(t.Context(),
		Files(fstest.MapFS{"f.csv": {Data: []byte(wide(4000, strings.Repeat("7.5,", 3999)+"7.5\n"))}}, table.One("f.csv")),
		&pipeline.CSV{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := spec.ParseDomain("d.yaml", []byte(strings.ReplaceAll(string(out.Domain), "UNDECIDED", "public")))
	if err == nil && len(d.Columns) != 4000 {
		t.Errorf("%d columns, must be 4000", len(d.Columns))
	}
	if err != nil && strings.Contains(err.Error(), "bytes long") {
		t.Error(err)
	}
}

// TestNothingButNewlines: read once or twice, not once for each guess.
func TestNothingButNewlines(t *testing.T) {
	const size = 64 << 20
	files := &counting{FS: fstest.MapFS{"f.csv": {Data: bytes.Repeat([]byte("\n"), size)}}}
	_, err := Draft(t.Context(), Files(files, table.One("f.csv")), nil)
	if err == nil || !strings.Contains(err.Error(), "holds no rows") || files.read < size || files.read > 2*size {
		t.Errorf("%v after %d bytes, must be refused after at most two times %d", err, files.read, size)
	}
}

// counting counts the bytes that are read of its files.
type counting struct {
	fs.FS
	read int64
}

func (c *counting) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	return counted{f, c}, err
}

type counted struct {
	fs.File
	in *counting
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	c.in.read += int64(n)
	return n, err
}

// TestGoldenDraftsReadTheirFiles: the drafts of the public files, once decided, read those files.
func TestGoldenDraftsReadTheirFiles(t *testing.T) {
	files := os.DirFS(stattest.PublicData(t))
	no := false
	for file, c := range map[string]struct {
		rows int64 // data/README.md
		csv  *pipeline.CSV
		has  []string
	}{
		"cardio/cardio_train.csv.gz": {70000, &pipeline.CSV{Delimiter: ";"},
			[]string{"name: \"age\"\n    type: integer\n    bounds: [10798, 23713]",
				"step: 0.1 # a few numbers have more digits", "type: boolean"}},
		"adult/adult.data.gz": {32561, &pipeline.CSV{Trim: true, Header: &no},
			[]string{"header: false, trim: true", `categories: ["<=50K", ">50K"]`,
				"name: \"column_1\"\n    type: integer\n    bounds: [17, 90]"}},
		"adult/adult.test.gz": {16281, &pipeline.CSV{Trim: true, Header: &no, Comment: "|"},
			[]string{`comment: "|"`, `"<=50K."`}},
		"cervical_cancer/risk_factors_cervical_cancer.csv": {858, nil, []string{`"STDs: Time since first diagnosis"`,
			`missing: ["?"]`}},
		"epileptic_seizure/data.csv.gz": {11500, nil, []string{"name: \"column_1\"\n    type: text",
			"name: \"X178\"\n    type: integer", `categories: ["1", "2", "3", "4", "5"]`}},
		"nist_acs_excerpts/ma2019.csv": {7634, nil, []string{"name: \"DENSITY\"\n    type: numeric",
			`missing: ["N"]`}},
	} {
		out, err := Draft(context.Background(), Files(files, table.One(file)), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.has {
			if !strings.Contains(string(out.Domain), want) {
				t.Errorf("%s: draft lacks %q", file, want)
			}
		}
		d, err := spec.ParseDomain("d.yaml", []byte(strings.ReplaceAll(string(out.Domain), "UNDECIDED", "public")))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if got := count(t, files, file, c.csv, d); got != c.rows {
			t.Errorf("%s: %d rows, must be %d", file, got, c.rows)
		}
	}
}

func count(t *testing.T, files table.FS, file string, csv *pipeline.CSV, d *domain.Domain) (rows int64) {
	t.Helper()
	tab, err := table.Open(files, file, csv, d)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range tab.Open(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		rows += r.NumRows()
	}
	return rows
}
