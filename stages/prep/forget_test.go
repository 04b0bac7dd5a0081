package prep

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
)

// A column that is written over, or made anew under an old name, is not what the
// steps before changed: undoing them leaves it alone (found by cmd/soak, where the
// old type came out under the new one's name, as a panic).
func TestUndoingLeavesNewColumnsAlone(t *testing.T) {
	overwrite := &Derive{Columns: []Derived{{Name: "age", Formula: "visits * 2", Type: "integer"}}}
	for name, stages := range map[string][]pipeline.Stage{
		"in bins": {&Discretize{Columns: []string{"age"}, Strategy: "uniform", Bins: 4, Inverse: "midpoint"}, overwrite},
		"made anew": {&Discretize{Columns: []string{"age"}, Strategy: "uniform", Bins: 4, Inverse: "midpoint"},
			&Drop{Columns: []string{"age"}}, overwrite},
		"with a sentinel": {&NotAvailable{Columns: map[string]float64{"age": 34}, Suffix: "_na"}, overwrite},
	} {
		out := after(t, clinicTable(), append(stages, &Decode{To: "source"})...)
		at := out.Header.Domain.Index("age")
		values, ok := out.Rows.Column(at).(*array.Int64)
		if !ok || values.Value(0) != 2 || values.Value(4) != 4 {
			t.Errorf("%s: column age is %v", name, out.Rows.Column(at))
		}
	}
}
