package columns

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline/domain"
)

// hard returns rules that take a long search: only rows whose first column is z keep them, and
// that shows at the last column.
func hard(letters string) *domain.Domain {
	d := &domain.Domain{}
	list, all := strings.Split(letters, ""), domain.Choice(strings.Split("z"+letters, ""))
	first, late := map[string]domain.Choice{}, map[string]domain.Choice{"c0": domain.Choice(list), "c4": all}
	for i := range 6 {
		name := fmt.Sprint("c", i)
		d.Columns = append(d.Columns, domain.Column{Name: name, Type: domain.Categorical, Categories: domain.Categories(all)})
		if i < 4 {
			first[name] = domain.Choice{"z"}
		}
	}
	first["c0"] = domain.Choice{"a"}
	d.Constraints = []domain.Constraint{{Impossible: first}}
	for _, name := range []string{"c1", "c2", "c3"} { // so that no two categories are alike
		for _, letter := range list {
			d.Constraints = append(d.Constraints, domain.Constraint{Impossible: map[string]domain.Choice{name: {letter},
				"c5": {letter}}})
		}
	}
	d.Constraints = append(d.Constraints, domain.Constraint{Impossible: late})
	return d
}

// TestSearchesAreBounded: however long rules make the search for a row, all searches of a
// drawing together take no more than is said, and every row keeps the rules.
func TestSearchesAreBounded(t *testing.T) {
	d := hard("abcdefghijklm")
	rules := rulesOf(t, d)
	p, took := placing(t, d, rules), 0
	whole := domain.Values{Ranges: []domain.Range{{Lo: 0, Hi: 13}}}
	const rows = 300
	for range rows {
		row := PlacedRow{Values: []float64{1, 2, 1, 2, 1, 2}, Draw: func(c int) float64 { return float64(1 + c%2) },
			Bin: func(c int) domain.Values {
				if c == 0 {
					return domain.Values{Ranges: []domain.Range{{Lo: 1, Hi: 13}}}
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
	d.Constraints = append(d.Constraints, domain.Constraint{Impossible: map[string]domain.Choice{"c0": {"z"},
		"c1": domain.Choice(d.Columns[1].Categories)}})
	rules, _ := domain.ReadRules(d)
	if _, err := NewPlacing(d, rules); err == nil || !strings.Contains(err.Error(), "constraints[0]: is one of 12 rules") {
		t.Errorf("%v, must name the rules", err)
	}
}
