// Package neighbour holds what two runs on neighbouring tables may differ in, and tells where they differ in more: in
// what anyone can see, in what goes into a mechanism by more than was paid for, in private tables by more than their
// headers say, and, over runs together, in noise or secrets that two values share. Conformance tests, the soak and
// audits hold stages and runs to it.
package neighbour

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"weir/pipeline"
	"weir/privacy"
)

// Frozen watches the mechanisms of a stage, or of a whole run, on one table, and
// gives the same outputs out again on a neighbouring one. All that is then left to
// differ is what leaks past the mechanisms:
//
//	one := neighbour.NewFrozen()
//	// run on a table, each stage with the probe one.Of(id)
//	other := one.Neighbour()
//	// run on a neighbour with the same key, each stage with other.Of(id)
//	faults := other.Faults(adjacency, plan) // and compare all that was released
type Frozen struct {
	first *Frozen // whose outputs are given out again; nil: this one records

	mu      sync.Mutex
	uses    map[Place]privacy.Released
	streams map[Place][]string
	faults  []Fault
	nearest map[Mechanism]float64
}

// Mechanism names a mechanism of a run.
type Mechanism struct{ Stage, Spend string }

// Fault is something that two runs show and must not. It quotes no value of a row.
type Fault struct {
	Stage string // "" where it is of the run
	Text  string
}

func (f Fault) String() string { return strings.TrimPrefix(f.Stage+": "+f.Text, ": ") }

// Texts words faults.
func Texts(faults []Fault) (list []string) {
	for _, f := range faults {
		list = append(list, f.String())
	}
	return list
}

// Place is one use of a mechanism in a run.
type Place struct {
	Stage, Spend string
	Use          int64
}

func (p Place) String() string { return p.fault("")[0].String() }

// fault says something of a use.
func (p Place) fault(format string, args ...any) []Fault {
	text := fmt.Sprintf("use %d of %s", p.Use+1, p.Spend)
	if format != "" {
		text += ": " + fmt.Sprintf(format, args...)
	}
	return []Fault{{p.Stage, text}}
}

// NewFrozen records.
func NewFrozen() *Frozen {
	return &Frozen{uses: map[Place]privacy.Released{}, streams: map[Place][]string{}, nearest: map[Mechanism]float64{}}
}

// Neighbour gives the recorded outputs out again.
func (f *Frozen) Neighbour() *Frozen {
	other := NewFrozen()
	other.first = f
	return other
}

// Of returns the probe of a stage.
func (f *Frozen) Of(stage string) privacy.Watcher { return watched{f, stage} }

type watched struct {
	f     *Frozen
	stage string
}

// Stream notes a stream of noise.
func (w watched) Stream(spend string, use int64, purpose string, index uint64) {
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	at := Place{w.stage, spend, use}
	w.f.streams[at] = append(w.f.streams[at], fmt.Sprint(purpose, " ", index))
}

// Release notes a use, and freezes what comes out.
func (w watched) Release(r privacy.Released) any {
	f := w.f
	f.mu.Lock()
	defer f.mu.Unlock()
	place := Place{w.stage, r.Spend, r.Use}
	if _, twice := f.uses[place]; twice {
		f.faults = append(f.faults, place.fault("releases twice")...)
	}
	out := r.Out
	r.In, r.Out = copiedIn(r.In), copied(r.Out)
	f.uses[place] = r
	if f.first == nil {
		return out
	}
	before, ok := f.first.uses[place]
	if !ok || reflect.TypeOf(before.Out) != reflect.TypeOf(out) {
		return out // Faults says so
	}
	return copied(before.Out)
}

// copiedIn copies what goes in, which a round of a filter may wrap.
func copiedIn(x any) any {
	if r, ok := x.(privacy.Round); ok {
		r.In = copied(r.In)
		return r
	}
	return copied(x)
}

// copied keeps a value from what its owner does with it later.
func copied(x any) any {
	v := reflect.ValueOf(x)
	switch {
	case x == nil:
		return x
	case v.Kind() == reflect.Slice:
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(c, v)
		return c.Interface()
	case v.Kind() == reflect.Map:
		c := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, k := range v.MapKeys() {
			c.SetMapIndex(k, v.MapIndex(k))
		}
		return c.Interface()
	}
	return x
}

// Nearest returns how much of a mechanism's stated sensitivity was reached, after Faults: a
// test that stays far below 1 would not see a sensitivity that is stated too small.
func (f *Frozen) Nearest() (most float64) {
	for _, m := range f.nearest {
		most = math.Max(most, m)
	}
	return most
}

// Distances returns, for each mechanism whose inputs were compared, the greatest share of its stated sensitivity by
// which they differed (1 is all of it). It is called after Faults.
func (f *Frozen) Distances() map[Mechanism]float64 { return maps.Clone(f.nearest) }

