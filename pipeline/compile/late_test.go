package compile

import (
	"context"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy"
)

// openStage takes the bounds from a column, and learns them when it runs.
type openStage struct{}

func (s *openStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"].Clone()
	h.Domain.Columns[0].Bounds, h.Domain.Columns[0].Late, h.Domain.Columns[0].Source = nil, true, ""
	return pipeline.Work{Out: pipeline.Headers{"out": h},
		Spends: []pipeline.Spend{{Name: "bounds", Mechanism: func(scale float64) privacy.Mechanism {
			return noisy{"laplace", 1, 1, scale, false}
		}}}}, nil
}

// waitStage does otherwise once it knows the bounds, as it is told.
type waitStage struct {
	Does string `yaml:"does,omitempty" doc:"What it does otherwise."`
}

func (s *waitStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"].Clone()
	known := len(h.LateColumns()) == 0
	steps := int64(1)
	if known {
		switch s.Does {
		case "steps":
			steps = 2
		case "null":
			h.Domain.Columns[1].Nullable = true
		case "rows":
			h.Rows = 7
		case "column":
			h.Domain.Columns[1].Name = "other"
		case "class":
			h.Class = pipeline.Released
		case "stability":
			h.Stability = pipeline.Unbounded()
		}
	}
	spend := pipeline.Spend{Name: "learn", Mechanism: func(scale float64) privacy.Mechanism {
		return noisy{"laplace", 1,
			steps, scale, false}
	}}
	w := pipeline.Work{Out: pipeline.Headers{"out": h}, Spends: []pipeline.Spend{spend}, Secret: known &&
		s.Does == "secret"}
	if known && s.Does == "spend" {
		w.Spends = append(w.Spends, spend)
	}
	w.Run = func(context.Context, *pipeline.Env, pipeline.Tables) (pipeline.Tables, error) {
		return pipeline.Tables{}, nil
	}
	return w, nil
}

// TestASecondPlanKeepsTheFirst: what a stage does with the released domain is what was
// checked and priced without it, or it does not run.
func TestASecondPlanKeepsTheFirst(t *testing.T) {
	port := []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}}
	out := []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "a table"}}
	more := []pipeline.Kind{
		{Name: "open", Doc: "Learns bounds.", In: port, Out: out, New: func() pipeline.Stage { return &openStage{} }},
		{Name: "wait", Doc: "Waits.", In: port, Out: out, Late: true, New: func() pipeline.Stage { return &waitStage{} }},
	}
	for _, does := range []string{"", "steps", "null", "rows", "column", "class", "stability", "secret", "spend"} {
		plan := compileWith(t, more, `weir: 1
name: test
dataset:
  file: patients.csv
  domain: {columns: [{name: age, type: integer, bounds: [0, 120]}, {name: sex, type: categorical, categories: [1, 2]}]}
privacy: {epsilon: 1, delta: 1e-5, adjacency: add_remove, split: {b: 0.5, w: 0.5}}
stages:
  b: {kind: open}
  w: {kind: wait, does: "`+does+`"}
`)
		step := plan.Step("w")
		if got := step.In.LateColumns(); len(got) != 1 || step.In["in"].Domain.Columns[0].Source != "stage b of a run" {
			t.Fatalf("late are %v of %+v", got, step.In["in"].Domain.Columns[0])
		}
		in := pipeline.Table{Header: plan.Spec.Header()}
		_, err := step.Work.Run(t.Context(), nil, pipeline.Tables{"in": in})
		if (err == nil) != (does == "") || err != nil && !strings.Contains(err.Error(), "otherwise than its plan says") {
			t.Errorf("%q: error %v", does, err)
		}
	}
}

func compileWith(t *testing.T, more []pipeline.Kind, text string) *Plan {
	t.Helper()
	s, err := spec.Parse(spec.Input{File: "test.yaml", Data: []byte(text), More: Faults}, fakes(t, more...))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
