// Package calibrate finds the least noise with which events meet a target, for
// one stage or for several that share a budget.
package calibrate

import (
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
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
		return fmt.Sprintf("%sepsilon %.5g at delta %.3g is out of reach; even with a noise multiplier of %g no finite "+
			"epsilon was found; events with a delta of their own may take all of it",
			who, e.Target.Epsilon, e.Target.Delta, utmostNoise)
	}
	return fmt.Sprintf("%sepsilon %.5g at delta %.3g is out of reach; with a noise multiplier of %g the least epsilon "+
		"is %.5g",
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

// search finds the least x > 0 with at(x) in ((1-tightness) want, want], for at
// that falls in x. It works on logarithms, where epsilon is close to a power of
// the noise, by the method of false position with bisection as its guard.
type search struct {
	want float64
	at   func(x float64) (float64, error)

	start, step float64 // log x to begin at, and the first step away from it
	low, high   float64 // log x: at(low) is above want, at(high) is not
	flow, fhigh float64 // log at(x) - log want; flow may be +Inf
}

func (s *search) value(logX float64) (float64, error) {
	y, err := s.at(bitmath.Exp(logX))
	if err != nil {
		return 0, err
	}
	y = privacy.ProvenEpsilon(y)
	return bitmath.Log(y) - bitmath.Log(s.want), nil // at 0 this is -Inf, which is below every target
}

func (s *search) run() (float64, error) {
	if err := s.bracket(); err != nil {
		return 0, err
	}
	// 200 halvings of the widest bracket go far below the spacing of floats.
	for range 200 {
		if s.fhigh > bitmath.Log1p(-tightness) || s.high-s.low < 1e-12 {
			break
		}
		if err := s.narrow(); err != nil {
			return 0, err
		}
	}
	return bitmath.Exp(s.high), nil
}

// bracket walks from start in growing steps until want lies between.
func (s *search) bracket() error {
	if s.step == 0 {
		s.step = bitmath.Log(4)
	}
	f, err := s.value(s.start)
	if err != nil {
		return err
	}
	s.low, s.high, s.flow, s.fhigh = s.start, s.start, f, f
	for s.fhigh > 0 {
		if s.high >= bitmath.Log(utmostNoise) {
			return &InfeasibleError{Reachable: bitmath.Exp(s.fhigh + bitmath.Log(s.want))}
		}
		s.low, s.flow = s.high, s.fhigh
		s.high = math.Min(s.high+s.step, bitmath.Log(utmostNoise))
		s.step *= 2
		if s.fhigh, err = s.value(s.high); err != nil {
			return err
		}
	}
	for s.low == s.high || s.flow <= 0 {
		if s.low <= bitmath.Log(leastNoise) {
			s.fhigh = 0 // even the least noise is enough
			s.high = s.low
			return nil
		}
		s.high, s.fhigh = s.low, s.flow
		s.low = math.Max(s.low-s.step, bitmath.Log(leastNoise))
		s.step *= 2
		if s.flow, err = s.value(s.low); err != nil {
			return err
		}
	}
	return nil
}

// nothing is the logarithm of what, over the target, is not an epsilon: at noise that delta
// alone covers. A line from there to the other end points nowhere near the target, and
// steps along it would stay so short that the search ended where it began.
const nothing = -50

// narrow cuts the bracket once. It aims a little inside the target, so that the
// point that it finds is on the right side of it.
func (s *search) narrow() error {
	mid := s.low + float64((s.high-s.low)/2)
	if !math.IsInf(s.flow, 0) && s.fhigh > nothing {
		aim := bitmath.Log1p(-tightness / 2)
		guess := s.low + float64((s.flow-aim)/(s.flow-s.fhigh)*(s.high-s.low))
		if width := s.high - s.low; guess > s.low+float64(0.001*width) && guess < s.high-float64(0.001*width) {
			mid = guess
		}
	}
	f, err := s.value(mid)
	if err != nil {
		return err
	}
	if f > 0 {
		s.low, s.flow = mid, f
	} else {
		s.high, s.fhigh = mid, f
	}
	return nil
}

// utmostSteps bounds the search for steps.
const utmostSteps = int64(1) << 40

// Steps returns the largest number of repeats of event that meets the target; 0
// where not even one does.
func Steps(acc privacy.Accountant, target Target, event privacy.Event) (int64, error) {
	meets := func(n int64) (bool, error) {
		eps, err := acc.Epsilon([]privacy.Event{privacy.Repeated{Count: n, Event: event}}, target.Adjacency, target.Delta)
		return eps <= target.Epsilon, err
	}
	low, high := int64(0), int64(1) // low meets, high does not
	for {
		ok, err := meets(high)
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		if low = high; low >= utmostSteps {
			return 0, fmt.Errorf("steps: more than %d repeats meet the target; the event costs next to nothing", utmostSteps)
		}
		high *= 2
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		ok, err := meets(mid)
		if err != nil {
			return 0, err
		}
		if ok {
			low = mid
		} else {
			high = mid
		}
	}
	return low, nil
}

// Least returns the least noise multiplier at which epsilon is at most want, within
// tightness of it, for a function that falls as the noise grows, such as a paper's own
// arithmetic. Where the function has no number it is taken for above every target.
func Least(want float64, epsilon func(multiplier float64) (float64, error)) (float64, error) {
	if !(want > 0) || math.IsInf(want, 1) {
		return 0, fmt.Errorf("epsilon: is %g: %w", want, errNoTarget)
	}
	var last error
	s := &search{want: want, at: func(m float64) (float64, error) {
		eps, err := epsilon(m)
		if err != nil {
			last = err
			return math.Inf(1), nil
		}
		return math.Max(eps, math.SmallestNonzeroFloat64), nil
	}}
	m, err := s.run()
	var out *InfeasibleError
	if errors.As(err, &out) {
		if last != nil && math.IsInf(out.Reachable, 1) {
			return 0, last
		}
		return 0, fmt.Errorf("epsilon %.5g is out of reach; with a noise multiplier of %g the least is %.5g", want,
			utmostNoise, out.Reachable)
	}
	return m, err
}