// Use returns what went in and came out of a use, and the streams that it took.
func (f *Frozen) Use(place Place) (r privacy.Released, streams []string, seen bool) {
	r, seen = f.uses[place]
	return r, f.streams[place], seen
}

// DrawsForRows reports whether a use took streams whose draws fall to rows by their place.
func (f *Frozen) DrawsForRows(place Place) bool {
	return len(fixedStreams(f.streams[place])) < len(f.streams[place])
}

// Uses lists what was seen, in order.
func (f *Frozen) Uses() []Place {
	places := make([]Place, 0, len(f.uses))
	for p := range f.uses {
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b Place) int {
		if c := strings.Compare(a.Stage+"\x00"+a.Spend, b.Stage+"\x00"+b.Spend); c != 0 {
			return c
		}
		return int(a.Use - b.Use)
	})
	return places
}

// Faults lists what a neighbour shows and must not: a use on one table alone, and
// what goes into a use and moves by more than stated. plan has the priced
// mechanisms by stage (Step.Spends).
func (f *Frozen) Faults(adjacency privacy.Adjacency, plan map[string][]pipeline.Planned) []string {
	return Texts(f.FaultsBut(nil, adjacency, plan))
}

// FaultsBut returns what Faults does, but for the inputs of uses that chance makes incomparable; nil: none are.
func (f *Frozen) FaultsBut(chance func(Place, privacy.Mechanism) bool, adjacency privacy.Adjacency,
	plan map[string][]pipeline.Planned) []Fault {
	faults := append(append([]Fault(nil), f.first.faults...), f.faults...)
	for place := range f.first.uses {
		if _, ok := f.uses[place]; !ok {
			faults = append(faults, place.fault("takes place on one table alone: the number of uses depends on the data")...)
		}
	}
	for _, place := range f.Uses() {
		previous, ok := f.first.uses[place]
		if !ok {
			faults = append(faults, place.fault("takes place on the other table alone: the number of uses depends on the "+
				"data")...)
			continue
		}
		_, sharded := previous.Mechanism.(privacy.OnShards)
		before, current := fixedStreams(f.first.streams[place]), fixedStreams(f.streams[place])
		if adjacency == privacy.ReplaceOne && !sharded && !equalSets(before, current) {
			faults = append(faults, place.fault("takes %d streams on one table and %d others on the other: they depend on "+
				"the data", len(before), len(current))...)
		}
		faults = append(faults, f.noised(place, previous)...)
		if chance != nil && chance(place, previous.Mechanism) {
			continue
		}
		faults = append(faults, f.moved(place, previous, adjacency, Group(plan[place.Stage], place.Spend))...)
	}
	slices.SortFunc(faults, func(a, b Fault) int { return strings.Compare(a.String(), b.String()) })
	return faults
}

// Group returns how many rows of what goes into a planned mechanism one unit changes.
func Group(plan []pipeline.Planned, spend string) float64 {
	for _, p := range plan {
		if p.Name == spend {
			return float64(max(1, p.Group))
		}
	}
	return 1
}

// perBatch names the streams that a training asks for chunk by chunk of a batch (train's gradient), for
// draws inside what its sensitivity covers. A batch may be empty on one of two neighbouring tables alone:
// a unit gives way to one of fewer rows, or a filter keeps the row that a unit had and not the one it has.
const perBatch = "examples "

// fixedStreams returns the streams of a use that no row may decide: all but the streams of perBatch.
func fixedStreams(streams []string) []string {
	return slices.DeleteFunc(slices.Clone(streams), func(s string) bool { return strings.HasPrefix(s, perBatch) })
}

