package runtime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/runtime/codebook"
)

// A small codebook in the form of IPUMS, and a line on a column.
const (
	book = "Description: made up\n  FARM               H   1              1      X \n\n" +
		" FARM\t\tFarm status\n0\t\tN/A\n1\t\tNon-Farm\n2\t\tFarm\n\n" +
		" BPL\t\tBirthplace\n\t\tUNITED STATES\n001\t\tAlabama\n010\t\tColorado\n900\t\tAbroad\n"
	lines = "RENT: what the household pays a month.\nhttps://usa.ipums.org\n\nFARM: another title\n"
	specs = `{"FARM": {"type": "enum", "maxval": 2, "count": 3}, "BPL": {"maxval": 500, "type": "enum"}, "COUNTY": {"type": "enum", "maxval": 1250},
		"WARD": {"type": "enum", "maxval": 3}, "RENT": {"type": "enum", "maxval": 9999}, "INCWAGE": {"type": "enum", "maxval": 999998}, "CITYPOP": {"type": "enum", "maxval": 3224}}`
)

func madeUp(t *testing.T, form codebook.Form) *domain.Domain {
	t.Helper()
	b := codebook.NewBook()
	must(t, b.Add("book.cbk", []byte(book)))
	must(t, b.Add("lines.txt", []byte(lines)))
	listed, err := codebook.ReadSpecs("specs.json", []byte(specs))
	must(t, err)
	d, err := codebook.Domain("specs.json", listed, b, form)
	must(t, err)
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestDomain: codes of the codebook up to maxval without leading zeros; a column without
// a list 0 to maxval; an amount with its code for not available; a list that nobody
// published stays private; each column says who lists its values.
func TestDomain(t *testing.T) {
	d := madeUp(t, codebook.AsMissing)
	want := map[string]domain.Column{
		"FARM": {Type: domain.Categorical, Categories: domain.Categories{"0", "1", "2"}, Source: "public",
			Doc: "Farm status; 0 N/A, 1 Non-Farm, 2 Farm; codes by book.cbk, up to the maxval of specs.json."},
		"BPL": {Type: domain.Categorical, Categories: domain.Categories{"1", "10"}, Source: "public",
			Doc: "Birthplace; 1 Alabama, 10 Colorado; codes by book.cbk, up to the maxval of specs.json."},
		"COUNTY": {Type: domain.Categorical, Categories: domain.Categories{},
			Doc: "codes to 1250 by specs.json; which of them are in use is not public knowledge (UCLANESL's program read it " +
				"from the rows)."},
		"WARD": {Type: domain.Categorical, Categories: domain.Categories{"0", "1", "2", "3"}, Source: "public",
			Doc: "0 to the maxval of specs.json."},
		"RENT": {Type: domain.Integer, Bounds: &[2]float64{0, 9998}, Step: 1, Missing: domain.Spellings{"9999"},
			Nullable: true, Source: "public",
			Doc: "what the household pays a month; 0 to the maxval of specs.json."},
		"INCWAGE": {Type: domain.Integer, Bounds: &[2]float64{0, 999997}, Step: 1, Missing: domain.Spellings{"999998"},
			Nullable: true, Source: "public", Doc: "0 to the maxval of specs.json."},
		"CITYPOP": {Type: domain.Integer, Bounds: &[2]float64{0, 3224}, Step: 1, Source: "public",
			Doc: "0 to the maxval of specs.json."},
	}
	if got := d.Names(); !slices.Equal(got, []string{"FARM", "BPL", "COUNTY", "WARD", "RENT", "INCWAGE", "CITYPOP"}) {
		t.Errorf("columns %v are not those of the specs in their order", got)
	}
	for _, c := range d.Columns {
		w := want[c.Name]
		same := c.Type == w.Type && slices.Equal(c.Categories, w.Categories) &&
			(c.Categories == nil) == (w.Categories == nil) && c.Doc == w.Doc &&
			c.Source == w.Source && c.Step == w.Step && slices.Equal(c.Missing, w.Missing) && c.Nullable == w.Nullable &&
			(c.Bounds == nil) == (w.Bounds == nil)
		if !same || c.Bounds != nil && *c.Bounds != *w.Bounds {
			t.Errorf("%s: %+v, want %+v", c.Name, c, w)
		}
	}
}

// TestSentinels: the other form of an amount keeps its code inside the bounds, and names
// it for the stage not_available.
func TestSentinels(t *testing.T) {
	d := madeUp(t, codebook.AsSentinel)
	rent := d.Column("RENT")
	if rent.Bounds[1] != 9999 || len(rent.Missing) > 0 {
		t.Errorf("RENT: %+v, must keep 9999", rent)
	}
	listed, err := codebook.ReadSpecs("specs.json", []byte(specs))
	must(t, err)
	if got := codebook.Sentinels(listed, d); !slices.Equal(got, []string{"RENT: 9999", "INCWAGE: 999998"}) {
		t.Errorf("sentinels %v", got)
	}
}

// TestWrittenDomainIsRead by the reader of specs, with all that was meant.
func TestWrittenDomainIsRead(t *testing.T) {
	for _, form := range []codebook.Form{codebook.AsMissing, codebook.AsSentinel} {
		d := madeUp(t, form)
		text, err := codebook.YAML(d, "a comment of a file\ncolumns: []\n#.json")
		must(t, err)
		back, err := spec.ParseDomain("d.yaml", text)
		must(t, err)
		for i, c := range back.Columns {
			if w := d.Columns[i]; c.Name != w.Name || !slices.Equal(c.Categories, w.Categories) || !slices.Equal(c.Missing,
				w.Missing) || c.Doc != w.Doc {
				t.Errorf("%s: read as %+v, written from %+v", w.Name, c, w)
			}
		}
		if !back.Columns[2].Private() {
			t.Error("COUNTY is not private to a spec")
		}
	}
}

// A small schema and dictionary in the form of NIST's data excerpts.
const (
	excerptOf = `{"schema": {"SEX": {"dtype": "int64", "values": [1, 2]}, "NOC": {"has_null": true, "null_value": "N", "dtype": "object", "values": ["N", "0", "1", "3"]},
		"INC": {"dtype": "object", "null_value": "N", "min": -90, "max": 1327}, "DEN": {"dtype": "float64", "min": 16, "max": 528}, "IND": {"dtype": "object", "values": ["170", "180"]}}}`
	dictionary = `{"SEX": {"description": "Sex", "values": {"1": "Male", "2": "Female", "3": "Unknown"}},
		"NOC": {"description": "Own children", "values": {"N": "N/A", "0": "None", "min": 1, "max": 19}}, "DEN": {"description": "Density", "values": {"min": 16.3, "max": 528.7}},
		"IND": {"description": "Industry", "values": "270 possible codes"}, "OTHER": {"description": ["of no column here"]}}`
)

// TestExcerpt: a dictionary's codes and ranges are public, its code for N/A a missing
// value; what the schema alone says is what occurs, which nobody has declared.
func TestExcerpt(t *testing.T) {
	b := codebook.NewBook()
	must(t, b.Add("dictionary.json", []byte(dictionary)))
	listed, err := codebook.ReadSpecs("schema.json", []byte(excerptOf))
	must(t, err)
	d, err := codebook.Domain("schema.json", listed, b, codebook.AsMissing)
	must(t, err)
	for name, want := range map[string]string{
		"SEX": `categorical [1 2 3] <nil> [] public "Sex; 1 Male, 2 Female, 3 Unknown; codes by dictionary.json."`,
		"NOC": `integer [] &[0 19] [N] public "Own children; range by dictionary.json."`,
		"INC": `integer [] &[-90 1327] [N] UNDECIDED "least and greatest value that occur, by schema.json."`,
		"DEN": `numeric [] &[16.3 528.7] [] public "Density; range by dictionary.json."`,
		"IND": `categorical [170 180] <nil> [] UNDECIDED "Industry; values that occur, by schema.json."`,
	} {
		c := d.Column(name)
		if got := fmt.Sprintf("%s %v %v %v %s %q", c.Type, c.Categories, c.Bounds, c.Missing, c.Source, c.Doc); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	text, err := codebook.YAML(d)
	must(t, err)
	if _, err := spec.ParseDomain("d.yaml", text); err == nil || !strings.Contains(err.Error(),
		"UNDECIDED in 2 of 5 columns (INC, IND)") {
		t.Errorf("%v: a spec must not run on what only occurs", err)
	}
}

// imported returns what is wrong with a list of columns, or the domain that is made of it.
func imported(text string) error {
	listed, err := codebook.ReadSpecs("s.json", []byte(text))
	if err == nil {
		_, err = codebook.Domain("s.json", listed, codebook.NewBook(), codebook.AsMissing)
	}
	return err
}

// TestDamagedExcerpts are named with what is wrong.
func TestDamagedExcerpts(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema": [1]}`:                                                        "not a JSON object",
		`{"schema": {"A": {"values": []}}}`:                                      "no values and no min below max",
		`{"schema": {"A": {"min": 3, "max": 3}}}`:                                "no values and no min below max",
		`{"schema": {"A": {"values": ["x", "x"]}}}`:                              `columns[0].categories[1]: is a text of the file, a duplicate category, must be listed once`,
		`{"schema": {"A": {"values": ["N"], "null_value": "N"}}}`:                "nothing but null_value",
		`{"schema": {"A": {"values": [""]}}}`:                                    "holds an empty text",
		`{"schema": {"A": {"values": [[1]]}}}`:                                   "an object with a list values",
		`{"schema": {"A": {"values": [1]}, "A": {}}}`:                            "listed a second time",
		`{"schema": {"weir.a": {"values": [1]}}}`:                                "weir.",
		`{"schema": {"A": {"values": [1]}}`:                                      "is damaged at byte",
		`{"schema": {}}`:                                                         "has no column",
		`{"schema": {"A": {"values": [1]}}, "A": {"type": "enum", "maxval": 3}}`: `columns[1].name: is a text of the file, a duplicate column`,
		`{"schema": {"A": {"values": [1, 2], "null_value": "\u202e"}}}`:          "marks of direction",
	} {
		if err := imported(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"A": 3}`:                                  "an object with a description",
		`{"A": {"values": {"min": 3}}}`:             "min and max that give no range",
		`{"A": {"values": {"min": 3, "max": 1}}}`:   "below max",
		`{"A": {"values": {"min": "x", "max": 1}}}`: "must be a number",
		`{"A": {"values": {"1": [2]}}}`:             "must be text or a number",
		`{"A": {"values": {"1": "a", "1": "b"}}}`:   "listed a second time",
		`{"A": {"values": {"1": "a"}}`:              "is damaged at byte",
	} {
		if err := codebook.NewBook().Add("d.json", []byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "d.json: ") {
			t.Errorf("%s: %v, must name d.json and say %q", text, err, want)
		}
	}
}

// TestDamageIsNamed with its place and what is accepted.
func TestDamageIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		``:                                       "is damaged at byte 0",
		`[1]`:                                    "not a JSON object",
		`{}`:                                     "has no column",
		`{"A": `:                                 "is damaged at byte",
		`{"A": {"type": "enum", "maxval": 2}`:    "is damaged at byte",
		`{"A": {"type": "enum", "maxval": 2}} x`: "has text behind its object",
		`{"A": {"type": "enum", "maxval": 2}, "A": {}}`:            "listed a second time",
		`{"A": {"type": "enum"}}`:                                  "no maxval",
		`{"A": {"type": "float", "maxval": 2}}`:                    "must be enum",
		`{"A": 3}`:                                                 "an object with a text type",
		`{"A": {"type": "enum", "maxval": "many"}}`:                "maxval",
		`{"A": {"type": "enum", "maxval": 0}}`:                     "from 1 to",
		`{"A": {"type": "enum", "maxval": -5}}`:                    "from 1 to",
		`{"A": {"type": "enum", "maxval": 1.5}}`:                   "whole number",
		`{"A": {"type": "enum", "maxval": 99999999999999999999}}`:  "whole number",
		"{\"A\\u001b\": {\"type\": \"enum\", \"maxval\": 2}}":      "control characters",
		`{"": {"type": "enum", "maxval": 2}}`:                      "a name, of",
		`{"A": {"type": "enum", "maxval": 2, "maxval": 3` + "\x00": "is damaged",
	} {
		if err := imported(text); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(),
			"s.json: ") {
			t.Errorf("%s: %v, must name s.json and say %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                                "describes no column",
		"just prose\n":                    "describes no column",
		" A\t\tx\n0\t\tN/A\n0\t\tagain\n": "b.cbk:3: lists the code 0 of A a second time, must list it once",
		" A\t\tx\n00\t\tN/A\n0\t\tagain":  "b.cbk:3: lists the code 0 of A a second time, must list it once",
		" A\t\tx\n0 N/A\n":                "b.cbk:2: is \"0 N/A\" in the section of A",
		" A\t\tx\n A\t\ty\n":              "b.cbk:2: has a second section of A",
		" A\t\t\xff\n":                    "UTF-8",
		" A\t\tx\n0\t\t\x00\n":            "UTF-8",
	} {
		if err := codebook.NewBook().Add("b.cbk", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, must say %q", text, err, want)
		}
	}
}

// TestHugeListsAreNoLists: a maxval beyond the codes of a codebook makes no list of
// categories, and domains that weir check would not read are refused.
func TestHugeListsAreNoLists(t *testing.T) {
	listed := []codebook.Listed{{Name: "A", Maxval: 9_999_998}, {Name: "B", Maxval: 5_000_000}, {Name: "C", Maxval: 1000},
		{Name: "D", Maxval: 1001}}
	d, err := codebook.Domain("s", listed, codebook.NewBook(), codebook.AsMissing)
	must(t, err)
	for i, want := range []int{0, 0, 1001, 0} {
		if got := len(d.Columns[i].Categories); got != want {
			t.Errorf("%s: %d categories of a maxval of %d, want %d", listed[i].Name, got, listed[i].Maxval, want)
		}
	}
	var many []codebook.Listed
	for i := range 400 {
		many = append(many, codebook.Listed{Name: strings.Repeat("x", i+1), Maxval: 1000})
	}
	wide, err := codebook.Domain("s", many, codebook.NewBook(), codebook.AsMissing)
	must(t, err)
	if _, err := codebook.YAML(wide); err == nil || !strings.Contains(err.Error(), "1 MiB") {
		t.Errorf("a domain of 400 long lists: %v, must be refused", err)
	}
	if err := codebook.NewBook().Add("b", make([]byte, codebook.MaxBytes+1)); err == nil {
		t.Error("a codebook beyond the limit is read")
	}
	if _, err := codebook.ReadSpecs("s", make([]byte, 1<<20+1)); err == nil {
		t.Error("specs beyond the limit are read")
	}
}

// FuzzImport: whatever the files hold, there is a domain that a spec can read, or an error.
func FuzzImport(f *testing.F) {
	f.Add([]byte(specs), []byte(book))
	f.Add([]byte(specs), []byte(lines))
	f.Add([]byte(excerptOf), []byte(dictionary))
	f.Add([]byte(`{"A": {"type": "enum", "maxval": 9}}`), []byte(" A\t\t\u202e\n0\t\t\x1b[2J\n"))
	f.Fuzz(func(t *testing.T, specs, book []byte) {
		b := codebook.NewBook()
		if b.Add("b", book) != nil {
			b = codebook.NewBook()
		}
		listed, err := codebook.ReadSpecs("s", specs)
		if err != nil {
			return
		}
		for _, form := range []codebook.Form{codebook.AsMissing, codebook.AsSentinel} {
			d, err := codebook.Domain("s", listed, b, form)
			if err != nil {
				continue
			}
			text, err := codebook.YAML(d)
			if err != nil {
				continue
			}
			if _, err := spec.ParseDomain("d.yaml", text); err != nil && !strings.Contains(err.Error(), domain.Undecided) {
				t.Fatalf("%v\n%s", err, text)
			}
		}
	})
}

// TestColorado: the challenge's own files (WEIR_DATA): 98 columns, of which IPUMS lists
// the codes of most; RENT, VALUEH and INCWAGE are amounts with a code for not available.
func TestColorado(t *testing.T) {
	folder := stattest.PublicData(t)
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(folder, "nist_census1940_match3", name))
		must(t, err)
		return data
	}
	b := codebook.NewBook()
	must(t, b.Add("codebook.cbk", read("codebook.cbk")))
	must(t, b.Add("dictionary.txt", read("NISTChallengeMatch3DataDict.txt")))
	listed, err := codebook.ReadSpecs("specs.json", read("colorado-specs.json"))
	must(t, err)
	d, err := codebook.Domain("specs.json", listed, b, codebook.AsMissing)
	must(t, err)
	text, err := codebook.YAML(d)
	must(t, err)
	_, err = spec.ParseDomain("d.yaml", text)
	must(t, err)
	private, byBook := 0, 0
	for _, c := range d.Columns {
		if c.Categories != nil && len(c.Categories) == 0 {
			private++
		}
		if strings.Contains(c.Doc, "codebook.cbk") {
			byBook++
		}
	}
	if len(d.Columns) != 98 || private != 2 || byBook < 50 {
		t.Errorf("%d columns, %d private, %d by the codebook; want 98, COUNTY and SEA, and most", len(d.Columns), private,
			byBook)
	}
	if sex := d.Column("SEX"); !slices.Equal(sex.Categories, []string{"1", "2"}) || !strings.Contains(sex.Doc,
		"1 Male, 2 Female") {
		t.Errorf("SEX: %+v", sex)
	}
	for name, missing := range map[string]string{"RENT": "9999", "VALUEH": "9999999", "INCWAGE": "999998",
		"ERSCOR50": "9999"} {
		if c := d.Column(name); c.Type != domain.Integer || !slices.Equal(c.Missing, []string{missing}) {
			t.Errorf("%s: %+v, must be an amount without %s", name, c, missing)
		}
	}
}
