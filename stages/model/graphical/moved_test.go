package graphical

import (
	"math"
	"testing"

	"weir/pipeline/domain"
)

// TestRowsThatBreakRulesAreCounted where the nearest allowed row would be, none of them
// lost: 20 rows break a rule of two values, and are one code away from keeping it.
func TestRowsThatBreakRulesAreCounted(t *testing.T) {
	wrong, right := make([]int, 30), make([]int, 30)
	for i := range wrong {
		if i >= 20 {
			right[i] = 1 // keeps the rule: c1 beside c1
		}
		wrong[i] = 1 // beside c0 it breaks it
	}
	in := table([]int{2, 2}, right, wrong)
	in.Header.Domain.Constraints = []domain.Constraint{
		{Impossible: map[string]domain.Choice{"x0": {"c0"}, "x1": {"c1"}}},
		{Impossible: map[string]domain.Choice{"x0": {"c1"}, "x1": {"c0"}}}}
	m := attempt{stage: mstKind().New(), in: in}.model(t)
	pairs := 0
	for _, x := range m.Measured {
		if len(x.Columns) < 2 {
			continue
		}
		pairs++
		off := x.Y[1] + x.Y[2]
		if whole := total(x.Y); off != 0 || math.Abs(whole-30) > 0 {
			t.Errorf("%v: %g rows break the rule, %g in all; must be 0 and 30", x.Y, off, whole)
		}
	}
	if pairs == 0 {
		t.Error("no pair is measured: the test is blind")
	}
}
