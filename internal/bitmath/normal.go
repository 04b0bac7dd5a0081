package bitmath

import (
	"math"
	"math/rand/v2"
)

// Normal draws a standard normal number by the ziggurat of Marsaglia and Tsang 2000: a
// place in a strip of equal area under exp(-x*x/2), taken at once where all of the strip is below the
// curve. Strip, sign and place are different bits of one word (Doornik 2005), in the
// order that math/rand/v2 has them, so that draws are equal to [rand.Rand.NormFloat64], whose last
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
			return math.Copysign(drawTail(r), x)
		}
		low, high := strips[k].height, strips[k-1].height
		if low+float32(float32(r.Float64())*(high-low)) < float32(curve(x)) {
			return x
		}
	}
}

// drawTail draws a normal number above stripsEnd (Marsaglia 1964): of an exponential
// number of that rate it keeps what another one of rate 1 allows.
func drawTail(r *rand.Rand) float64 {
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

// Erfc returns the complementary error function of x, the integral of 2/sqrt(pi) e^(-t²)
// from x on.
func Erfc(x float64) float64 {
	size := math.Abs(x)
	switch {
	case x != x:
		return x
	case size < erfcxQuartersFrom:
		high, low := erfSmall(x)
		one, rest := joined(1, -high)
		return one + (rest - low)
	case x < -6: // where the rest of 2 is below 2^-53
		return 2
	case x >= 28:
		return 0
	}
	high, low, k := erfcParts(size)
	if x > 0 {
		return timesPower(high+low, k)
	}
	two, rest := joined(2, -timesPower(high, k))
	return two + (rest - timesPower(low, k))
}

// erfSmall returns the parts of erf x for |x| below erfcxQuartersFrom.
func erfSmall(x float64) (high, low float64) {
	z := float64(x * x)
	s := erf9 + float64(z*(erf11+float64(z*(erf13+float64(z*(erf15+float64(z*erf17)))))))
	s = erf1 + float64(z*(erf3+float64(z*(erf5+float64(z*(erf7+float64(z*s)))))))
	return joined(x, float64(x*s))
}

// erfcParts returns the parts of erfc x = (high + low) 2^k for x from erfcxQuartersFrom to 28: e^(-x²) by
// the square in two parts, times a polynomial.
func erfcParts(x float64) (high, low float64, k int) {
	square, error := joined(times(x, 0, x, 0))
	e, rest, k := expParts(-square, -error)
	f, fLow := quarter(erfcxQuarters[:], erfcxQuartersFrom, x)
	high, low = times(e, rest, f, fLow)
	return high, low, k
}

// quarter returns the value at x of the polynomial of the quarter of an octave that x lies in,
// of those that begin with from, and its error.
func quarter(all [][16]float64, from, x float64) (high, low float64) {
	at := math.Float64bits(x) >> 50
	c := &all[at-math.Float64bits(from)>>50]
	t := x - math.Float64frombits(at<<50|1<<49)
	z := float64(t * t)
	odd, even := c[14], c[15] // powers of t, begun with t, that are odd and even
	for n := 12; n > 1; n -= 2 {
		odd, even = c[n]+float64(z*odd), c[n+1]+float64(z*even)
	}
	high, low = joined(c[0], float64(t*odd)+float64(z*even))
	return high, low + c[1]
}
