package privacy

import (
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
)

// Accountant bounds the privacy loss of the composition of events.
// Implementations never guess: an event that they have no proven bound for is
// an error that wraps ErrUnsupported and names the event's path.
type Accountant interface {
	Name() string
	// Epsilon returns the smallest proven epsilon (nats) at delta; +Inf where no
	// finite bound exists at that delta. It is never NaN.
	Epsilon(events []Event, adjacency Adjacency, delta float64) (float64, error)
	// Delta returns the smallest proven delta at epsilon.
	Delta(events []Event, adjacency Adjacency, epsilon float64) (float64, error)
}

// ProvenEpsilon returns the epsilon that an accountant may state: a NaN proves nothing and
// becomes +Inf, never less than what was spent. Comparisons with NaN are false, so
// that no budget would refuse it.
func ProvenEpsilon(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}

// ProvenDelta returns the same of delta, which is never more than 1.
func ProvenDelta(x float64) float64 {
	if math.IsNaN(x) {
		return 1
	}
	return math.Min(1, x)
}

// ErrUnsupported marks an event for which an accountant has no proven bound.
var ErrUnsupported = errors.New("no proven bound")

// UnsupportedError names the event that an accountant cannot bound and why.
type UnsupportedError struct {
	Accountant string
	Path       string // such as events[0].repeated.event.laplace
	Reason     string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: the %s accountant has no proven bound: %s", e.Path, e.Accountant, e.Reason)
}

func (e *UnsupportedError) Unwrap() error { return ErrUnsupported }

// Charge is an event with a payer, the stage that spends it.
type Charge struct {
	Stage string
	Event Event
}

// Adjacency says which two tables count as neighbours. It is part of every
// epsilon: a number without it means nothing.
type Adjacency string

const (
	AddRemove  Adjacency = "add_remove"  // one unit is added or removed; the row count is private
	ReplaceOne Adjacency = "replace_one" // one unit is exchanged for another; the row count is public
)

// ParseAdjacency returns the adjacency named s.
func ParseAdjacency(s string) (Adjacency, error) {
	switch a := Adjacency(s); a {
	case AddRemove, ReplaceOne:
		return a, nil
	}
	return "", fmt.Errorf("adjacency: is %q, must be add_remove or replace_one", s)
}

// Line is a mechanism of a stage as a bill lists it.
type Line struct {
	Name        string `json:"name"`
	Mechanism   string `json:"mechanism"`
	Sensitivity string `json:"sensitivity"`
	Uses        int64  `json:"uses"` // -1: any number within a total
}

// Cost is what a bill says of one stage, in nats; nil where there is no such number.
type Cost struct {
	NoiseMultiplier *float64 `json:"noise_multiplier,omitempty"`
	Calibrated      bool     `json:"calibrated,omitempty"`         // noise found from the budget, not fixed by the spec
	Share           *float64 `json:"share,omitempty"`              // of the budget
	Alone           *float64 `json:"epsilon_alone,omitempty"`      // of this stage
	Cumulative      *float64 `json:"epsilon_cumulative,omitempty"` // of all up to it
	Published       *float64 `json:"epsilon_published,omitempty"`
	PublishedMethod string   `json:"published_method,omitempty"`
	Unproven        Unproven `json:"unproven,omitzero"` // why nothing is proven
}

// Unproven says why no bound is known for a mechanism: the audit rule that its proof breaks,
// and how. The zero value says that there is a proof.
type Unproven struct {
	Rule string `json:"rule"` // such as W13
	Why  string `json:"why"`
}

// String returns the rule and why, such as "W13: the encoder has no noise"; "" where there is a proof.
func (u Unproven) String() string {
	if u == (Unproven{}) {
		return ""
	}
	return u.Rule + ": " + u.Why
}

// Bound shows an upper bound with five significant digits, rounded up: a bound
// rounded down would claim more than was proven. +Inf is none, because no finite
// bound exists.
func Bound(x float64) string { return rounded(x, 5, math.Ceil, 1-1e-12) }

// BoundTo returns Bound with the given number of significant digits, up to 9.
func BoundTo(digits int, x float64) string { return rounded(x, digits, math.Ceil, 1-1e-12) }

// Room shows what is left of a bound with five significant digits, rounded down.
func Room(x float64) string { return rounded(x, 5, math.Floor, 1+1e-12) }

// rounded rounds to the given number of digits; slack keeps what is exact there, such as 1,
// as it is in floating point.
func rounded(x float64, digits int, apply func(float64) float64, slack float64) string {
	switch {
	case math.IsInf(x, 1):
		return "none"
	case !(x > 0):
		return fmt.Sprintf("%.*g", digits, x)
	}
	unit := bitmath.Pow(10, math.Floor(bitmath.Log10(x))-float64(digits-1))
	return fmt.Sprintf("%.*g", digits, apply(x/unit*slack)*unit)
}