// equalSets ignores the order, in which goroutines end.
func equalSets(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// slack forgives float64 sums of ours.
const slack = 1e-9

func (f *Frozen) moved(place Place, previous privacy.Released, adjacency privacy.Adjacency, group float64) []Fault {
	current := f.uses[place]
	if reflect.TypeOf(previous.Out) != reflect.TypeOf(current.Out) {
		return place.fault("gives %T on one table and %T on the other", previous.Out, current.Out)
	}
	s := previous.Mechanism.Sensitivity(adjacency)
	if _, ok := previous.Mechanism.(privacy.Filter); ok {
		before, one := previous.In.(privacy.Round)
		after, two := current.In.(privacy.Round)
		if !one || !two || before.Sensitivity != after.Sensitivity || before.Cost != after.Cost {
			return place.fault("a round of a filter without a price, or of one on one table and another on the other")
		}
		s, previous.In, current.In = before.Sensitivity, before.In, after.In
	}
	m, err := Moved(s, previous.In, current.In)
	if err != nil {
		return place.fault("%v", err)
	}
	bound, of := s.Bound*group, Mechanism{place.Stage, place.Spend}
	f.nearest[of] = math.Max(f.nearest[of], m/bound)
	if !(m <= bound*(1+slack)) {
		return place.fault("what goes in moves by %.9g (%s), stated are %.9g: its sensitivity is larger than paid for", m,
			s.Norm, bound)
	}
	return nil
}

// rounding is how far the noise of one stream may seem to differ on two tables, as a share of its deviation: what goes
// in is rounded to the lattice of the noise, and added up in float64.
const rounding = 0x1p-10

// noised reports noise that is another on the other table, under one key: then what comes out holds something of rows
// beside what is said to have gone in.
func (f *Frozen) noised(place Place, previous privacy.Released) []Fault {
	m, additive := previous.Mechanism.(privacy.Additive)
	current := f.uses[place]
	before, one := residue(previous)
	after, two := residue(current)
	if !additive || !one || !two || len(before) != len(after) {
		return nil
	}
	for i := range before {
		if d := math.Abs(before[i] - after[i]); d > rounding*m.Deviation() {
			return place.fault("what comes out less what went in is another on the other table, though the noise is one: " +
				"it holds something else of the rows")
		}
	}
	return nil
}

// residue returns what comes out of a use less what went in; false of what is not a list of numbers.
func residue(r privacy.Released) ([]float64, bool) {
	in, err1 := numbers(r.In)
	out, err2 := numbers(r.Out)
	if err1 != nil || err2 != nil || len(in) != len(out) {
		return nil, false
	}
	noise := make([]float64, len(in))
	for i := range in {
		noise[i] = out[i] - in[i]
	}
	return noise, true
}

// Moved returns how far what goes into a mechanism has moved from a to b, in the norm of
// its sensitivity and, where that is stated by block, in the block that moves
// farthest.
func Moved(s privacy.Sensitivity, a, b any) (float64, error) {
	x, y, err := Numbers(a, b)
	if err != nil {
		return 0, err
	}
	block := s.Block
	if block <= 0 {
		block = max(1, len(x))
	}
	most := 0.0
	for from := 0; from < len(x); from += block {
		to := min(from+block, len(x))
		d := distance(s.Norm, x[from:to], y[from:to])
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		most = max(most, d)
	}
	return most, nil
}

func distance(norm privacy.Norm, x, y []float64) (d float64) {
	for i := range x {
		switch diff := math.Abs(x[i] - y[i]); norm {
		case privacy.LInf:
			d = math.Max(d, diff) // keeps NaN
		case privacy.L1:
			d += diff
		default:
			d += float64(diff * diff)
		}
	}
	if norm == privacy.L2 {
		return math.Sqrt(d)
	}
	return d
}

// Numbers brings both inputs to numbers of equal places; what a map lacks counts 0.
func Numbers(a, b any) (x, y []float64, err error) {
	if m, ok := a.(map[string]int64); ok {
		n, ok := b.(map[string]int64)
		if !ok {
			return nil, nil, fmt.Errorf("takes in %T on one table and %T on the other", a, b)
		}
		for _, k := range slices.Sorted(maps.Keys(union(m, n))) {
			x, y = append(x, float64(m[k])), append(y, float64(n[k]))
		}
		return x, y, nil
	}
	if x, err = numbers(a); err != nil {
		return nil, nil, err
	}
	if y, err = numbers(b); err != nil {
		return nil, nil, err
	}
	if len(x) != len(y) {
		return nil, nil, fmt.Errorf("takes in %d numbers on one table and %d on the other: their number depends on the data",
			len(x), len(y))
	}
	return x, y, nil
}

func union(a, b map[string]int64) map[string]int64 {
	u := maps.Clone(a)
	if u == nil {
		u = map[string]int64{}
	}
	maps.Copy(u, b)
	return u
}

// numbers returns what mechanisms take in, as float64.
func numbers(x any) ([]float64, error) {
	switch x := x.(type) {
	case float64:
		return []float64{x}, nil
	case int:
		return []float64{float64(x)}, nil
	case int64:
		return []float64{float64(x)}, nil
	case []float64:
		return x, nil
	case []float32:
		return floats(x), nil
	case []int64:
		return floats(x), nil
	case []int:
		return floats(x), nil
	case []int32:
		return floats(x), nil
	}
	return nil, fmt.Errorf("takes in a %T, of which the test knows no distance", x)
}

func floats[T float32 | int64 | int | int32](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// Sampled reports whether a mechanism draws which rows it sees: train.DPSGD does, but
// for a rate of 1, which a case may choose to be held to all places.
func Sampled(m privacy.Mechanism, a privacy.Adjacency) bool { return samples(m.Event(a)) }

func samples(e privacy.Event) bool {
	switch e := e.(type) {
	case privacy.PoissonSampled:
		return e.SamplingRate < 1 || samples(e.Event)
	case privacy.SampledWithoutReplacement:
		return e.SampleSize < e.Population || samples(e.Event)
	case privacy.Repeated:
		return samples(e.Event)
	case privacy.Composed:
		return slices.ContainsFunc(e.Events, samples)
	case privacy.Parallel:
		return slices.ContainsFunc(e.Events, samples)
	}
	return false
}
