package associations

import (
	"testing"

	"weir/stages/internal/questiontest"
)

// Fresh rows keep what is planted: pressure grows with age, smokers are rarer in the
// north.
func TestAssociationsOfFreshRows(t *testing.T) {
	questiontest.Within(t, questiontest.Judge(t, Kinds()[0], questiontest.Fresh()), questiontest.Bounds{"pearson_real.age:pressure": {0.5, 0.9}, "pearson_synthetic.age:pressure": {0.5, 0.9},
		"mixed_max_difference": {0, 0.2}, "cramers_v_p_real.region:smoker": {0, 1e-6}})
}
