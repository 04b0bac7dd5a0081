package calibrate

import (
	"testing"

	"weir/privacy"
)

// TestJointMeetsTinyBudgets: at noise of 1e7 six Gaussian events have an epsilon of 0 at these deltas,
// so that every one of these budgets is met by some noise. What is found meets it.
func TestJointMeetsTinyBudgets(t *testing.T) {
	gauss := func(s float64) []privacy.Event { return []privacy.Event{privacy.Gaussian{NoiseMultiplier: s}} }
	for _, name := range []string{"rdp", "pld"} {
		for _, target := range []Target{{1e-8, 1e-6, privacy.AddRemove}, {8e-7, 1e-6, privacy.ReplaceOne}, {3e-6, 1e-6, privacy.AddRemove}, {1e-5, 0.01, privacy.AddRemove},
			{1e-14, 1e-5, privacy.AddRemove}, {3e-13, 1e-3, privacy.AddRemove}, {7e-14, 1e-4, privacy.ReplaceOne}} {
			acc := accountant(t, name)
			for _, shares := range [][]float64{{0.5, 0.5}, {0.1, 0.9}, {0.1, 0.1, 0.2, 0.2, 0.2, 0.2}} {
				var stages []Stage
				for _, share := range shares {
					stages = append(stages, Stage{Share: share, Events: gauss})
				}
				m, err := Joint(acc, target, stages)
				if err != nil {
					t.Errorf("%s, %v, shares %v: %v", name, target, shares, err)
					continue
				}
				var all []privacy.Event
				for _, s := range m {
					all = append(all, gauss(s)...)
				}
				if eps, err := acc.Epsilon(all, target.Adjacency, target.Delta); err != nil || eps > target.Epsilon {
					t.Errorf("%s, %v, shares %v: noise %v has epsilon %g, error %v", name, target, shares, m, eps, err)
				}
			}
		}
	}
}
