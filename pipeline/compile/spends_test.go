package compile

import (
	"math"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy"
)

// planned is a stage whose work is whatever a test says.
type planned struct {
	Rate float64 `yaml:"rate" json:"rate" doc:"A number."`
	work func(pipeline.Headers) pipeline.Work
}

func (s *planned) Plan(in pipeline.Headers) (pipeline.Work, error) { return s.work(in), nil }

// compiled compiles a spec in which the kind paid does work.
func compiled(t *testing.T, stages string, work func(pipeline.Headers) pipeline.Work, rate float64,
	set ...string) (*Plan, error) {
	t.Helper()
	two := []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"},
		{Name: "other", Form: pipeline.FormTable, Optional: true, Doc: "another"}}
	model := []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "a model"}}
	reg := fakes(t, pipeline.Kind{Name: "paid", Doc: "Pays.", In: two, Out: model,
		New: func() pipeline.Stage { return &planned{Rate: rate, work: work} }})
	s, err := spec.Parse(spec.Input{File: "test.yaml", Data: []byte(head + "stages:\n" + stages), Set: set}, reg)
	if err != nil {
		t.Fatal(err)
	}
	return Compile(s)
}

func spending(change func(*pipeline.Work)) func(pipeline.Headers) pipeline.Work {
	return func(in pipeline.Headers) pipeline.Work {
		w := pipeline.Work{Out: pipeline.Headers{"model": {Form: pipeline.FormModel, Class: pipeline.Released,
			Domain: in["in"].Domain}},
			Spends: []pipeline.Spend{{Name: "train", Doc: "noisy", Mechanism: func(scale float64) privacy.Mechanism {
				return noisy{rate: 0.01, steps: 50, multiplier: scale}
			}}}}
		change(&w)
		return w
	}
}

const unit = "dataset.privacy_unit={column: sex, max_rows: 4}"

// TestSpendsAreRefused: what a stage cannot spend is a problem at its place, and
// one of privacy.
func TestSpendsAreRefused(t *testing.T) {
	groupless := spending(func(w *pipeline.Work) {
		w.Spends[0].Mechanism = func(scale float64) privacy.Mechanism { return noisy{law: "discrete", multiplier: scale} }
	})
	for name, c := range map[string]struct {
		stages string
		work   func(pipeline.Headers) pipeline.Work
		set    []string
		want   string
	}{
		"a group without a bound": {"  bare: {kind: drop, columns: [sex]}\n  train: {kind: paid}\n", groupless,
			[]string{unit}, "without a price"},
		"a lazy stage": {"  train: {kind: paid}\n", spending(func(w *pipeline.Work) { w.Lazy = true }), nil,
			"computed anew by each reader"},
		"one name twice": {"  train: {kind: paid}\n",
			spending(func(w *pipeline.Work) { w.Spends = append(w.Spends, w.Spends[0]) }), nil, "two mechanisms named"},
		"a mechanism that can change": {"  train: {kind: paid}\n", spending(func(w *pipeline.Work) {
			w.Spends[0].Mechanism = func(scale float64) privacy.Mechanism {
				return &noisy{rate: 0.01, steps: 50,
					multiplier: scale}
			}
		}), nil, "not a plain value"},
		"a private file": {"  train: {kind: paid}\n", spending(func(w *pipeline.Work) {
			w.Spends, w.Files = nil,
				[]pipeline.FileUse{{Path: "other.csv"}}
		}), nil, "W13"},
		"an unbounded table": {"  mixed: {kind: mix}\n  train: {kind: paid}\n", spending(func(*pipeline.Work) {}), nil,
			"without bound"},
		"an unbounded second table": {"  mixed: {kind: mix}\n  train: {kind: paid, from: dataset, other: mixed}\n",
			spending(func(*pipeline.Work) {}), nil, "without bound"},
	} {
		_, err := compiled(t, c.stages, c.work, 1, c.set...)
		ds, ok := err.(spec.Diagnostics)
		if !ok || !ds.Privacy() || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "test.yaml:") {
			t.Errorf("%s: %v, must be refused at its place: %q", name, err, c.want)
		}
	}
}

// TestSettingsThatCannotBeStored fail; they never become part of a recipe as text.
func TestSettingsThatCannotBeStored(t *testing.T) {
	_, err := compiled(t, "  train: {kind: paid}\n", spending(func(*pipeline.Work) {}), math.Inf(1))
	if err == nil || !strings.Contains(err.Error(), "cannot be stored") {
		t.Errorf("%v, must be a fault", err)
	}
}

// TestChangesAddUp: a mechanism that reads two private tables of rows(4) is
// charged for eight rows, rate and noise (privacy.Group).
func TestChangesAddUp(t *testing.T) {
	for stages, rows := range map[string]int{
		"  bare: {kind: drop, columns: [sex]}\n  train: {kind: paid}\n":                                                   4,
		"  bare: {kind: drop, columns: [sex]}\n  clean: {kind: clean}\n  train: {kind: paid, from: bare, other: clean}\n": 8,
	} {
		plan, err := compiled(t, stages, spending(func(w *pipeline.Work) { w.Pricing.Scale = 50 }), 1, unit)
		if err != nil {
			t.Fatal(err)
		}
		s := plan.Step("train").Spends[0]
		want, err := privacy.Group(noisy{rate: 0.01, steps: 50, multiplier: 50}.Event(privacy.AddRemove), rows)
		if err != nil || s.Event.Event != want {
			t.Errorf("%d rows: charged %v, must be %v (%v)", rows, s.Event.Event, want, err)
		}
		if !strings.Contains(s.Sensitivity, "rows are added or removed") {
			t.Errorf("the bill says %q", s.Sensitivity)
		}
	}
}
