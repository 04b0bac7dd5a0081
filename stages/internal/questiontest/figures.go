package questiontest

import (
	"math"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// Tables are the rows of inputs.
func Tables(in map[string]pipelinetest.Input) pipeline.Tables {
	t := pipeline.Tables{}
	for port, i := range in {
		t[port] = pipeline.FromRecords(i.Header, i.Rows)
	}
	return t
}

// Figures runs a stage and reads its metrics by key. They are private, each stands
// once, and is finite or has a reason.
func Figures(t *testing.T, s pipeline.Stage, in map[string]pipelinetest.Input) map[string]pipeline.Metric {
	t.Helper()
	return figures(t, s, Tables(in))
}

func figures(t *testing.T, s pipeline.Stage, in pipeline.Tables) map[string]pipeline.Metric {
	t.Helper()
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(2), in)
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

// Nothing runs a stage on tables without a single batch, whose figures are all
// undefined: no error, as of tables without rows.
func Nothing(t *testing.T, s pipeline.Stage, ports ...string) {
	t.Helper()
	in := pipeline.Tables{}
	for _, port := range ports {
		in[port] = pipeline.FromRecords(wardInput(WardRows(1, 0), pipeline.Private).Header)
	}
	if _, err := pipelinetest.Run(t, s, pipelinetest.Env(2), in); err != nil {
		t.Errorf("%T: %v", s, err)
	}
}
