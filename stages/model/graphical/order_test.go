package graphical

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/schema"
	"weir/train/graphical"
)

// rareApart returns a table of 1000 rows with two rare categories, b and c, between two
// frequent ones, which a rule tells apart: as many codes as categories, in another order.
func rareApart() pipelinetest.Input {
	d := &domain.Domain{
		Columns: []domain.Column{
			{Name: "ward", Type: domain.Categorical, Categories: []string{"a", "b", "c", "d"}},
			// so that it does not follow from ward
			{Name: "house", Type: domain.Categorical, Categories: []string{"north", "south"}, Nullable: true},
			{Name: "amount", Type: domain.Integer, Bounds: &[2]float64{0, 99999}},
		},
		Constraints: []domain.Constraint{{Function: &domain.Function{Of: "ward", Column: "house",
			Map: map[string]schema.Text{"a": "north", "b": "north", "c": "south", "d": "south"}}}},
	}
	columns := make([][]any, 3)
	for i := range 1000 {
		at := map[bool]int{true: 0, false: 3}[i < 700]
		columns[0], columns[1], columns[2] = append(columns[0], string(rune('a'+at))),
			append(columns[1], []string{"north", "south"}[at/2]), append(columns[2], i*99)
	}
	return pipelinetest.Input{Header: header(d, 1000), Rows: pipelinetest.Rows(d, columns...)}
}

// TestCodesInAnotherOrder: counts by category keep their categories where the codes of a
// column are as many, in another order: in intervals, in the listing and in a fit again.
func TestCodesInAnotherOrder(t *testing.T) {
	m := attempt{stage: independentKind().New(), in: rareApart(), multiplier: 5}.model(t)
	c := &m.Columns[0]
	if c.codes() != 4 {
		t.Fatalf("%d codes: the test is blind", c.codes())
	}
	m.Measured = slices.DeleteFunc(m.Measured, func(x measured) bool { return x.Columns[0] == 0 && x.Sigma > 20 })
	e, err := m.uncertainty().bestEstimates(t.Context(), graphical.Set{0})
	must(t, err)
	for code, cells := range c.groups(m.grids[0]) {
		hasWard(t, e.count[code], cells.list[0], "interval")
	}
}

// TestMeasuredAgainInAnotherOrder: so do counts by code, of a column that what another
// one's tree has left over measures once more.
func TestMeasuredAgainInAnotherOrder(t *testing.T) {
	m := attempt{stage: independentKind().New(), in: rareApart(), multiplier: 5}.model(t)
	f, found := m.front(), 0
	for i, x := range m.Measured {
		if x.Columns[0] != 0 {
			continue
		}
		found++
		for k, cell := range m.axis(x) {
			hasWard(t, x.Y[k], cell.list[0], "measured %d", i)
		}
	}
	for _, table := range f.tables {
		for code := range table.Y {
			if table.Vars[0] == 0 {
				hasWard(t, table.Y[code], m.Columns[0].Order[code], "fitted again")
			}
		}
	}
	if found != 2 {
		t.Errorf("the column is measured %d times: the test is blind", found)
	}
}

// hasWard wants a count near to the count of a category of the table.
func hasWard(t *testing.T, y float64, category int, where string, args ...any) {
	t.Helper()
	if want := []float64{700, 0, 0, 300}[category]; math.Abs(y-want) > 100 {
		t.Errorf(fmt.Sprintf(where, args...)+": category %d has %g rows, must have some %g", category, y, want)
	}
}
