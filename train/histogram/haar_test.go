package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Without noise nothing is levelled: the transform gives back what it was given, for
// every length, shifted to the total.
func TestHaarKeepsWhatIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 7, 31, 32, 33, 256} {
		y := make([]float64, n)
		for i := range y {
			y[i] = rng.Float64() * 100
		}
		for i, v := range Haar(y, 0, sum(y)+float64(n)) {
			if math.Abs(v-y[i]-1) > 1e-9 {
				t.Errorf("length %d: cell %d is %v, must be %v", n, i, v, y[i]+1)
			}
		}
	}
}

// By hand, two cells: their half difference has sd sd/sqrt(2) and threshold .7 sd
// sqrt(2 ln 2)/sqrt(2) = .583 sd. Half of 1.1 is below, half of 1.2 above.
func TestHaarThreshold(t *testing.T) {
	if got := Haar([]float64{11.1, 10}, 1, 21.1); math.Abs(got[0]-10.55) > 1e-12 || math.Abs(got[1]-10.55) > 1e-12 {
		t.Errorf("a step of 1.1 becomes %v", got)
	}
	if got := Haar([]float64{11.2, 10}, 1, 21.2); math.Abs(got[0]-11.2) > 1e-12 {
		t.Errorf("a step of 1.2 becomes %v", got)
	}
}

// Nothing below 0, and the total; nothing where that is not positive.
func TestHaarSums(t *testing.T) {
	for _, c := range []struct {
		y     []float64
		total float64
		want  []float64
	}{
		{[]float64{-100, 100}, 50, []float64{0, 50}},
		{[]float64{-9, -9, -9, -9}, 8, []float64{2, 2, 2, 2}},
		{[]float64{5, 5}, 0, []float64{0, 0}},
		{[]float64{5, 5}, -1, []float64{0, 0}},
		{[]float64{-5}, 3, []float64{3}},
		{nil, 3, []float64{}},
	} {
		if got := Haar(c.y, 1, c.total); !slices.Equal(got, c.want) {
			t.Errorf("%v to sum %v is %v, must be %v", c.y, c.total, got, c.want)
		}
	}
}

// A heap stands, a plain around it is averaged: 256 cells of 50 rows and one of 1,000,
// noise sd 10, 40 draws. The error of the plain's cells is below a third of the noise
// (without Haar: all of it), the heap is within 5 sd (the draws are fixed). Moving the
// ring moves the result.
func TestHaarKeepsHeaps(t *testing.T) {
	squares, cells := 0.0, 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		y, moved := make([]float64, 256), make([]float64, 256)
		for i := range y {
			y[i] = 50 + 10*rng.NormFloat64()
			if i == 77 {
				y[i] += 950
			}
			moved[(i+31)%256] = y[i]
		}
		x, ring := Haar(y, 10, 255*50+1000), Haar(moved, 10, 255*50+1000)
		for i, v := range x {
			if math.Abs(v-ring[(i+31)%256]) > 1e-9 {
				t.Fatalf("cell %d is %v, moved %v", i, v, ring[(i+31)%256])
			}
			if i != 77 {
				squares, cells = squares+(v-50)*(v-50), cells+1
			} else if math.Abs(v-1000) > 50 {
				t.Errorf("seed %d: the heap of 1000 is %v", seed, v)
			}
		}
	}
	if rms := math.Sqrt(squares / float64(cells)); rms > 10./3 {
		t.Errorf("error of the plain is %v, must be below a third of the noise 10", rms)
	}
}
