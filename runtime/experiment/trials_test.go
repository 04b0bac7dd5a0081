package experiment

import (
	"slices"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
)

// plain is a stage that does nothing.
type plain struct{}

func (plain) Plan(pipeline.Headers) (pipeline.Work, error) { return pipeline.Work{}, nil }

// predicting is a stage without figures that names the column at which models aim.
type predicting struct{ plain }

func (predicting) Predicts() string { return "outcome" }

// TestUnmeasuredStages: what a figure, a charge or the aim of a model rests on stays, whatever it reads stays too, and
// the rest is left out.
func TestUnmeasuredStages(t *testing.T) {
	p := &compile.Plan{Spec: &spec.Spec{}}
	for _, c := range []struct {
		id, from string
		stage    pipeline.Stage
		work     pipeline.Work
		figures  bool
	}{
		{id: "clean", from: pipeline.DatasetID, stage: plain{}},
		{id: "train", from: "clean", stage: plain{}, work: pipeline.Work{Spends: []pipeline.Spend{{}}}},
		{id: "unread", from: "clean", stage: plain{}},
		{id: "sample", from: "train", stage: plain{}},
		{id: "utility", from: "sample", stage: plain{}, figures: true},
		{id: "aim", from: "unread", stage: predicting{}},
		{id: "kept", from: "clean", stage: plain{}},
		{id: "report", from: "utility", stage: plain{}},
	} {
		step := pipeline.Step{ID: c.id, Inputs: map[string][]pipeline.Ref{"in": {{Stage: c.from}}}}
		if c.figures {
			step.Figures = make([]pipeline.Figure, 1)
		}
		p.Spec.Stages = append(p.Spec.Stages, spec.Stage{ID: c.id, Stage: c.stage})
		p.Steps = append(p.Steps, compile.Step{Step: &step, Work: c.work})
	}
	if got, want := Unmeasured(p), []string{"report", "kept"}; !slices.Equal(got, want) {
		t.Errorf("%v, must be %v", got, want)
	}
}
