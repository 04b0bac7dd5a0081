package runtime

import (
	"context"
	"fmt"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
)

// talker passes on what it reads, and says how many tables it is given to speak of.
type talker struct{}

func (talker) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return pipeline.Work{Out: pipeline.Headers{"out": in["in"]}, Write: []string{"csv"},
		Remark: func(_ context.Context, released pipeline.Tables) (string, error) {
			return fmt.Sprintf("%d released", len(released)), nil
		},
		Run: func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			return pipeline.Tables{"out": in["in"]}, nil
		}}, nil
}

// TestRemarksAreOfReleasedOutputs: a stage whose output is released is asked what it says of it, one whose output is
// private is not.
func TestRemarksAreOfReleasedOutputs(t *testing.T) {
	port := []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}}
	out := []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "a table"}}
	reg, err := Registry([]pipeline.Kind{
		{Name: "thief", Version: 1, Doc: "Pays, and releases no rows.", In: port, Out: out,
			New: func() pipeline.Stage { return &thief{} }},
		{Name: "talker", Version: 1, Doc: "Talks.", In: port, Out: out, New: func() pipeline.Stage { return &talker{} }},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Parse(spec.Input{File: "spec.yaml", Data: []byte(`weir: 1
name: talk
dataset: {demo: cardio, demo_rows: 50, rows_public: 50}
privacy: {epsilon: 1, delta: 1e-6, adjacency: replace_one}
stages:
  secret: {kind: talker, from: dataset}
  paid: {kind: thief, does: nothing, from: secret}
  open: {kind: talker, from: paid}
`)}, reg)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), plan, testOptions(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Record.Remarks; len(got) != 1 || got[0].Stage != "open" || got[0].Text != "1 released" {
		t.Errorf("remarks are %+v, must be one, of the stage open on its one table", got)
	}
}
