package mechanism

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"weir/internal/stattest"
	"weir/privacy"
)

// rounds of a filter in these tests, and uses of the others.
const rounds = 6000

// recorder is a probe that keeps what it sees, and hands on the first output for
// every later one where it freezes.
type recorder struct {
	seen   []privacy.Released
	freeze bool
}

func (r *recorder) Release(x privacy.Released) any {
	r.seen = append(r.seen, x)
	if r.freeze {
		return r.seen[0].Out
	}
	return x.Out
}

func probed(m privacy.Mechanism, i int, r *recorder) *privacy.Handle {
	return privacy.Open(privacy.Opening{Spend: "test", Mechanism: m, Source: source(i), Probe: r})
}

// run uses a mechanism n times on the first input.
func (r row) run(t *testing.T, m privacy.Mechanism, key, n int, probe *recorder) (out []any) {
	t.Helper()
	h := probed(m, key, probe)
	for range n {
		x, err := r.use(h, base)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		out = append(out, x)
	}
	return out
}

// TestConformanceOfUses: the planned number of uses and no other, every release
// reported once, fresh noise each time, the same for the same key.
func TestConformanceOfUses(t *testing.T) {
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			const n = 300
			var one, again, other recorder
			m := r.at(1, n)
			filter := m.Uses() == privacy.AnyNumber
			if !filter && m.Uses() != n {
				t.Errorf("%d uses, planned are %d", m.Uses(), n)
			}
			r.run(t, m, 1, n, &one)
			r.run(t, m, 1, n, &again)
			r.run(t, m, 2, n, &other)
			if len(one.seen) != n || !reflect.DeepEqual(one.seen, again.seen) {
				t.Fatalf("%d of %d uses reported, the same twice: %v", len(one.seen), n, reflect.DeepEqual(one.seen, again.seen))
			}
			if outs(one.seen) == outs(other.seen) {
				t.Error("another key gives the same noise")
			}
			if half := n / 2; outs(one.seen[:half]) == outs(one.seen[half:]) {
				t.Error("noise repeats")
			}
			if !filter {
				r.checkCount(t)
			}
		})
	}
}

func outs(seen []privacy.Released) (s string) {
	for _, x := range seen {
		s += fmt.Sprint(x.Out)
	}
	return s
}

// checkCount: one use too few and one too many are errors, at Close too.
func (r row) checkCount(t *testing.T) {
	h := open(r.at(1, 2), 0)
	for i := range 3 {
		if err := h.Close(); i < 2 && !errors.Is(err, privacy.ErrUses) || i == 2 && err != nil {
			t.Errorf("closed after %d of 2 uses: %v", i, err)
		}
		if _, err := r.use(h, base); errors.Is(err, privacy.ErrUses) != (i == 2) {
			t.Errorf("use %d of 2: %v", i+1, err)
		}
	}
	if err := h.Close(); !errors.Is(err, privacy.ErrUses) {
		t.Errorf("closed after 3 of 2 uses: %v", err)
	}
}

// TestProbeFreezesOutputs: what a test puts in the place of an output is what the
// caller gets.
func TestProbeFreezesOutputs(t *testing.T) {
	for _, r := range rows() {
		out := r.run(t, r.at(1, 300), 3, 300, &recorder{freeze: true})
		for i := range out {
			if !reflect.DeepEqual(out[i], out[0]) {
				t.Errorf("%s: use %d gives %v, frozen is %v", r.name, i, out[i], out[0])
				break
			}
		}
	}
}

// TestConformanceOfLaws: what comes out follows from what went in by the planned law,
// with a false-alarm rate of 1e-6 for each mechanism. Noise that is halved, doubled
// or missing is rejected.
func TestConformanceOfLaws(t *testing.T) {
	for i, r := range rows() {
		plan := r.at(1, rounds)
		seen := func(factor float64) []privacy.Released {
			var probe recorder
			r.run(t, r.at(factor, rounds), 10+i, rounds, &probe)
			return probe.seen
		}
		if p := r.p(plan, seen(1)); p < stattest.FalseAlarm {
			t.Errorf("%s: p-value %g", r.name, p)
		}
		for _, factor := range []float64{0.5, 2, 1.0 / 256} {
			if p := r.p(plan, seen(factor)); p >= stattest.FalseAlarm {
				t.Errorf("%s: noise times %g has p-value %g, must be rejected", r.name, factor, p)
			}
		}
	}
}

// TestConformanceOfSensitivity: neighbours' inputs are as far apart as Sensitivity
// says, and no further; a round of a filter under the adjacency that is planned.
func TestConformanceOfSensitivity(t *testing.T) {
	for _, r := range rows() {
		for input, a := range map[int]privacy.Adjacency{added: privacy.AddRemove, replaced: privacy.ReplaceOne} {
			m := r.at(1, 1)
			one, other, s := reported(t, r, m, base), reported(t, r, m, input), m.Sensitivity(a)
			if f, ok := m.(inRounds); ok {
				if total := m.Sensitivity(f.plannedFor()).Bound; math.Abs(f.Total()-total*total) > 1e-12*f.Total() {
					t.Errorf("%s: total is %g, sensitivity %g", r.name, f.Total(), total)
				}
				if a != f.plannedFor() {
					continue
				}
				x, y := one.(privacy.Round), other.(privacy.Round)
				if one, other, s = x.In, y.In, x.Sensitivity; math.Abs(x.Cost*rounds-f.Total()) > 1e-9*f.Total() ||
					y.Cost != x.Cost {
					t.Errorf("%s: a round costs %g and %g, planned are %d of %g", r.name, x.Cost, y.Cost, rounds, f.Total())
				}
			}
			if moved := distance(one, other, s.Norm); math.Abs(moved-s.Bound) > 1e-9*s.Bound {
				t.Errorf("%s, %s: moves by %g, bound %s", r.name, a, moved, s)
			}
		}
	}
}

func reported(t *testing.T, r row, m privacy.Mechanism, input int) any {
	t.Helper()
	var probe recorder
	if _, err := r.use(probed(m, 0, &probe), input); err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	return probe.seen[0].In
}
