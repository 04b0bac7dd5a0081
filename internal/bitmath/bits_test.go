package bitmath

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"math/rand/v2"
	"testing"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(7, seed)) }

// TestNormalIsThatOfRand: the draws of math/rand/v2, edges of the ziggurat and tails among them.
func TestNormalIsThatOfRand(t *testing.T) {
	a, b := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(3, 4))
	for range 2_000_000 {
		if got, want := Normal(a), b.NormFloat64(); math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Fatalf("drew %v, math/rand/v2 draws %v", got, want)
		}
	}
}

// inFours returns the dot product in four sums, what is left in the first.
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
const digest = "7a25370868393149dc855a6f1d868f3cf57447f5c9a81150fa2c21af61f27044"

func TestBitsAreThoseOfEveryProcessor(t *testing.T) {
	h, r := sha256.New(), rand.New(rand.NewPCG(7, 8))
	for _, i := range intervals() {
		for range 20_000 {
			write(h, i.ours(i.draw(r)))
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
