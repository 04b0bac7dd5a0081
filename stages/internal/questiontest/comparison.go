package questiontest

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// Comparison are the conformance cases of a kind that compares tables by its
// defaults.
func Comparison(k pipeline.Kind) map[string][]pipelinetest.Case {
	both := Ports(WardRows(1, 40), WardRows(2, 30), WardRows(3, 50))
	return map[string][]pipelinetest.Case{k.Name: {
		{Name: "two tables", Stage: k.New, In: Ports(WardRows(1, 40), WardRows(2, 30), nil)},
		{Name: "with real_train", Stage: k.New, In: both},
		Removable(both, k.New),
	}}
}

// Removable is a case whose private tables have a private number of rows.
func Removable(in map[string]pipelinetest.Input, stage func() pipeline.Stage) pipelinetest.Case {
	c := pipelinetest.Case{Name: "add_remove", In: map[string]pipelinetest.Input{}, Stage: stage}
	for port, i := range in {
		if i.Header.Class == pipeline.Private && i.Header.Form == pipeline.FormTable {
			i.Header.Terms.Adjacency = privacy.AddRemove
		}
		c.In[port] = i
	}
	return c
}

// OddTables runs a kind on every pair of odd tables (see Figures), and on none.
func OddTables(t *testing.T, k pipeline.Kind) {
	usual := WardRows(1, 40)
	odd := map[string]arrow.Record{
		"no rows": WardRows(1, 0), "one row": usual.NewSlice(0, 1), "two rows": usual.NewSlice(0, 2),
		"all missing": Blank(usual, true), "all constant": Blank(usual, false), "usual": usual, "huge": Huge(40),
	}
	for realName, real := range odd {
		for synthName, synth := range odd {
			for _, train := range []arrow.Record{nil, WardRows(3, 0), WardRows(3, 30), Blank(usual, true)} {
				t.Run(realName+"/"+synthName, func(t *testing.T) { Figures(t, k.New(), Ports(real, synth, train)) })
			}
		}
	}
	Nothing(t, k.New(), "real", "synthetic", "real_train")
}

// The synthetic tables of known quality that Judge takes, beside held-out and
// training rows of one distribution.
func Copies() arrow.Record    { return WardRows(11, 1500) } // the training rows themselves
func Fresh() arrow.Record     { return WardRows(12, 1500) }
func Constants() arrow.Record { return Blank(Fresh(), false) }

// Judge compares a synthetic table with 1500 held-out and 1500 training rows.
func Judge(t *testing.T, k pipeline.Kind, synthetic arrow.Record) map[string]pipeline.Metric {
	return Figures(t, k.New(), Ports(WardRows(10, 1500), synthetic, Copies()))
}

// Bounds are the least and greatest value of figures, by key.
type Bounds map[string][2]float64

// Within checks figures against bounds.
func Within(t *testing.T, list map[string]pipeline.Metric, want Bounds) {
	t.Helper()
	for key, b := range want {
		if m, ok := list[key]; !ok || !(m.Value >= b[0] && m.Value <= b[1]) {
			t.Errorf("%s is %v (%s), must be between %v and %v", key, m.Value, m.Note, b[0], b[1])
		}
	}
}
