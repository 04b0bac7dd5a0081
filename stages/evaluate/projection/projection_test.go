package projection

import (
	"math"
	"testing"

	"weir/stages/internal/questiontest"
)

// Constants lie further from the real rows than fresh rows do.
func TestProjectionOfPlantedTables(t *testing.T) {
	p, far := questiontest.Judge(t, Kinds()[0], questiontest.Fresh()), questiontest.Judge(t, Kinds()[0], questiontest.Constants())
	questiontest.Within(t, p, questiontest.Bounds{"wasserstein": {0, 0.5}, "explained_variance_ratio": {0.3, 0.9}})
	if !(far["wasserstein"].Value > 2*p["wasserstein"].Value) || math.IsNaN(p["wasserstein"].Value) {
		t.Errorf("constants are at %v, fresh rows at %v", far["wasserstein"].Value, p["wasserstein"].Value)
	}
}
