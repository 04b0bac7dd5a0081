package train

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/train/net"
)

// TestPartsOfPairsAreBounded: a private row that is nearly its generated partner has a
// gradient near zero and large parts. Clipped by its own length alone, the parts would
// be 181 clips long, and the float32 sum off by so many times what the lattice pays for.
func TestPartsOfPairsAreBounded(t *testing.T) {
	critic := build(t, 4, net.Dense(8), net.LeakyReLU(0.2), net.Dense(1))
	rows, pool := NewRows(1), net.NewMatrix(1, 4)
	for j, v := range []float32{300, -200, 150, 400} {
		must(rows.Numeric([]float32{v}))
		pool.Row(0)[j] = v * (1 + 1e-6)
	}
	o := &paired{critic: critic, rows: rows, pool: pool}
	w := start(o)
	k := o.Worker(1).(*pairedWorker)
	k.Run(w, all(1), func() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }, nil)
	square, bound := make([]float64, 1), make([]float64, 1)
	k.Squares(square, bound)
	parts := math.Sqrt(bound[0])
	clip := parts / 100
	if math.Sqrt(square[0]) > clip {
		t.Fatalf("the pair is %g long, its parts %g: they must cancel", math.Sqrt(square[0]), parts)
	}
	factor := make([]float32, 1)
	clipFactors(factor, square, bound, clip, 4)
	if after := parts * float64(factor[0]); !(after <= 4*clip && after > 0.99*4*clip) {
		t.Errorf("the parts are %g clips long once clipped, must be %d", after/clip, 4)
	}
}

// TestJoinedIsPaidFor: a loss that joins rows runs on the lattice of as many, which
// leaves less of the clip; a loss that does not, on that of one.
func TestJoinedIsPaidFor(t *testing.T) {
	one := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: 128, Steps: 1}
	clips := map[int]float64{}
	for name, o := range objectives(t, normalRows(50, 4, 1)) {
		for _, joined := range []int{0, 2, 3} {
			c := one
			c.Joined = joined
			s, err := newStepper(paid(c, name), o, start(o), 50)
			if joined != joins(o) {
				if err == nil || !strings.Contains(err.Error(), "joins") {
					t.Errorf("%s: examples of %d rows are paid for: error %v, must say that the loss joins others", name, joined, err)
				}
				continue
			}
			must(err)
			clips[joined] = s.lattice.Clip
		}
	}
	if !(clips[0] > clips[2] && clips[2] > 0.96 && clips[3] > 0.96) {
		t.Errorf("clips by rows of an example are %v, must be smaller where it joins rows, by a thirtieth", clips)
	}
	for batch, want := range map[float64]float64{64: 33, 128: 24, 1000: 5, 1e6: 4} {
		if got := (DPSGD{Joined: 2, ExpectedBatchSize: batch}).parts(); math.Floor(got) != want {
			t.Errorf("batches of %g: parts may be %g clips long, must be %g", batch, got, want)
		}
	}
}
