//go:build long

package main

import (
	"strings"
	"testing"

	"weir/stages"
)

// TestCanariesOfEveryKind: canaries refute no kind that learns, many in one run or one in many: a right kind fails with
// a chance of 2e-6. Detectors leave no rows in which several canaries could be told apart. What is refuted at
// confidence .95 is logged.
func TestCanariesOfEveryKind(t *testing.T) {
	for _, kind := range learned(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := modelStudy(t, quickModels()[kind], kind, oddTables()["ordinary"]).subject(stages.Kinds())
			games := [][2]int{{1, 90}}
			if !strings.HasPrefix(kind, "anomaly_") {
				games = append(games, [2]int{200, 3})
			}
			for _, game := range games {
				found := played(t, s, game[0], game[1])
				if last := found.Bounds[1]; found.Refuted || last.Any > *found.Proven {
					t.Errorf("%d canaries in %d runs show epsilon %.3g at 1e-6, of %.3g proven", game[0], game[1], last.Any,
						*found.Proven)
				}
				t.Logf("%d canaries in %d runs:\n%s", game[0], game[1], found.Text())
			}
		})
	}
}
