package pipeline

import (
	"encoding/json"
	"testing"
)

// TestPlanNamesItsSource: the JSON of a plan begins with the kind of its source, as specs name it, whichever that is;
// nothing else of the source is in it.
func TestPlanNamesItsSource(t *testing.T) {
	d := DatasetPlan{PrivacyUnit: "row", Columns: 2, Source: Declared{Kind: "file", Place: "data/a <b>.csv",
		Name: "a <b>.csv", Files: []string{"data/a <b>.csv"}}}
	got, err := json.Marshal(&Plan{Dataset: d}) // as plans are kept
	if err != nil {
		t.Fatal(err)
	}
	var plan struct{ Dataset json.RawMessage }
	if err := json.Unmarshal(got, &plan); err != nil {
		t.Fatal(err)
	}
	if want := `{"file":"data/a \u003cb\u003e.csv","privacy_unit":"row","columns":2}`; string(plan.Dataset) != want {
		t.Errorf("%s, must be %s", plan.Dataset, want)
	}
}

// TestPatterns: what a name says of the files of a table and of the name of its ledger, by the text alone.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, stem string
		is            bool
		parts, others []string
	}{
		{"data/part-*.csv", "data/part-_.csv", true, []string{"part-.csv", "part-1.csv", "part-ä.csv"},
			[]string{"part-1.csv.gz", "apart-1.csv", "part-1.csv.weir-owner.json", "Part-1.csv"}},
		{"part-??*.csv", "part-_.csv", true, []string{"part-12.csv", "part-123.csv"}, []string{"part-1.csv"}},
		{"*.csv", "_.csv", true, []string{"a.csv", "x[1].csv"}, []string{".a.csv", "._a.csv", "~a.csv.tmp"}},
		{".*.csv", "._.csv", true, []string{".a.csv"}, []string{"a.csv"}},
		{"part-*", "part-_", true, []string{"part-1"}, []string{"part-_.weir-ledger.jsonl", "part-_.weir-private.md"}},
		{"a[1-3]*.csv", "a[1-3]_.csv", true, []string{"a[1-3]7.csv"}, []string{"a2.csv"}},
		{`a\*.csv`, `a\_.csv`, true, []string{`a\x.csv`}, []string{"a*.csv"}},
		{"fold*er/a.csv", "fold*er/a.csv", false, nil, nil},
		{"a[1].csv", "a[1].csv", false, nil, nil},
	} {
		if IsPattern(c.pattern) != c.is || Stem(c.pattern) != c.stem {
			t.Errorf("%s: pattern %v, stem %s, must be %v, %s", c.pattern, IsPattern(c.pattern), Stem(c.pattern), c.is, c.stem)
		}
		for _, name := range c.parts {
			if !Matches(c.pattern, name) {
				t.Errorf("%s does not match %s", c.pattern, name)
			}
		}
		for _, name := range c.others {
			if Matches(c.pattern, name) {
				t.Errorf("%s matches %s", c.pattern, name)
			}
		}
	}
}
