package ledger

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
)

// FuzzLedger opens, extends and merges any bytes: no panic; the file is refused and stays
// as it is, or every charge in it is kept and what is removed lies aside.
func FuzzLedger(f *testing.F) {
	for _, text := range damaged(f) {
		f.Add([]byte(text))
	}
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
		l.Append(&Cap{Epsilon: 9, Delta: 1e-6, Adjacency: "add_remove", Unit: Unit{"patient", 4}}, withUnit(charge("u", 0.1),
			"patient", 4))
	}
	f.Add(capped.data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &memory{data: bytes.Clone(data)}
		ledger, err := newLedger(m, dataset, ticking())
		if err != nil && (!bytes.Equal(m.data, data) || len(m.aside) > 0) {
			t.Fatal("a ledger that is refused was changed")
		}
		if err == nil {
			keepsAll(t, ledger, m, data)
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

// keepsAll holds an opened ledger against the bytes that lay there: they are those that
// stayed and those aside, and no charge among them is lost, wherever it stood.
func keepsAll(t *testing.T, l *Ledger, m *memory, data []byte) {
	t.Helper()
	stayed := m.data
	if len(stayed)+len(m.aside) == len(data)+1 {
		stayed = bytes.TrimSuffix(stayed, []byte("\n")) // that the last line lacked
	}
	if !bytes.Equal(append(bytes.Clone(stayed), m.aside...), data) {
		t.Fatalf("of %d bytes %d stayed and %d lie aside", len(data), len(stayed), len(m.aside))
	}
	retained := map[string]bool{}
	for _, e := range l.Entries() {
		retained[e.Hash] = true
	}
	for pos := range data {
		var e Entry
		if bytes.HasPrefix(data[pos:], []byte(`{"prev"`)) && json.NewDecoder(bytes.NewReader(data[pos:])).Decode(&e) == nil &&
			e.check() == nil && !retained[e.Hash] {
			t.Fatalf("the charge at byte %d is lost", pos)
		}
	}
}

func training(id string, steps int64, adjacency privacy.Adjacency) Charge {
	c := charge(id, 0)
	c.Adjacency = adjacency
	c.Event = privacy.Repeated{Count: steps, Event: privacy.PoissonSampled{SamplingRate: 0.01,
		Event: privacy.Gaussian{NoiseMultiplier: 1.2}}}
	return c
}

func byName(t *testing.T, name string) privacy.Accountant {
	t.Helper()
	acc, err := account.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return acc
}

func alone(t *testing.T, acc privacy.Accountant, adjacency privacy.Adjacency, events ...privacy.Event) float64 {
	t.Helper()
	eps, err := acc.Epsilon(events, adjacency, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	return eps
}

// TestSumWithAccountants: two runs of 500 steps are one of 1000, far below twice the epsilon of one; a
// charge under add_remove counts under replace_one as if it had been made there.
func TestSumWithAccountants(t *testing.T) {
	for _, name := range []string{"pld", "rdp"} {
		acc := byName(t, name)
		l, _ := newLedger(&memory{}, dataset, ticking())
		laplace := charge("count", 0)
		laplace.Event = privacy.DiscreteLaplace{NoiseMultiplier: 20}
		if _, err := l.Append(nil, training("a", 500, privacy.AddRemove), laplace,
			training("b", 500, privacy.AddRemove)); err != nil {
			t.Fatal(err)
		}
		whole := []privacy.Event{training("", 1000, "").Event, laplace.Event}
		for _, adj := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			total, err := Sum(l.Entries(), acc, adj, Unit{}, 1e-5)
			want := alone(t, acc, adj, whole...)
			if err != nil || math.Abs(total.Epsilon-want) > 1e-9*want || total.Epsilon >= 1.9*alone(t, acc, adj,
				training("", 500, "").Event) {
				t.Errorf("%s %s: %+v, want %v (%v)", name, adj, total, want, err)
			}
		}
		if _, err := l.Append(nil, training("c", 1, privacy.ReplaceOne)); err != nil {
			t.Fatal(err)
		}
		total, err := Sum(l.Entries(), acc, privacy.ReplaceOne, Unit{}, 1e-5)
		if want := alone(t, acc, privacy.ReplaceOne, append(whole, training("", 1, "").Event)...); err != nil ||
			math.Abs(total.Epsilon-want) > 1e-9*want {
			t.Errorf("%s mixed: %+v, want %v (%v)", name, total, want, err)
		}
		if total, err := Sum(l.Entries(), acc, privacy.AddRemove, Unit{}, 1e-5); err != nil || !math.IsInf(total.Epsilon, 1) {
			t.Errorf("%s mixed under add_remove: %+v, %v", name, total, err)
		}
	}
}
