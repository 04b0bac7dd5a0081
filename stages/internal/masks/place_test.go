package masks

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/constraint"
)

// hard is rules that take a long search: only rows whose first column is z keep them, and
// that shows at the last column.
func hard(letters string) *pipeline.Domain {
	d := &pipeline.Domain{}
	list, all := strings.Split(letters, ""), pipeline.Choice(strings.Split("z"+letters, ""))
	first, late := map[string]pipeline.Choice{}, map[string]pipeline.Choice{"c0": pipeline.Choice(list), "c4": all}
	for i := range 6 {
		name := fmt.Sprint("c", i)
		d.Columns = append(d.Columns, pipeline.Column{Name: name, Type: pipeline.Categorical, Categories: pipeline.Categories(all)})
		if i < 4 {
			first[name] = pipeline.Choice{"z"}
		}
	}
	first["c0"] = pipeline.Choice{"a"}
	d.Constraints = []pipeline.Constraint{{Impossible: first}}
	for _, name := range []string{"c1", "c2", "c3"} { // so that no two categories are alike
		for _, letter := range list {
			d.Constraints = append(d.Constraints, pipeline.Constraint{Impossible: map[string]pipeline.Choice{name: {letter}, "c5": {letter}}})
		}
	}
	d.Constraints = append(d.Constraints, pipeline.Constraint{Impossible: late})
	return d
}

// TestSearchesAreBounded: however long rules make the search for a row, all searches of a
// drawing together take no more than is said, and every row keeps the rules.
func TestSearchesAreBounded(t *testing.T) {
	d := hard("abcdefghijklm")
	rules := rulesOf(t, d)
	p, took := placing(t, d, rules), 0
	whole := constraint.Values{Ranges: []constraint.Range{{Lo: 0, Hi: 13}}}
	const rows = 300
	for range rows {
		row := Row{Values: []float64{1, 2, 1, 2, 1, 2}, Draw: func(c int) float64 { return float64(1 + c%2) }, Bin: func(c int) constraint.Values {
			if c == 0 {
				return constraint.Values{Ranges: []constraint.Range{{Lo: 1, Hi: 13}}}
			}
			return whole
		}}
		before := p.steps
		p.Keep(row)
		took += min(before+stepsARow, startSteps) - p.steps
		if breaks(rules, row.Values) || row.Values[0] != 0 {
			t.Fatalf("the row %v breaks a rule", row.Values)
		}
	}
	if most := startSteps + rows*stepsARow + 2*mostSteps; took > most || took < startSteps {
		t.Errorf("%d steps, must be all of %d, and at most %d: a search of a row takes %d", took, startSteps, most, mostSteps)
	}
}

// TestPlacingWithoutARow: rules that come with a model and that no row keeps are named.
func TestPlacingWithoutARow(t *testing.T) {
	d := hard("abc")
	d.Constraints = append(d.Constraints, pipeline.Constraint{Impossible: map[string]pipeline.Choice{"c0": {"z"}, "c1": pipeline.Choice(d.Columns[1].Categories)}})
	rules, _ := constraint.Read(d)
	if _, err := NewPlacing(d, rules); err == nil || !strings.Contains(err.Error(), "constraints[0]: is one of 12 rules") {
		t.Errorf("%v, must name the rules", err)
	}
}
