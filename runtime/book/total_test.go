package book

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy"
)

// TestChargesSayWhose: a bill over several specs names a charge by run and spec, and the stage once where
// its spend has the stage's name.
func TestChargesSayWhose(t *testing.T) {
	p := &compile.Plan{Plan: &pipeline.Plan{}, Spec: &spec.Spec{Name: "study"}}
	s := &compile.Step{Step: &pipeline.Step{ID: "train", Spends: []pipeline.Planned{{Line: privacy.Line{Name: "train"}}, {Line: privacy.Line{Name: "sizes"}}}}}
	list := charges(130, p, s)
	if len(list) != 2 || list[0].ID != "run 131 (study), train" || list[1].ID != "run 131 (study), train/sizes" {
		t.Errorf("%+v", list)
	}
}
