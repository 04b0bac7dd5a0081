package prep

import (
	"math"

	"weir/pipeline/domain"
)

// restore brings a real number back to a value that column c can hold: rounded
// to its step (counted from the lower bound; whole numbers and codes have step
// 1), half to even, and clipped to its bounds. Not a number becomes the lower
// bound, or 0 where there is none.
type restore struct {
	step, per     float64 // per is 1/step where that is whole, else 0
	origin        float64
	least, utmost float64
	boolean       bool
	first, last   float64 // least and greatest whole multiple of 1/per inside the bounds
}

// exactWhole bounds whole numbers without declared bounds: float64 holds every
// whole number up to 2^53.
const exactWhole = 1 << 53

func restoring(c domain.Column) restore {
	r := restore{step: c.Step, least: math.Inf(-1), utmost: math.Inf(1)}
	switch {
	case c.Type.Coded():
		r.step, r.least, r.utmost = 1, 0, float64(len(c.Categories)-1)
	case c.Bounds != nil:
		r.least, r.utmost, r.origin = c.Bounds[0], c.Bounds[1], c.Bounds[0]
	}
	if c.Type != domain.Numeric {
		r.least, r.utmost = math.Ceil(max(r.least, -exactWhole)), math.Floor(min(r.utmost, exactWhole))
		if r.step < 1 || r.step != math.Trunc(r.step) {
			r.step = 1
		}
		if c.Bounds != nil {
			r.origin = r.least
		}
	}
	r.boolean = c.Type == domain.Boolean
	if r.step > 0 && r.step <= 1 {
		if per := math.Round(1 / r.step); math.Abs(float64(per*r.step)-1) < 1e-9 && math.Abs(float64(r.origin*per)-math.Round(r.origin*per)) < 1e-6 {
			r.per = per // steps such as 0.1: dividing whole numbers gives the nearest decimal
			r.first, r.last = multiples(r.least, r.utmost, per)
		}
	}
	return r
}

// value restores one number.
func (r restore) value(x float64) float64 {
	if math.IsNaN(x) {
		x = max(r.least, -math.MaxFloat64)
		if math.IsInf(r.least, -1) {
			x = min(0, r.utmost)
		}
	}
	switch {
	case r.boolean:
		if x >= 0.5 { // an indicator of one half says yes
			return r.utmost
		}
		return 0
	case r.per > 0:
		return min(max(math.RoundToEven(x*r.per), r.first), r.last) / r.per
	case r.step > 0:
		x = min(max(x, r.least), r.utmost)
		x = r.origin + float64(math.RoundToEven((x-r.origin)/r.step)*r.step)
		if x > r.utmost {
			x -= r.step
		}
	}
	return min(max(x, r.least), r.utmost)
}

// multiples are the least and greatest n with n/per inside the bounds.
func multiples(least, utmost, per float64) (first, last float64) {
	first, last = math.Round(least*per), math.Round(utmost*per)
	if first/per < least {
		first++
	}
	if last/per > utmost {
		last--
	}
	return first, last
}
