package neighbour

import (
	"math"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
)

// TestMoved: distances by hand, in each norm, over blocks, of maps and of tables of unequal size.
func TestMoved(t *testing.T) {
	l1, l2, sup := privacy.Sensitivity{Norm: privacy.L1}, privacy.Sensitivity{Norm: privacy.L2},
		privacy.Sensitivity{Norm: privacy.LInf}
	pairs := privacy.Sensitivity{Norm: privacy.L2, Block: 2}
	for _, c := range []struct {
		s    privacy.Sensitivity
		a, b any
		want float64
		err  string
	}{
		{l1, []float64{1, 2, 3}, []float64{2, 0, 3}, 3, ""},
		{l2, []float32{0, 0}, []float32{3, 4}, 5, ""},
		{sup, []int64{1, 9}, []int64{3, 4}, 5, ""},
		{pairs, []float64{0, 0, 0, 0}, []float64{3, 4, 1, 1}, 5, ""},
		{l2, []float64{0, 0, 0, 0}, []float64{3, 4, 12, 0}, 13, ""},
		{l1, map[string]int64{"a": 2, "b": 1}, map[string]int64{"a": 1, "c": 4}, 6, ""},
		{l1, map[string]int64(nil), map[string]int64{"c": 4}, 4, ""},
		{sup, 2.5, 4.0, 1.5, ""}, {sup, 2, 7, 5, ""}, {l1, []int{1}, []int{3}, 2, ""},
		{l2, []float64{math.NaN()}, []float64{0}, math.Inf(1), ""},
		{sup, []float64{math.NaN(), 1}, []float64{0, 1}, math.Inf(1), ""},
		{l2, []float64{1}, []float64{1, 2}, 0, "their number depends on the data"},
		{l2, "a", "b", 0, "knows no distance"},
		{l2, map[string]int64{}, []float64{1}, 0, "on one table"},
	} {
		got, err := Moved(c.s, c.a, c.b)
		if got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%v to %v in %s: %g, %v; want %g, %q", c.a, c.b, c.s.Norm, got, err, c.want, c.err)
		}
	}
}

// fixed is a mechanism of L2 sensitivity 1.
type fixed struct{ privacy.Mechanism }

func (fixed) Sensitivity(privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.L2, Bound: 1}
}

// rounds is a filter of total 1.
type rounds struct{ fixed }

func (rounds) Total() float64 { return 1 }

// priced returns a round of L2 sensitivity 0.5.
func priced(in any, cost float64) privacy.Round {
	return privacy.Round{In: in, Sensitivity: privacy.Sensitivity{Norm: privacy.L2, Bound: 0.5}, Cost: cost}
}

// TestFrozen: outputs are given out again, whatever their owner did to them since; a group moves
// so many times as far; each round of a filter has a bound of its own.
func TestFrozen(t *testing.T) {
	release := func(p privacy.Probe, m privacy.Mechanism, use int64, in any, out []float64) []float64 {
		if _, ok := m.(privacy.Filter); ok {
			in = priced(in, 1)
		}
		return p.Release(privacy.Released{Spend: "s", Mechanism: m, Use: use, In: in, Out: out}).([]float64)
	}
	for _, c := range []struct {
		mechanism privacy.Mechanism
		group     int
		moves     []float64
		faults    int
	}{
		{fixed{}, 1, []float64{1, 1}, 0}, {fixed{}, 1, []float64{1.01, 1, 1.02}, 2}, {fixed{}, 2, []float64{2}, 0},
		{fixed{}, 2, []float64{2.01}, 1},
		{rounds{}, 1, []float64{0.5, 0.5}, 0}, {rounds{}, 1, []float64{0.5, 0.6, 0.7}, 2}, {rounds{}, 2, []float64{1, 1.1},
			1},
	} {
		one := NewFrozen()
		other := one.Neighbour()
		for i, move := range c.moves {
			out := release(one.Of("stage"), c.mechanism, int64(i), []float64{0}, []float64{7})
			out[0] = 8
			if got := release(other.Of("stage"), c.mechanism, int64(i), []float64{move}, []float64{9}); got[0] != 7 {
				t.Errorf("%g comes out again, was 7", got[0])
			}
		}
		plan := map[string][]pipeline.Planned{"stage": {{Line: privacy.Line{Name: "s"}, Group: c.group}}}
		if faults := other.Faults(privacy.ReplaceOne, plan); len(faults) != c.faults {
			t.Errorf("%T, group %d: %v gives the faults %q, want %d", c.mechanism, c.group, c.moves, faults, c.faults)
		}
	}
}

