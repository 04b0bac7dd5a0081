package ledger

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzLedger opens, totals, extends and merges any bytes: no panic, and a
// ledger that opens stays whole.
func FuzzLedger(f *testing.F) {
	full := filled(f, 4).data
	l := lines(full)
	f.Add(full)
	f.Add(full[:len(full)-30])
	f.Add([]byte(l[1] + l[0] + l[2]))
	f.Add([]byte(strings.Replace(string(full), `"epsilon":3`, `"epsilon":0`, 1)))
	f.Add(merged(f, branch(f, full, 1, "a"), branch(f, full, 2, "b")))
	f.Add([]byte(l[0] + "<<<<<<< x\n" + l[1] + "=======\n" + l[1] + ">>>>>>> y\n"))
	f.Add([]byte("{}\n\x00\x00"))
	f.Add([]byte(oldLine))
	capped := &memory{}
	if l, err := newLedger(capped, dataset, ticking()); err == nil {
		l.Append(&Cap{Epsilon: 9, Delta: 1e-6, Adjacency: "add_remove", Unit: Unit{"patient", 4}}, withUnit(charge("u", 0.1), "patient", 4))
	}
	f.Add(capped.data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &memory{data: bytes.Clone(data)}
		ledger, err := newLedger(m, dataset, ticking())
		if err == nil {
			if _, err := ledger.Append(nil, charge("fuzz", 1)); err == nil {
				if got, err := Parse(m.data); err != nil || len(got) != len(ledger.Entries()) {
					t.Fatalf("after a charge: %d entries, %v", len(got), err)
				}
			}
		}
		entries, err := Parse(data)
		out, mergeErr := merge(data, full)
		if err == nil && len(entries) > 0 && entries[0].Dataset == dataset && mergeErr != nil {
			t.Fatalf("a whole ledger does not merge: %v", mergeErr)
		}
		if mergeErr == nil {
			if got, err := Parse(out); err != nil || len(got) < 4 {
				t.Fatalf("a merge lost charges: %d, %v", len(got), err)
			}
		}
	})
}
