package graphical

import (
	"math"
	"testing"

	"weir/pipeline/domain"
	"weir/train/graphical"
)

// TestEveryKindKnowsTheRules: whichever kind made it, a model has the masks and the public
// totals of its domain: 80 children of 2000, where the table has some 360.
func TestEveryKindKnowsTheRules(t *testing.T) {
	in := stays(2000)
	in.Header.Domain = in.Header.Domain.Clone()
	in.Header.Domain.Constraints = append(in.Header.Domain.Constraints, domain.Constraint{Total: []domain.Cell{
		{Where: map[string]domain.Choice{"group": {"child"}}, Count: 80},
		{Where: map[string]domain.Choice{"group": {"adult", "senior"}}, Count: 1920}}})
	for _, s := range every() {
		m := attempt{stage: s, in: in, multiplier: 1}.model(t)
		groups, err := m.model.Marginal(graphical.Set{5})
		must(t, err)
		if child := groups[m.Columns[5].codeOf()[0]]; math.Abs(child-80) > 1e-2 {
			t.Errorf("%T: %g children, must be 80", s, child)
		}
		if n := len(m.Model.Masks); n < 4 { // of wide bins one forbids nothing
			t.Errorf("%T: %d masks, must be 4 or 5", s, n)
		}
	}
}
