package main

import (
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/ledger"
)

// TestLedgerShowLeavesRoomForOwnDeltas: a selection of categories takes a tenth of the delta of its plan. Its ledger
// once was read at 1e-6 all the same, where a plan of delta 1e-5 has no epsilon.
func TestLedgerShowLeavesRoomForOwnDeltas(t *testing.T) {
	for want, deltas := range map[string][]float64{"at delta 1e-05": {1e-6}, "at delta 1.1e-05": {1e-7,
		1.0000000000000002e-6}, "at delta 1e-06": {0, 1e-7}} {
		s := study{t, t.TempDir()}
		l, err := ledger.Open(disk.Disk{}, s.path("l"), "ds-data", time.Now)
		if err != nil {
			t.Fatal(err)
		}
		for i, delta := range deltas {
			chosen := privacy.Composed{Events: []privacy.Event{privacy.Approximate{Epsilon: 0.25, Delta: delta / 2},
				privacy.Repeated{Count: 1, Event: privacy.Approximate{Epsilon: 0.25, Delta: delta / 2}}}}
			c := ledger.Charge{ID: string(rune('a' + i)), Run: "r", Spec: "s", Version: "1", Stage: "categories",
				Adjacency: privacy.AddRemove, Event: chosen}
			if _, err := l.Append(nil, c); err != nil {
				t.Fatal(err)
			}
		}
		code, out, errs := s.weir("ledger", "show", s.path("l"))
		if code != exitDone || !strings.Contains(out, want+" ") || strings.Contains(out, "epsilon none") ||
			!strings.Contains(out, "\n  delta is ") || !strings.Contains(out, "a plan reads the same ledger at the delta of "+
			"its spec (--delta)\n") {
			t.Errorf("exit %d, must be an epsilon %s: %s%s", code, want, out, errs)
		}
	}
}
