package privacy

import (
	"fmt"

	"weir/privacy/noise"
)

// Mechanism is a planned way to release something about private rows: plain data,
// from which the bill takes its event, and the run its noise. So what is charged
// and what is drawn are one value.
//
// All of it is stated for one unit of the stated adjacency that changes one row
// (for a mechanism on shards: one shard) of what goes in. Who plans the mechanism
// on a table where c rows change raises the event to a group of c (Group).
type Mechanism interface {
	// Check names every parameter that is out of range.
	Check() error
	// Event is what all uses release together. Accountants double the sensitivity
	// of noise on sums under ReplaceOne; a mechanism whose sensitivity grows by less
	// says so by its event.
	Event(Adjacency) Event
	// Sensitivity bounds how far what goes into one use moves.
	Sensitivity(Adjacency) Sensitivity
	// Uses is how often the mechanism is used, on every input alike; AnyNumber for a
	// filter, which is bounded by its total instead.
	Uses() int64
}

// AnyNumber of uses, within a total that is charged whole.
const AnyNumber = -1

// OnShards is a mechanism whose unit of change is one of Shards disjoint shards.
type OnShards interface {
	Mechanism
	Shards() int
}

// Filter is a mechanism for rounds that are chosen after looking at earlier
// ones. Each use states a cost; together they stay within Total. A filter is
// charged whole and may end below its total.
type Filter interface {
	Mechanism
	Total() float64
}

// Additive is a mechanism that adds independent noise of one scale to each number
// that goes in.
type Additive interface {
	Mechanism
	// Deviation is the noise's standard deviation.
	Deviation() float64
}

// Norm measures a change of what goes into a mechanism.
type Norm string

const (
	L1   Norm = "L1"
	L2   Norm = "L2"
	LInf Norm = "Linf"
)

// Sensitivity bounds a change: its norm is at most Bound, over each Block of
// consecutive coordinates (0: over all of them).
type Sensitivity struct {
	Norm  Norm    `json:"norm"`
	Bound float64 `json:"bound"`
	Block int     `json:"block,omitempty"`
}

func (s Sensitivity) String() string { return fmt.Sprintf("%.4g (%s)", s.Bound, s.Norm) }

// Payer opens planned mechanisms: it records the charge, synced, and then hands
// out the only way to its noise. A name that is not planned, or opened before, is
// refused.
type Payer interface {
	Open(name string) (*Handle, error)
}

// Probe sees, in tests, every use of a mechanism and may replace what
// came out.
type Probe interface {
	Release(Released) any
}

// Watcher is a probe that also sees each stream that a use takes: a use without
// one has drawn nothing.
type Watcher interface {
	Probe
	Stream(spend string, use int64, purpose string, index uint64)
}

// Released is one use of a mechanism: what went in, before any noise, and what
// came out. A choice has scores for In and an index for Out; the In of a filter is a
// Round.
type Released struct {
	Spend     string
	Mechanism Mechanism
	Use       int64
	In, Out   any
}

// Round is what a round of a filter reports as having gone in: In moves by at most
// Sensitivity, under the adjacency that the filter is planned for, and takes Cost of
// its total.
type Round struct {
	In          any
	Sensitivity Sensitivity
	Cost        float64
}

// Opening is how a payer makes a Handle.
type Opening struct {
	Spend     string // its name in the plan
	Mechanism Mechanism
	Source    *noise.Source
	// Drawn is how many uses an interrupted attempt with the same recipe and key had
	// released when it left its checkpoint: so many need not be repeated.
	Drawn int64
	Probe Probe
}
