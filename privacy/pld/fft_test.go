package pld

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
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
