package bitmath

import (
	"math"
	"math/rand/v2"
)

// Normal draws a standard normal number by the ziggurat of Marsaglia and Tsang 2000: a
// place in a strip of equal area under exp(-x*x/2), taken at once where all of the strip is below the
// curve. Strip, sign and place are different bits of one word (Doornik 2005), in the
// order that math/rand/v2 has them, so that draws are those of [rand.Rand.NormFloat64], whose last
// bits depend on how the processor rounds.
func Normal(r *rand.Rand) float64 {
	for {
		word := r.Uint64()
		k, place := word>>32%stripCount, int32(word)
		x := float64(float64(place) * float64(strips[k].width))
		size := uint32(max(int64(place), -int64(place)))
		switch {
		case size < strips[k].inside:
			return x
		case k == 0:
			return math.Copysign(beyond(r), x)
		}
		low, high := strips[k].height, strips[k-1].height
		if low+float32(float32(r.Float64())*(high-low)) < float32(curve(x)) {
			return x
		}
	}
}

// beyond draws a normal number above stripsEnd (Marsaglia 1964): of an exponential
// number of that rate it keeps what another one of rate 1 allows.
func beyond(r *rand.Rand) float64 {
	for {
		x := float64(-Log(r.Float64()) * (1 / stripsEnd))
		if y := -Log(r.Float64()); 2*y >= float64(x*x) {
			return stripsEnd + x
		}
	}
}

// strip is what a draw needs of one: a place, of 31 bits and a sign, times width is x, and is
// under the curve where its size is below inside. The curve at the strip's edge has the
// height.
type strip struct {
	inside        uint32
	width, height float32
}

// newStrip returns a strip up to an edge, of which all is under the curve up to another.
func newStrip(edge, inside, height float64) strip {
	const places = 1 << 31
	return strip{uint32(inside / edge * places), float32(edge / places), float32(height)}
}

const (
	stripCount = 128
	// stripsEnd is where the tail of 128 strips begins (Marsaglia, Tsang 2000, section 3).
	stripsEnd = 3.442619855899
)

func curve(x float64) float64 { return Exp(-0.5 * x * x) }

// strips are constant. The lowest, strip 0, holds the tail: it is as wide as a rectangle of
// that area. The others lie on it, the last first, each up to an edge where the curve is
// higher than at the edge below by the area over that edge (Marsaglia, Tsang 2000, section
// 2); strip 1 ends at 0.
var strips = func() (list [stripCount]strip) {
	area := float64(stripsEnd*curve(stripsEnd)) + float64(math.Sqrt(math.Pi/2)*Erfc(stripsEnd/math.Sqrt2))
	list[0] = newStrip(area/curve(stripsEnd), stripsEnd, 1)
	edge := float64(stripsEnd)
	for k := stripCount - 1; k > 0; k-- {
		inner := 0.0
		if k > 1 {
			inner = math.Sqrt(-2 * Log(curve(edge)+area/edge))
		}
		list[k] = newStrip(edge, inner, curve(edge))
		edge = inner
	}
	return list
}()
