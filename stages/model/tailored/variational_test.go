package tailored

import (
	"testing"

	"weir/pipeline"
	"weir/privacy"
	"weir/stages/model/internal/training"
)

// TestPublishedIsOfOneReplacedRow: the arithmetic of Jälkö et al. 2021 is about one row that is replaced, and no
// number of added rows, or of persons with several.
func TestPublishedIsOfOneReplacedRow(t *testing.T) {
	s := &Logistic{Variational: variational(0, training.Sampling{Steps: 100, SamplingRate: 0.01})}
	for _, c := range []struct {
		adjacency privacy.Adjacency
		stability pipeline.Stability
		has       bool
	}{
		{privacy.ReplaceOne, pipeline.Rows(1), true}, {privacy.AddRemove, pipeline.Rows(1), false},
		{privacy.ReplaceOne, pipeline.Rows(2), false}, {privacy.ReplaceOne, pipeline.Unbounded(), false},
	} {
		p := s.published(pipeline.Header{Stability: c.stability, Terms: pipeline.Terms{Adjacency: c.adjacency}})
		if (p != nil) != c.has {
			t.Errorf("%s, %v: a published epsilon %v, must be there: %t", c.adjacency, c.stability, p, c.has)
		}
	}
}
