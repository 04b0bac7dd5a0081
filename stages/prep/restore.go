package prep

import (
	"math"

	"weir/pipeline"
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
}

func restoring(c pipeline.Column) restore {
	r := restore{step: c.Step, least: math.Inf(-1), utmost: math.Inf(1)}
	switch {
	case c.Type.Coded():
		r.step, r.least, r.utmost = 1, 0, float64(len(c.Categories)-1)
	case c.Bounds != nil:
		r.least, r.utmost, r.origin = c.Bounds[0], c.Bounds[1], c.Bounds[0]
	}
	if c.Type != pipeline.Numeric {
		r.least, r.utmost = math.Ceil(r.least), math.Floor(r.utmost)
		if r.step < 1 || r.step != math.Trunc(r.step) {
			r.step = 1
		}
		if !math.IsInf(r.least, 0) {
			r.origin = r.least
		}
	}
	r.boolean = c.Type == pipeline.Boolean
	if r.step > 0 && r.step <= 1 {
		if per := math.Round(1 / r.step); math.Abs(per*r.step-1) < 1e-9 && math.Abs(r.origin*per-math.Round(r.origin*per)) < 1e-6 {
			r.per = per // steps such as 0.1: dividing whole numbers gives the nearest decimal
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
	x = min(max(x, r.least), r.utmost)
	switch {
	case r.boolean:
		if x >= 0.5 { // an indicator of one half says yes
			return r.utmost
		}
		return 0
	case r.per > 0:
		return r.inside(math.RoundToEven(x*r.per), r.per)
	case r.step > 0:
		x = r.origin + math.RoundToEven((x-r.origin)/r.step)*r.step
		if x > r.utmost {
			x -= r.step
		}
	}
	return min(max(x, r.least), r.utmost)
}

// inside is n/per, one step down or up where rounding left the bounds.
func (r restore) inside(n, per float64) float64 {
	if n/per > r.utmost {
		n--
	}
	if n/per < r.least {
		n++
	}
	return n / per
}

func (r restore) all(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = r.value(v)
	}
	return out
}
