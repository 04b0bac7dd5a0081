package compile

import (
	"errors"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/privacy"
)

// TestNamesUnits: what looks as if it named persons, by its name, where there is no
// bounded set of values.
func TestNamesUnits(t *testing.T) {
	for _, c := range []struct {
		name string
		of   domain.ColumnType
		want bool
	}{
		{"id", domain.Integer, true}, {"ID", domain.Text, true}, {"visit_mrn", domain.Integer, true},
		{"patient", domain.Text, true},
		{"patient_number", domain.Integer, true}, {"id", domain.Categorical, false}, {"id", domain.Numeric, false},
		{"width", domain.Integer, false}, {"impatient", domain.Text, false}, {"age", domain.Integer, false},
	} {
		if got := NamesUnits(domain.Column{Name: c.name, Type: c.of}); got != c.want {
			t.Errorf("a column %s of type %s: %v, must be %v", c.name, c.of, got, c.want)
		}
	}
}

// TestSetTakesOut: an empty value is as if the setting had never been written.
func TestSetTakesOut(t *testing.T) {
	written, err := parse(t, two, "stages.second.steps=")
	if err != nil {
		t.Fatal(err)
	}
	never, err := parse(t, head+"stages:\n  first: {kind: learn, steps: 50}\n  second: {kind: learn, from: dataset}\n")
	if err != nil {
		t.Fatal(err)
	}
	if written.Digest != never.Digest {
		t.Error("--set stages.second.steps= leaves the setting in")
	}
}

// wordless is a stage whose error is no list of problems.
type wordless struct{}

func (wordless) Plan(pipeline.Headers) (pipeline.Work, error) {
	return pipeline.Work{}, errors.New("a table too wide")
}

// TestErrorOfAPlanIsAProblem of its stage, with its words, and nothing is compiled.
func TestErrorOfAPlanIsAProblem(t *testing.T) {
	reg := fakes(t, pipeline.Kind{Name: "wordless", Doc: "Fails.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "a table"}},
		New: func() pipeline.Stage { return &wordless{} }})
	s, err := spec.Parse(spec.Input{File: "test.yaml", Data: []byte(head + "stages:\n  wide: {kind: wordless, from: " +
		"dataset}\n")}, reg)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Compile(s)
	var ds spec.Diagnostics
	if plan != nil || !errors.As(err, &ds) || len(ds) != 1 || ds[0].Stage != "wide" || ds[0].Found != "a table too wide" {
		t.Errorf("plan %v, error %v: must name the stage and say what it said", plan, err)
	}
}

// rounds is a mechanism of rounds that have noise of their own.
type rounds struct{ noisy }

func (rounds) Total() float64 { return 1 }

// TestFiltersMoveInNoise: what a filter moves by is measured in its noise, so that nobody
// divides it by the noise again; what one sum moves by is not.
func TestFiltersMoveInNoise(t *testing.T) {
	const unit = "in standard deviations of the noise"
	words := func(m privacy.Mechanism, rows int, adjacency privacy.Adjacency) string {
		spend := pipeline.Spend{Mechanism: func(float64) privacy.Mechanism { return m }}
		p, err := bill.Change{Rows: rows}.Price(spend, 0, adjacency)
		if err != nil {
			t.Fatal(err)
		}
		return p.Sensitivity
	}
	if got := words(rounds{noisy{multiplier: 2}}, 2, privacy.ReplaceOne); !strings.Contains(got, unit+" when 2 rows") {
		t.Errorf("a filter: %q, must say %q", got, unit)
	}
	if got := words(noisy{multiplier: 2}, 1, privacy.AddRemove); strings.Contains(got, unit) {
		t.Errorf("a sum: %q, must not say %q", got, unit)
	}
}
