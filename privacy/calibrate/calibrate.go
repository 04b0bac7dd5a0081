// Package calibrate finds the least noise with which events meet a target, for
// one stage or for several that share a budget.
package calibrate

import (
	"errors"
	"fmt"
	"math"

	"weir/privacy"
)

// Target is the budget that events must meet together.
type Target struct {
	Epsilon, Delta float64
	Adjacency      privacy.Adjacency
}

// Stage is one payer: its events as a function of one noise multiplier.
type Stage struct {
	Name   string
	Share  float64 // of epsilon, among the stages that are not fixed; they sum to 1
	Fixed  float64 // noise multiplier set by the spec; 0 is to be calibrated
	Events func(multiplier float64) []privacy.Event
}

// The search covers noise from far below to far above anything useful; a target
// outside is infeasible, and the error says what is reachable.
const (
	leastNoise  = 1e-3
	utmostNoise = 1e7
	tightness   = 5e-4 // a calibrated epsilon is in ((1-tightness) target, target]
)

// InfeasibleError says that no noise in reach meets a target, and what is met.
type InfeasibleError struct {
	Target    Target
	Reachable float64 // epsilon at the utmost noise
	Stage     string
}

func (e *InfeasibleError) Error() string {
	who := ""
	if e.Stage != "" {
		who = "stage " + e.Stage + ": "
	}
	if math.IsInf(e.Reachable, 1) {
		return fmt.Sprintf("%sepsilon %.5g at delta %.3g is out of reach; even with a noise multiplier of %g no finite epsilon was found; events with a delta of their own may take all of it",
			who, e.Target.Epsilon, e.Target.Delta, utmostNoise)
	}
	return fmt.Sprintf("%sepsilon %.5g at delta %.3g is out of reach; with a noise multiplier of %g the least epsilon is %.5g",
		who, e.Target.Epsilon, e.Target.Delta, utmostNoise, e.Reachable)
}

// errNoTarget marks a target that is no budget.
var errNoTarget = errors.New("epsilon must be a finite number above 0")

// Noise returns the least noise multiplier with which events meets the target,
// within tightness of it.
func Noise(acc privacy.Accountant, target Target, events func(multiplier float64) []privacy.Event) (float64, error) {
	if !(target.Epsilon > 0) || math.IsInf(target.Epsilon, 1) {
		return 0, fmt.Errorf("epsilon: is %g: %w", target.Epsilon, errNoTarget)
	}
	multipliers, err := Joint(acc, target, []Stage{{Share: 1, Events: events}})
	if err != nil {
		return 0, err
	}
	return multipliers[0], nil
}
