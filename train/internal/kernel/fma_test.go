package kernel

import (
	"math"
	"math/big"
	"testing"
)

// multiplyAdd returns x*y + z as a row and as a dot product take it.
func multiplyAdd(x, y, z float32) (row, dot float32) {
	c := []float32{z}
	fused(c, x, 1, []float32{y})
	return c[0], fusedDot(z, []float32{x}, []float32{y})
}

// once returns x*y + z by exact arithmetic, rounded once.
func once(x, y, z float32) float32 {
	exact := func(v float32) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(float64(v)) }
	sum := exact(x)
	sum.Add(sum.Mul(sum, exact(y)), exact(z))
	f, _ := sum.Float32()
	return f
}

// TestFusedRoundsOnce: sums that lie halfway between two float32, or beside that by less than float64 shows,
// of normal and subnormal size; and random bits.
func TestFusedRoundsOnce(t *testing.T) {
	check := func(x, y, z float32) {
		want := once(x, y, z)
		if a, b := multiplyAdd(x, y, z); a != want || b != want {
			t.Fatalf("%x * %x + %x is %x and %x, want %x", x, y, z, a, b, want)
		}
	}
	r := source(8)
	for range 300_000 {
		z := float32(math.Ldexp(float64(1<<23+r.IntN(1<<23)), r.IntN(254)-149))
		half := math.Ldexp(1, max(math.Ilogb(float64(z))-24, -150))
		down := math.Ldexp(1, -r.IntN(60)) // beside halfway, by less and less
		x := float32(math.Ldexp(1, max(math.Ilogb(half)/2, -149)))
		y := float32(half / float64(x) * (1 + down))
		if r.IntN(2) == 0 {
			x = -x
		}
		check(x, y, z)
		check(x, y, -z)
		check(x, math.Nextafter32(y, 0), z)
	}
	for range 300_000 {
		x, y, z := math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		if x-x == 0 && y-y == 0 && z-z == 0 {
			check(x, y, z)
		}
	}
}

func TestFusedOfWhatIsNotFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range [][3]float32{{inf, 0, 1}, {inf, 1, -inf}, {nan, 1, 1}, {1, 1, nan}} {
		if a, b := multiplyAdd(c[0], c[1], c[2]); a == a || b == b {
			t.Errorf("of %v come %g and %g, want NaN", c, a, b)
		}
	}
	if a, b := multiplyAdd(inf, -2, 5); a != -inf || b != -inf {
		t.Errorf("of infinity times -2 plus 5 come %g and %g, want -infinity", a, b)
	}
}
