package marginals

import (
	"testing"

	"weir/stages/internal/questiontest"
)

// Fresh rows are as near as the ceiling; constants are far. The floor is drawn from
// real rows, not from those to judge.
func TestMarginalsOfPlantedTables(t *testing.T) {
	kind := Kinds()[0]
	m := questiontest.Judge(t, kind, questiontest.Fresh())
	ceiling, floor := m["total_variation_2way_ceiling"].Value, m["total_variation_2way_floor"].Value
	questiontest.Within(t, m, questiontest.Bounds{"total_variation_2way": {0.8 * ceiling, 1.2 * ceiling}, "equivalent_subsample": {0.5, 1}, "total_variation_2way_floor": {ceiling, 1}})
	far := questiontest.Judge(t, kind, questiontest.Constants())
	questiontest.Within(t, far, questiontest.Bounds{"total_variation_2way": {floor, 1}, "equivalent_subsample": {0, 0.1},
		"total_variation": {0.5, 1}, "nist_2018_score": {0, 1e5}, "total_variation_floor": {0, 0.2}})
}
