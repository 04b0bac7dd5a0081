package detectability

import (
	"testing"

	"weir/pipeline/pipelinetest"
	"weir/stages/internal/questiontest"
)

func TestConformance(t *testing.T) {
	pipelinetest.CheckKinds(t, Kinds(), questiontest.Comparison(Kinds()[0]))
}

func TestOddTables(t *testing.T) { questiontest.OddTables(t, Kinds()[0]) }
