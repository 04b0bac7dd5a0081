package training_test

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/stages/model/internal/training"
	"weir/train"
)

// TestFindings: a batch size above the public row count is told, with what becomes of the
// rate; at the count, below it or where nobody knows it there is nothing to tell.
func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		s    training.Sampling
		rows int64
		want string
	}{
		"above":           {training.Sampling{ExpectedBatchSize: 1000}, 30, "sampling rate is 1"},
		"above, own rate": {training.Sampling{ExpectedBatchSize: 1000, SamplingRate: 0.5}, 30, "no batch holds so many"},
		"just above":      {training.Sampling{ExpectedBatchSize: 30.01}, 30, "sampling rate is 1"},
		"all rows":        {training.Sampling{ExpectedBatchSize: 30}, 30, ""},
		"a part":          {training.Sampling{ExpectedBatchSize: 15}, 30, ""},
		"private count":   {training.Sampling{ExpectedBatchSize: 1000, SamplingRate: 0.5}, 0, ""},
	} {
		list := c.s.Findings("gan.expected_batch_size", pipeline.Header{Rows: c.rows})
		if len(list) > 1 || (len(list) == 1) != (c.want != "") {
			t.Fatalf("%s: %v, want %q", name, list, c.want)
		}
		for _, f := range list {
			if f.Rule != "W40" || f.Level != pipeline.LevelWarning || !strings.Contains(f.Message, c.want) ||
				!strings.HasPrefix(f.Message, "gan.expected_batch_size") {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// TestInReach: a batch that is too large is told with the largest that is not, which the
// mechanism takes and one more it does not; other faults are not laid to the batch.
func TestInReach(t *testing.T) {
	m := train.DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 1, ExpectedBatchSize: 1e5, Steps: 10, Weights: 1000}
	most := m.MostBatch()
	err := training.InReach(m)
	if err == nil || !strings.Contains(err.Error(), "expected_batch_size: is 100000, more rows than") ||
		!strings.Contains(err.Error(), fmt.Sprintf("must be at most %d", most)) {
		t.Errorf("%v, must name the batch and %d", err, most)
	}
	for size, fits := range map[float64]bool{float64(most): true, float64(most + 1): false} {
		if m.ExpectedBatchSize = size; (training.InReach(m) == nil) != fits {
			t.Errorf("a batch of %g: %v", size, training.InReach(m))
		}
	}
	m.ExpectedBatchSize, m.MaxGradNorm = 100, 1e-30
	if err := training.InReach(m); err == nil || !strings.HasPrefix(err.Error(), "max_grad_norm") {
		t.Errorf("a clip out of reach: %v", err)
	}
}
