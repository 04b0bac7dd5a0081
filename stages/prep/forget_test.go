package prep

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// TestUndoingLeavesNewColumnsAlone: a column that is written over, or made anew under an old name, is not what the
// steps before changed: undoing them leaves it alone (found by internal/soak, where the
// old type came out under the new one's name, as a panic).
func TestUndoingLeavesNewColumnsAlone(t *testing.T) {
	overwrite := &Derive{Columns: []Derived{{Name: "age", Formula: "visits * 2", Type: "integer"}}}
	for name, stages := range map[string][]pipeline.Stage{
		"in bins": {&Discretize{Columns: []string{"age"}, Strategy: "uniform", Bins: 4, Inverse: "midpoint"}, overwrite},
		"made anew": {&Discretize{Columns: []string{"age"}, Strategy: "uniform", Bins: 4, Inverse: "midpoint"},
			&Drop{Columns: []string{"age"}}, overwrite},
		"with a sentinel": {&NotAvailable{Columns: map[string]float64{"age": 34}, Suffix: "_na"}, overwrite},
	} {
		out := pipelinetest.After(t, clinicTable(), append(stages, &Decode{To: "source"})...)
		index := out.Header.Domain.Index("age")
		values, ok := out.Rows.Column(index).(*array.Int64)
		if !ok || values.Value(0) != 2 || values.Value(4) != 4 {
			t.Errorf("%s: column age is %v", name, out.Rows.Column(index))
		}
	}
}

// TestUndoingPastQuantiles: quantiles are not undone, so what an earlier step knows of the numbers does not
// fit their bins: a missing value is hidden in a bin too, a sentinel has no place
// there (found by internal/soak).
func TestUndoingPastQuantiles(t *testing.T) {
	quantiles := &Discretize{Columns: []string{"age"}, Strategy: "quantile", Bins: 2, Inverse: "midpoint"}
	fill := &ImputeConstant{Numbers: map[string]float64{"age": 50}}
	for name, mark := range map[string]pipeline.Stage{"missing": &MissingIndicator{Columns: []string{"age"},
		Suffix: "_was"},
		"sentinel": &NotAvailable{Columns: map[string]float64{"age": 34}, Suffix: "_was"}} {
		in := pipelinetest.After(t, clinicTable(), mark, fill)
		out, err := pipelinetest.Run(t, quantiles, pipelinetest.Env(1), pipeline.Tables{"in": pipeline.FromRecords(in.Header,
			in.Rows)})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := out["out"].Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		back := pipelinetest.After(t, pipelinetest.Input{Header: out["out"].Header, Rows: rows}, &Decode{To: "source"})
		index := back.Header.Domain.Index("age")
		codes, ok := back.Rows.Column(index).(*array.Int32)
		if !ok || back.Header.Domain.Index("age_was") >= 0 || codes.IsNull(2) != (name == "missing") {
			t.Errorf("%s: column age is %v", name, back.Rows.Column(index))
		}
	}
}
