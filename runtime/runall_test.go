package runtime

import (
	"os"
	"strings"
	"sync"
	"testing"

	"weir/pipeline"
)

// TestTwoAtOnceAreOneExperiment: of two that begin at the same moment each trial is charged
// once, side by side as they are, and both end; also where the budget is for one.
func TestTwoAtOnceAreOneExperiment(t *testing.T) {
	for _, capped := range []bool{false, true} {
		out := t.TempDir()
		plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
		if capped {
			plan.Dataset.Budget = &pipeline.Budget{Epsilon: 100, Delta: 1e-6, Filter: "rdp"}
		}
		var trials []Trial
		for repeat := range 4 {
			trials = append(trials, Trial{plan, repeat})
		}
		var both [2][]*Result
		var all sync.WaitGroup
		for i := range both {
			all.Add(1)
			go func() {
				defer all.Done()
				opts := testOptions(out)
				opts.Workers = 2
				var err error
				if both[i], err = RunAll(t.Context(), trials, opts); err != nil {
					t.Error(err)
				}
			}()
		}
		all.Wait()
		if t.Failed() {
			return
		}
		for i := range trials {
			if both[0][i].Path != both[1][i].Path {
				t.Errorf("trial %d: %s and %s, must be one run", i, both[0][i].Path, both[1][i].Path)
			}
		}
		text, err := os.ReadFile(both[0][0].Record.Dataset.Ledger)
		if n := strings.Count(string(text), "\n"); err != nil || n != len(trials) {
			t.Errorf("the ledger has %d charges, must have %d: %v", n, len(trials), err)
		}
	}
}
