package detectability

import (
	"testing"

	"weir/stages/internal/questiontest"
)

// Fresh rows cannot be told apart, constants can. Standard deviation of the AUROC of
// 900 held-out rows: 0.019.
func TestDetectabilityOfPlantedTables(t *testing.T) {
	questiontest.Within(t, questiontest.Judge(t, Kinds()[0], questiontest.Fresh()), questiontest.Bounds{"auroc": {0.4, 0.6}, "pmse": {0, 0.02}})
	questiontest.Within(t, questiontest.Judge(t, Kinds()[0], questiontest.Constants()), questiontest.Bounds{"auroc": {0.99, 1}, "pmse": {0.2, 0.25}})
}
