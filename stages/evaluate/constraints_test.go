package evaluate

import (
	"math"
	"strings"
	"testing"

	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/schema"
)

// ruled returns mixed with rules.
func ruled() *domain.Domain {
	d := mixedTable()
	d.Columns[2].Nullable = true
	d.Constraints = []domain.Constraint{
		{Impossible: map[string]domain.Choice{"group": {"a"}, "x": {"0.."}}, Doc: "by definition of a"},
		{Function: &domain.Function{Of: "group", Column: "outcome", Map: map[string]schema.Text{"a": "0", "b": "1",
			"c": "1"}}},
		{Order: []string{"x", "level"}},
		{Total: []domain.Cell{{Where: map[string]domain.Choice{"group": {"a"}}, Count: 50},
			{Where: map[string]domain.Choice{"group": {"b", "c"}}, Count: 50}}},
	}
	return d
}

// TestBreachesAreCounted against a count by hand. Of four synthetic rows the first breaks
// the combination and the function, the third the order; the second has a missing value.
func TestBreachesAreCounted(t *testing.T) {
	d := ruled()
	synthetic := input(d, []any{1.0, 1.0, 2.0, -1.0}, []any{"a", "b", "c", "b"}, []any{"1", nil, "1", "1"},
		[]any{3.0, 3.0, 1.0, 0.0})
	real := input(d, []any{-1.0, 1.0}, []any{"a", "b"}, []any{"0", "1"}, []any{0.0, 2.0})
	m := figures(t, stage("constraints", nil), map[string]pipelinetest.Input{"real": real, "synthetic": synthetic})
	for key, want := range map[string]float64{
		"broken": 0.5, "broken_real": 0,
		"broken_synthetic.no group a with x 0..": 0.25, "broken_synthetic.outcome by group": 0.25,
		"broken_synthetic.x <= level":     0.25,
		"broken_synthetic.total of group": 0, "broken_real.x <= level": 0,
		// 1 of 4 rows is a, half are to be
		"total_distance_synthetic.total of group": 0.25, "total_distance_real.total of group": 0,
	} {
		if got, ok := m[key]; !ok || got.Value != want {
			t.Errorf("%s is %v, must be %v", key, got.Value, want)
		}
	}
	if note := m["broken_synthetic.no group a with x 0.."].Note; !strings.Contains(note, "1 of 4 rows") ||
		!strings.Contains(note, "by definition of a") {
		t.Errorf("the note is %q", note)
	}
}

// TestBreachesOfSomeColumns: rules about other columns are left out, and what cannot be
// compared is said.
func TestBreachesOfSomeColumns(t *testing.T) {
	d := ruled()
	real := input(d, []any{-1.0}, []any{"a"}, []any{"0"}, []any{0.0})
	less := mixedTable()
	less.Columns = less.Columns[:3]
	synthetic := input(less, []any{1.0}, []any{"a"}, []any{"1"})
	in := map[string]pipelinetest.Input{"real": real, "synthetic": synthetic}
	m := figures(t, stage("constraints", overrides{"columns": []string{"x"}}), in)
	if _, ok := m["broken_synthetic.outcome by group"]; ok {
		t.Error("a rule about other columns counts")
	}
	if f := m["broken_synthetic.x <= level"]; !math.IsNaN(f.Value) || !strings.Contains(f.Note, "level") {
		t.Errorf("%v, note %q: level is not there", f.Value, f.Note)
	}
	if f := m["broken"]; f.Value != 1 || !strings.Contains(f.Note, "by 1 of 2 rules") {
		t.Errorf("over all rules %v, note %q", f.Value, f.Note)
	}
}
