package privacy

import (
	"errors"
	"fmt"
)

// Accountant bounds the privacy loss of the composition of events.
// Implementations never guess: an event that they have no proven bound for is
// an error that wraps ErrUnsupported and names the event's path.
type Accountant interface {
	Name() string
	// Epsilon returns the smallest proven epsilon (nats) at delta; +Inf where no
	// finite bound exists at that delta.
	Epsilon(events []Event, adjacency Adjacency, delta float64) (float64, error)
	// Delta returns the smallest proven delta at epsilon.
	Delta(events []Event, adjacency Adjacency, epsilon float64) (float64, error)
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
