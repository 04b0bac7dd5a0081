package portable

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"math/rand/v2"
	"testing"
)

// function is one of the package beside that of package math, on arguments between low
// and high, or where wide on sizes from 2^-60 to 2^60.
type function struct {
	name      string
	ours      func(float64) float64
	standard  func(float64) float64
	low, high float64
	wide      bool
	units     float64 // by which the two may differ, in the last place
	least     float64 // of the size that units are of: sums in the function may cancel
}

func functions() []function {
	return []function{
		{"Asinh", Asinh, math.Asinh, -1, 1, true, 4, 0},
		{"Cbrt", Cbrt, math.Cbrt, -1, 1, true, 4, 0},
		{"Erfc", Erfc, math.Erfc, -7, 27, false, 4, 0},
		{"Exp", Exp, math.Exp, -745, 709, false, 4, 0},
		{"Exp near 0", Exp, math.Exp, -1, 1, false, 4, 0},
		{"Expm1", Expm1, math.Expm1, -60, 709, false, 4, 0},
		{"Expm1 near 0", Expm1, math.Expm1, -1, 1, false, 4, 0},
		{"Lgamma", Lgamma, func(x float64) float64 { v, _ := math.Lgamma(x); return v }, 0, 200, false, 4, 0},
		{"Log", Log, math.Log, 0, 1, true, 4, 0},
		{"Log2", Log2, math.Log2, 0, 1, true, 4, 1},
		{"Log10", Log10, math.Log10, 0, 1, true, 4, 0},
		{"Log1p", Log1p, math.Log1p, 0, 1, true, 4, 0},
		{"Log1p near 0", Log1p, math.Log1p, -1, 1, false, 4, 0},
		{"Sinh", Sinh, math.Sinh, -30, 30, false, 4, 0},
		{"Tanh", Tanh, math.Tanh, -30, 30, false, 4, 0},
		{"sine", func(x float64) float64 { s, _ := Sincos(x); return s }, math.Sin, -math.Pi / 4, math.Pi / 4, false, 4, 0},
		{"cosine", func(x float64) float64 { _, c := Sincos(x); return c }, math.Cos, -math.Pi / 4, math.Pi / 4, false, 4, 0},
		{"Pow of 1.7", func(x float64) float64 { return Pow(1.7, x) }, func(x float64) float64 { return math.Pow(1.7, x) }, -300, 300, false, 16, 0},
		{"Pow with 2.3", func(x float64) float64 { return Pow(x, 2.3) }, func(x float64) float64 { return math.Pow(x, 2.3) }, 0, 1, true, 16, 0},
	}
}

func (f function) draw(r *rand.Rand) float64 {
	x := f.low + float64((f.high-f.low)*float64(r.Float64()))
	if f.wide {
		x = math.Ldexp(x, r.IntN(120)-60)
	}
	return x
}

// The same functions as those of package math: theirs and ours are within one or two
// units in the last place of the truth (error analyses of FreeBSD and Cephes), but powers
// multiply the error of a logarithm.
func TestFunctionsAreThoseOfMath(t *testing.T) {
	for _, f := range functions() {
		r := rand.New(rand.NewPCG(1, 2))
		for range 200_000 {
			x := f.draw(r)
			got, want := f.ours(x), f.standard(x)
			if !(math.Abs(got-want) <= f.units*0x1p-52*max(math.Abs(want), f.least)+math.SmallestNonzeroFloat64) {
				t.Fatalf("%s of %v is %v, package math says %v", f.name, x, got, want)
			}
		}
	}
}

// What is not an ordinary number goes in and comes out as with package math.
func TestSpecialArguments(t *testing.T) {
	inf := math.Inf(1)
	for _, f := range functions()[:15] {
		for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, inf, -inf, math.NaN(), 1e-300, -1e-300, math.MaxFloat64, -math.MaxFloat64, 800, -800} {
			got, want := f.ours(x), f.standard(x)
			if f.name == "Lgamma" && x < 0 {
				want = math.NaN()
			}
			if same := got == want && math.Signbit(got) == math.Signbit(want); !same && !(math.IsNaN(got) && math.IsNaN(want)) &&
				!(math.Abs(got-want) <= 0x1p-51*math.Abs(want)) {
				t.Errorf("%s of %v is %v, package math says %v", f.name, x, got, want)
			}
		}
	}
	for _, x := range []float64{0, 1, -1, 2, -2, 0.5, inf, -inf, math.NaN(), 1e300, 3} {
		for _, y := range []float64{0, 1, -1, 2, 3, -3, 0.5, -0.5, inf, -inf, math.NaN(), 1e300} {
			if got, want := Pow(x, y), math.Pow(x, y); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%v to the %v is %v, package math says %v", x, y, got, want)
			}
		}
	}
}

// The draws of math/rand/v2, edges of the ziggurat and tails among them.
func TestNormalIsThatOfRand(t *testing.T) {
	a, b := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(3, 4))
	for range 2_000_000 {
		if got, want := Normal(a), b.NormFloat64(); math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Fatalf("drew %v, math/rand/v2 draws %v", got, want)
		}
	}
}

// inFours is the dot product in four sums, what is left in the first.
func inFours(x, y []float64) float64 {
	var s [4]float64
	for i, v := range x {
		k := i % 4
		if i >= len(x)/4*4 {
			k = 0
		}
		s[k] += float64(v * y[i])
	}
	return (s[0] + s[2]) + (s[1] + s[3])
}

func TestVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 70 {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = Normal(r), Normal(r)
		}
		if got, want := Dot(x, y), inFours(x, y); got != want {
			t.Fatalf("the dot product of %d numbers is %v, want %v", n, got, want)
		}
		z := append([]float64(nil), y...)
		Axpy(0.3, x, y)
		for i := range y {
			if want := z[i] + float64(0.3*x[i]); y[i] != want {
				t.Fatalf("element %d of %d is %v, want %v", i, n, y[i], want)
			}
		}
	}
}

// digest is of the bits of all functions on drawn arguments. It was taken on amd64; that
// it comes out on every processor is what the package is for (.ci/bits runs this test on arm64).
const digest = "8f100a9dc2fdf6e4dde02cdfc15dad9c22790acc71a3862b9012a038f841df6a"

func TestBitsAreThoseOfEveryProcessor(t *testing.T) {
	h, r := sha256.New(), rand.New(rand.NewPCG(7, 8))
	for _, f := range functions() {
		for range 50_000 {
			write(h, f.ours(f.draw(r)))
		}
	}
	x, y := make([]float64, 1003), make([]float64, 1003)
	for range 1000 {
		for i := range x {
			x[i] = Normal(r)
		}
		Axpy(0.7, x, y)
		write(h, Dot(x, y))
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != digest {
		t.Errorf("the bits have the digest %s, on amd64 %s", got, digest)
	}
}

func write(h hash.Hash, x float64) {
	if math.IsNaN(x) {
		x = math.Inf(1) // NaN has many bits, and no result depends on them
	}
	h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
}
