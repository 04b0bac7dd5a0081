package calibrate

import (
	"errors"
	"fmt"
	"math"
)

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
		return 0, fmt.Errorf("epsilon %.5g is out of reach; with a noise multiplier of %g the least is %.5g", want, utmostNoise, out.Reachable)
	}
	return m, err
}