// TestFrozenFaults: a use on one table alone, a use that releases twice, and another type of output are
// faults, on either side.
func TestFrozenFaults(t *testing.T) {
	for want, f := range map[string]func(one, other privacy.Watcher){
		"takes place on one table alone": func(one, _ privacy.Watcher) {
			one.Release(privacy.Released{Mechanism: fixed{}, In: 1.0, Out: 1.0})
		},
		"takes place on the other table alone": func(_, other privacy.Watcher) {
			other.Release(privacy.Released{Mechanism: fixed{}, In: 1.0, Out: 1.0})
		},
		"releases twice": func(one, other privacy.Watcher) {
			for _, p := range []privacy.Watcher{one, one, other} {
				p.Release(privacy.Released{Mechanism: fixed{}, In: 1.0, Out: 1.0})
			}
		},
		"gives float64 on one table and int on the other": func(one, other privacy.Watcher) {
			one.Release(privacy.Released{Mechanism: fixed{}, In: 1.0, Out: 1.0})
			other.Release(privacy.Released{Mechanism: fixed{}, In: 1.0, Out: 1})
		},
		"a round of a filter without a price": func(one, other privacy.Watcher) {
			one.Release(privacy.Released{Mechanism: rounds{}, In: []float64{1}, Out: 1.0})
			other.Release(privacy.Released{Mechanism: rounds{}, In: []float64{1}, Out: 1.0})
		},
		"of one on one table and another on the other": func(one, other privacy.Watcher) {
			one.Release(privacy.Released{Mechanism: rounds{}, In: priced([]float64{1}, 1), Out: 1.0})
			other.Release(privacy.Released{Mechanism: rounds{}, In: priced([]float64{1}, 2), Out: 1.0})
		},
		"takes 1 streams": func(one, other privacy.Watcher) {
			one.Stream("s", 0, "noise", 0)
			one.Release(privacy.Released{Spend: "s", Mechanism: fixed{}, In: 1.0, Out: 1.0})
			other.Release(privacy.Released{Spend: "s", Mechanism: fixed{}, In: 1.0, Out: 1.0})
		},
	} {
		one := NewFrozen()
		other := one.Neighbour()
		f(one.Of("a"), other.Of("a"))
		if said := strings.Join(other.Faults(privacy.ReplaceOne, nil), "\n"); !strings.Contains(said, want) {
			t.Errorf("reported %q, want %q", said, want)
		}
	}
}

// TestStreamsOfBatches: a batch that is empty on one table draws for no example there, because a unit has
// fewer rows or a filter took them; of all other streams one more or less tells of the data, sampled or not.
func TestStreamsOfBatches(t *testing.T) {
	for _, c := range []struct {
		purpose string
		group   int
		fault   bool
	}{{"examples", 1, false}, {"examples", 2, false}, {"noise", 1, true}, {"noise", 2, true}, {"sample", 2, true}} {
		one := NewFrozen()
		other := one.Neighbour()
		one.Of("stage").Stream("s", 0, c.purpose, 0)
		for _, w := range []privacy.Watcher{one.Of("stage"), other.Of("stage")} {
			w.Release(privacy.Released{Spend: "s", Mechanism: fixed{}, In: []float64{0}, Out: 1.0})
		}
		plan := map[string][]pipeline.Planned{"stage": {{Line: privacy.Line{Name: "s"}, Group: c.group}}}
		if said := strings.Join(other.Faults(privacy.ReplaceOne, plan), "\n"); strings.Contains(said,
			"streams on one table") != c.fault {
			t.Errorf("%s, group %d: %q, must be a fault: %t", c.purpose, c.group, said, c.fault)
		}
	}
}
