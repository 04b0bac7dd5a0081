package pipeline

import "fmt"

// Spread says where in a table one changed privacy unit of the source can show.
type Spread string

const (
	SpreadRows      Spread = "rows"      // in at most N rows
	SpreadShards    Spread = "shards"    // inside one of N disjoint shards, by any amount
	SpreadUnbounded Spread = "unbounded" // anywhere
)

// Stability bounds what changes in a private table when one privacy unit of the
// source changes (docs/design.md section 3). N is the number of rows, or of shards.
type Stability struct {
	Spread Spread `json:"spread"`
	N      int    `json:"n,omitempty"`
}

// Rows is rows(c): at most c rows are added, removed or replaced.
func Rows(c int) Stability { return Stability{SpreadRows, c} }

// Shards is shards(k): all change is inside one of k disjoint shards.
func Shards(k int) Stability { return Stability{SpreadShards, k} }

// Unbounded says nothing about the change.
func Unbounded() Stability { return Stability{Spread: SpreadUnbounded} }

// String is rows(1), shards(1500) or unbounded.
func (s Stability) String() string {
	if s.Spread == SpreadUnbounded || s.Spread == "" {
		return string(SpreadUnbounded)
	}
	return fmt.Sprintf("%s(%d)", s.Spread, s.N)
}

// AcrossRows is the stability after a computation that mixes rows: inside a
// shard it stays there, across the whole table anything may change.
func (s Stability) AcrossRows(withinShard bool) Stability {
	if withinShard && s.Spread == SpreadShards {
		return s
	}
	return Unbounded()
}
