package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"weir/internal/bitmath"
)

// TestFFTIsThatOfFFTPACK: against gonum's FFTPACK, for every kind of length: each is off by at most 4 log2(n)
// units of the sum of the values, as convolve counts.
func TestFFTIsThatOfFFTPACK(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, least := range []int{1, 17, 21, 25, 33, 41, 49, 100, 1000, 1300, 1600, 5000, 70_000, 90_000} {
		n := fftLength(least)
		x, sum := make([]float64, n), 0.0
		for i := range x {
			x[i] = r.ExpFloat64()
			sum += x[i]
		}
		for i := range x {
			x[i] /= sum
		}
		ours, theirs := newFFT(n), fourier.NewFFT(n)
		bound := 2 * 4 * unit * math.Log2(float64(n))
		c, want := ours.coefficients(x), theirs.Coefficients(nil, x)
		for k := range want {
			if d := size(c[k] - want[k]); !(d <= bound) {
				t.Fatalf("n = %d: coefficient %d is %g, FFTPACK's %g", n, k, c[k], want[k])
			}
		}
		for i, v := range ours.sequence(c) {
			if d := math.Abs(v/float64(n) - x[i]); !(d <= bound) {
				t.Fatalf("n = %d: element %d comes back as %g, was %g", n, i, v/float64(n), x[i])
			}
		}
	}
}

func BenchmarkFFT(b *testing.B) {
	x := make([]float64, fftLength(70_000))
	x[3] = 1
	b.Run("ours", func(b *testing.B) {
		f := newFFT(len(x))
		for b.Loop() {
			f.sequence(f.coefficients(x))
		}
	})
	b.Run("FFTPACK", func(b *testing.B) {
		f := fourier.NewFFT(len(x))
		for b.Loop() {
			f.Sequence(nil, f.Coefficients(nil, x))
		}
	})
}

// TestRootsAreSinesAndCosines: a root has the bits of the sine and the cosine of its own angle, whichever octant it
// shares them with, and is exp(-2 pi i k/n) of the standard library but for rounding of the angle, which is below 7,
// and of both functions.
func TestRootsAreSinesAndCosines(t *testing.T) {
	for _, least := range []int{1, 10, 12, 17, 21, 100, 1300, 5000} {
		n := fftLength(least)
		for k, root := range newFFT(n).roots {
			octant, part := octantOf(k, n)
			sin, cos := bitmath.Sincos(math.Pi / 4 * (float64(part) / float64(n)))
			if want := inOctant(octant, [2]float64{sin, cos}); root != want {
				t.Fatalf("n = %d: root %d is %v, must be %v", n, k, root, want)
			}
			sin, cos = math.Sincos(-2 * math.Pi * float64(k) / float64(n))
			if want := complex(cos, sin); !(size(root-want) <= 16*unit) {
				t.Fatalf("n = %d: root %d is %v, must be near %v", n, k, root, want)
			}
		}
	}
}
