package evaluate

import (
	"slices"
	"testing"

	"weir/pipeline/pipelinetest"
)

// How many fits there are to do, and whether any, may depend on private rows:
// progress shows a share of them, and shows it whatever the rows are.
func TestProgressTellsNoCount(t *testing.T) {
	for _, steps := range []int64{0, 3, 7} {
		env := pipelinetest.Env(1)
		var totals []int64
		env.Progress = func(done, total int64) {
			if done > total {
				t.Errorf("%d of %d is done", done, total)
			}
			totals = append(totals, total)
		}
		shown := inThousandths(env)
		for i := range steps {
			shown.Progress(i+1, steps)
		}
		shown.Progress(0, 0) // nothing to do is no share
		if got := slices.Compact(totals); !slices.Equal(got, []int64{1000}) {
			t.Errorf("%d steps: totals are %v, must be 1000", steps, got)
		}
	}
}
