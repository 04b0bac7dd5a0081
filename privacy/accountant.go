package privacy

import (
	"errors"
	"fmt"
	"math"
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

// ProvenEpsilon is what every accountant returns through: a NaN proves nothing and
// becomes +Inf, never less than what was spent. Comparisons with NaN are false, so
// that no budget would refuse it.
func ProvenEpsilon(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(1)
	}
	return x
}

// ProvenDelta is the same for delta, which is never more than 1.
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
