package graphical

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// TestPrivateModelsStayPrivate: a run without privacy has private models. What is made of
// one is private in the plan, and says so itself.
func TestPrivateModelsStayPrivate(t *testing.T) {
	model, _ := attempt{stage: independentKind().New(), in: ward(30), multiplier: 1}.run(t)
	model.Class, model.Terms.NoPrivacy = pipeline.Private, true
	for name, port := range map[string]string{fromName: "model", intervalsName: "in", measuredName: "in"} {
		var stage pipeline.Stage
		for _, k := range Kinds() {
			if k.Name == name {
				stage = k.New()
			}
		}
		w, err := stage.Plan(pipeline.Headers{port: model.Header})
		must(t, err)
		out, err := w.Run(t.Context(), pipelinetest.Env(1), pipeline.Tables{port: model})
		must(t, err)
		for what, table := range out {
			if planned := w.Out[what].Class; planned != pipeline.Private || table.Class != planned {
				t.Errorf("%s: %s is planned as %s and says %s, must be private", name, what, planned, table.Class)
			}
		}
	}
}
