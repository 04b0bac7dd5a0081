// Tests of what all questions have to answer alike.
package evaluate

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// overrides are settings that differ from the defaults.
type overrides map[string]any

// stage returns a stage of the named kind.
func stage(kind string, settings overrides) pipeline.Stage {
	text, err := json.Marshal(settings)
	if err != nil {
		panic(err)
	}
	for _, k := range Kinds() {
		if k.Name == kind {
			s := k.New()
			if err := json.Unmarshal(text, s); err != nil {
				panic(err)
			}
			return s
		}
	}
	panic("no kind " + kind)
}

// comparisons lists the kinds that compare tables without further settings: all but those with cases of their own.
func comparisons() (names []string) {
	own := []string{"downstream", "dimension_wise_prediction", "regression_discovery", "compare_queries"}
	for _, k := range Kinds() {
		if !slices.Contains(own, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
}

// figures runs a stage and reads its metrics by key. They are private, each stands
// once, and is finite or has a reason.
func figures(t *testing.T, s pipeline.Stage, in map[string]pipelinetest.Input) map[string]pipeline.Metric {
	t.Helper()
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(2), pipelinetest.Tables(in))
	if err != nil {
		t.Fatal(err)
	}
	if c := out["out"].Class; c != pipeline.Private {
		t.Errorf("metrics are %s, must be private", c)
	}
	list, err := pipeline.ReadMetrics(t.Context(), out["out"])
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]pipeline.Metric{}
	for _, v := range list {
		if _, twice := m[v.Key()]; twice {
			t.Errorf("metric %s stands twice", v.Key())
		}
		if math.IsInf(v.Value, 0) || math.IsNaN(v.Value) && v.Note == "" {
			t.Errorf("%s is %v with note %q", v.Key(), v.Value, v.Note)
		}
		m[v.Key()] = v
	}
	if len(m) == 0 {
		t.Error("no metrics at all")
	}
	return m
}
