package training

import (
	"strings"
	"testing"

	"weir/pipeline"
)

// TestFindings: a batch size above the public row count is told, with what becomes of the
// rate; at the count, below it or where nobody knows it there is nothing to tell.
func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		s    Sampling
		rows int64
		want string
	}{
		"above":           {Sampling{ExpectedBatchSize: 1000}, 30, "sampling rate is 1"},
		"above, own rate": {Sampling{ExpectedBatchSize: 1000, SamplingRate: 0.5}, 30, "no batch holds so many"},
		"just above":      {Sampling{ExpectedBatchSize: 30.01}, 30, "sampling rate is 1"},
		"all rows":        {Sampling{ExpectedBatchSize: 30}, 30, ""},
		"a part":          {Sampling{ExpectedBatchSize: 15}, 30, ""},
		"private count":   {Sampling{ExpectedBatchSize: 1000, SamplingRate: 0.5}, 0, ""},
	} {
		list := c.s.Findings("gan.expected_batch_size", pipeline.Header{Rows: c.rows})
		if len(list) > 1 || (len(list) == 1) != (c.want != "") {
			t.Fatalf("%s: %v, want %q", name, list, c.want)
		}
		for _, f := range list {
			if f.Rule != "W40" || f.Level != pipeline.LevelWarning || !strings.Contains(f.Message, c.want) || !strings.HasPrefix(f.Message, "gan.expected_batch_size") {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}
