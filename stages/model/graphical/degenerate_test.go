package graphical

import (
	"fmt"
	"testing"

	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestDegenerateTables: one column, one category, few rows, rows all alike, much noise
// (epsilon .01 is a multiplier of some 300, under which most counts are negative) and
// hardly any (epsilon 100: .14). Each gives a model that draws rows of its header.
func TestDegenerateTables(t *testing.T) {
	alike := make([]int, 50)
	few := ward(400)
	few.Rows, few.Header.Rows = few.Rows.NewSlice(0, 20), 20
	empty := ward(40)
	empty.Rows, empty.Header.Rows = empty.Rows.NewSlice(0, 0), 0
	pair := pipelinetest.Input{Header: ward(1).Header, Rows: ward(40).Rows}
	for what, in := range map[string]pipelinetest.Input{
		"one column": table([]int{3}, []int{0, 1, 2, 0}), "one category": table([]int{1}, alike),
		"one category beside another": table([]int{1, 4}, alike, alike),
		"all alike":                   table([]int{4, 4, 4}, alike, alike, alike), "20 rows": few, "no rows": empty,
		"another count than is declared": pair,
	} {
		for _, multiplier := range []float64{0.14, 300} {
			for _, stage := range every() {
				m := attempt{stage: stage, in: in, multiplier: multiplier}.model(t)
				t.Run(fmt.Sprintf("%s at %g by %T", what, multiplier, stage), func(t *testing.T) { within(t, m, 300) })
			}
		}
	}
}

// TestNumbersWithOneValue: bounds that leave one value, and one cell.
func TestNumbersWithOneValue(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "a", Type: domain.Integer, Bounds: &[2]float64{7, 7}},
		{Name: "b", Type: domain.Numeric, Bounds: &[2]float64{2, 2}, Nullable: true},
	}}
	in := pipelinetest.Input{Header: header(d, 3), Rows: pipelinetest.Rows(d, []any{7, 7, 7}, []any{2., nil, 2.})}
	within(t, attempt{stage: marginalTreeKind().New(), in: in, multiplier: 0.5}.model(t), 40)
}

// TestNoPrivacy: with epsilon: inf the release is the table's own counts.
func TestNoPrivacy(t *testing.T) {
	in := table([]int{3, 2}, []int{0, 0, 0, 0, 1, 1, 1, 2}, []int{0, 0, 0, 0, 1, 1, 1, 1})
	for _, stage := range every() {
		within(t, attempt{stage: stage, in: ward(400), multiplier: 0}.model(t), 300)
		m := attempt{stage: stage, in: in, multiplier: 0}.model(t)
		pair := []float64{4, 0, 0, 3, 0, 1}
		for _, x := range m.Measured {
			if len(x.Columns) == 2 {
				pair = x.Y
			}
		}
		if got := fmt.Sprint(m.Measured[0].Y, pair); got != "[4 3 1] [4 0 0 3 0 1]" {
			t.Errorf("%T released %s, must be the counts [4 3 1] and [4 0 0 3 0 1]", stage, got)
		}
	}
}
