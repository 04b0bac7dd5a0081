package runtime

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/runtime/files"
	"weir/runtime/payment"
	"weir/runtime/source"
	"weir/runtime/table"
)

// odd holds what readers could come to read otherwise: blank lines, blanks around cells, quotes, numbers and
// categories in several spellings, missing ones, units beyond the cap, and bytes that begin some files.
const odd = "\xef\xbb\xbfu,x,c,d,t\r\n" +
	"7,1.5,north,2020-02-29,\"a, \"\"b\"\"\"\r\n" +
	"\r\n" +
	" 7 ,1e2,  south,1969-12-31, plain \r\n" +
	"007,-0,north,,\r\n" +
	"7.0,NA,nowhere,2000-01-01,NA\r\n" +
	"9007199254740993,.5,,1970-01-01,\"two\nlines\"\r\n" +
	"9007199254740992,5.,1.0,1970-01-01,x\r\n" +
	",+3,1,1970-01-01,y\r\n" +
	"-0,3,1,1970-01-01,z\r\n" +
	"0,3,1,1970-01-01,z"

func oddDomain() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "u", Type: domain.Integer, Nullable: true},
		{Name: "x", Type: domain.Numeric, Nullable: true, Missing: []string{"NA"}},
		{Name: "c", Type: domain.Categorical, Categories: []string{"north", "south"}, Nullable: true},
		{Name: "d", Type: domain.Date, Nullable: true},
		{Name: "t", Type: domain.Text, Nullable: true},
	}}
}

// heldIn returns the held files of a folder, closed at the end of the test.
func heldIn(t *testing.T, dir string) *files.Held {
	t.Helper()
	folder, err := files.OpenFolder(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	held := files.Hold(folder)
	t.Cleanup(func() { held.Close() })
	return held
}

// TestReadingIsPinned: secrets of one name fall to the rows that equal bytes give, so bytes that give other
// rows than they gave are another reading. Parquet and Arrow are held by the corpora of runtime/table. The digest is of
// what this reading gave when it was made; no source but the program itself has it.
func TestReadingIsPinned(t *testing.T) {
	for keep, pinned := range map[pipeline.Keep]map[int]string{ // by reading
		pipeline.KeepFirst:  {2: "338ec68625fa23946d1057471abc40b3543ec26f7e4c16763817e1724ea4f33b"},
		pipeline.KeepByHash: {2: "a8e2c441cdc7c3ef4d0a9516301196e97acb3ada20ed6c8f783bdcb2c04ec646"},
	} {
		if got := oddRows(t, keep); got != pinned[payment.Reading] {
			t.Errorf("reading %d with keep %q gives rows of digest %s, must be %q: raise payment.Reading, and keep the "+
				"digest of the new one", payment.Reading, keep, got, pinned[payment.Reading])
		}
	}
}

// oddRows returns a digest of the rows of odd that stay.
func oddRows(t *testing.T, keep pipeline.Keep) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "odd.csv"), []byte(odd), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs := heldIn(t, dir)
	h := sha256.New()
	for _, column := range []string{"u", "c"} {
		in, err := table.OpenParts(inputs, table.One("odd.csv"), &pipeline.CSV{Unknown: "missing", Trim: true}, oddDomain(),
			column)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := capUnits(in, pipeline.Unit{Column: column, MaxRows: 2, Keep: keep}, nil).Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(rows.NumRows()) {
			for _, c := range rows.Columns() {
				fmt.Fprintf(h, "%q ", c.ValueStr(i))
			}
			fmt.Fprintln(h)
		}
		t.Logf("%s: %d rows", column, rows.NumRows())
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// TestNameOfAFileIsPartOfItsReading: where csv names no delimiter, a file's name does. A copy of a .csv under
// the name .tsv is the same dataset, version and content, and other rows: one recipe for both would give them
// one secret and one noise, charged once.
func TestNameOfAFileIsPartOfItsReading(t *testing.T) {
	recipes := func(file string, csv *pipeline.CSV) string {
		declared, err := (&source.File{File: file}).Declare(pipeline.Declaring{CSV: csv})
		if err != nil {
			t.Fatal(err)
		}
		recipe, err := payment.SourceRecipe("ds-1", "1", &spec.Dataset{Declared: declared, CSV: csv})
		if err != nil {
			t.Fatal(err)
		}
		return recipe
	}
	set := &pipeline.CSV{Delimiter: ";"}
	if recipes("a.csv", nil) == recipes("a.tsv", nil) || recipes("a.csv.gz", nil) == recipes("a.TAB.gz", nil) {
		t.Error("a .tsv has the recipe of a .csv")
	}
	if recipes("a.csv", nil) != recipes("b.csv.gz", nil) || recipes("a.csv", set) != recipes("a.tsv", set) {
		t.Error("files that are read alike have recipes of their own")
	}
	public := func(file string) string {
		step := &compile.Step{Step: &pipeline.Step{ID: "read"}}
		step.Work.Files = []pipeline.FileUse{{Path: file, Public: true}}
		plan := &compile.Plan{Plan: &pipeline.Plan{}, Spec: &spec.Spec{}, Steps: []compile.Step{*step}}
		recipes, err := payment.Recipes(plan, payment.Dataset{}, 0, func(*compile.Step) uint64 { return 0 },
			publicName(func(string) (string, error) { return "sha256:1", nil }))
		if err != nil {
			t.Fatal(err)
		}
		return recipes["read"]
	}
	if public("a.csv") == public("a.tsv") {
		t.Error("a public .tsv has the recipe of a .csv")
	}
}

// TestSpellingsArePartOfTheRecipe: what csv and columns say of spellings decides which rows equal bytes become. One
// recipe for two of them would give what one run paid for to the other, or one noise to other rows.
func TestSpellingsArePartOfTheRecipe(t *testing.T) {
	reg, err := Registry([]pipeline.Kind{{Name: "reader", Version: 1, Doc: "Reads.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormMetrics, Doc: "figures"}},
		New: func() pipeline.Stage { return &reader{} }}})
	if err != nil {
		t.Fatal(err)
	}
	recipes := map[string]string{}
	for _, more := range [][2]string{
		{}, {"", `encoding: latin-1`}, {"", `encoding: windows-1252`}, {"", `unknown: missing`},
		{`aliases: {"no": ["y"]}`}, {`aliases: {"yes": ["y"]}`}, {`missing: ["?"]`},
		{`type: date, format: DD.MM.YYYY`}, {`type: date, format: MM.DD.YYYY`}, {`type: numeric, format: "1.234,5"`},
		{`type: numeric, format: "1,234.5"`},
	} {
		column := more[0]
		if !strings.Contains(column, "type") {
			column = strings.Trim(`type: categorical, categories: ["no", "yes"], nullable: true, `+column, ", ")
		}
		text := "weir: 1\nname: x\ndataset:\n  file: x.csv\n  csv: {" + more[1] +
			"}\n  privacy_unit: row\n  domain: {columns: [{name: a, " + column + "}]}\n" +
			"privacy: {epsilon: 1, delta: 1e-6, adjacency: add_remove}\nstages:\n  r: {kind: reader, from: dataset}\n"
		s, err := spec.Parse(spec.Input{File: "spec.yaml", Data: []byte(text)}, reg)
		if err != nil {
			t.Fatal(err)
		}
		recipe, err := payment.SourceRecipe("ds-1", "1", &s.Dataset)
		if err != nil {
			t.Fatal(err)
		}
		if other, known := recipes[recipe]; known {
			t.Errorf("%q has the recipe of %q", more, other)
		}
		recipes[recipe] = strings.Join(more[:], " ")
	}
}
