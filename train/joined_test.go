package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/train/net"
)

// nearPairs returns n private rows and a pool of one generated row, of which the private row near
// is a copy but for one part in a million, so that the pair's gradients cancel. The other rows hold
// what other gives.
func nearPairs(t *testing.T, n, near int, other func() float32) *paired {
	partner := []float32{300, -200, 150, 400}
	rows, pool := NewRows(n), net.NewMatrix(1, len(partner))
	copy(pool.Row(0), partner)
	for _, v := range partner {
		column := make([]float32, n)
		for i := range column {
			column[i] = other()
		}
		column[near] = v * (1 + 1e-6)
		must(rows.Numeric(column))
	}
	return &paired{critic: build(t, 4, net.Dense(8), net.LeakyReLU(0.2), net.Dense(1)), rows: rows, pool: pool}
}

// alone returns what the rows listed add to a sum in one chunk, and whether any was added on its own.
func alone(o *paired, clip, parts float64, index ...int32) (sum []float32, apart bool) {
	g := newTestGradient(o, "pairs", clip)
	g.parts = parts
	g.compute(start(o), index, 1, false)
	return g.sum, len(g.lanes[0].apart.which) > 0
}

// TestCancellingPairsAreAddedApart: a private row that is nearly its generated partner has a
// gradient near zero and large parts. Summed with others it would err by the size of its parts, of
// which the lattice pays for 4 clips here. On its own it is the clip of its gradient in float32: longer
// by no more than the clip's own rounding, and off the float64 gradient by no more than the rounding of its parts.
func TestCancellingPairsAreAddedApart(t *testing.T) {
	o := nearPairs(t, 1, 0, func() float32 { return 0 })
	exact, separate := alone(o, math.Inf(1), math.Inf(1), 0)
	if separate {
		t.Fatal("nothing is clipped, but an example is added on its own")
	}
	clip := norm(exact) / 3
	got, separate := alone(o, clip, 4, 0)
	if !separate {
		t.Fatal("the parts cancel, but the example was summed with others")
	}
	if n := norm(got); !(n <= clip && n > clip*(1-1e-5)) {
		t.Errorf("the example adds %g clips, must add 1", n/clip)
	}
	for i, v := range exact {
		if want := float64(v) / 3; math.Abs(float64(got[i])-want) > 1e-5*clip {
			t.Errorf("weight %d: %g, must be %g: the gradient, clipped", i, got[i], want)
		}
	}
	if _, apart := alone(o, clip, math.Inf(1), 0); apart {
		t.Error("parts have no bound, but the example was added on its own")
	}
}

// TestApartDependsOnTheRowAlone: what a cancelling example adds is the same to the bit wherever
// it stands among others, and whatever they hold.
func TestApartDependsOnTheRowAlone(t *testing.T) {
	const n, clip = 7, 1e-3
	r := rand.New(rand.NewPCG(1, 2))
	for name, other := range map[string]func() float32{
		"ordinary": func() float32 { return float32(0.1 * r.NormFloat64()) },
		"NaN":      func() float32 { return float32(math.NaN()) },
	} {
		o := nearPairs(t, n, 3, other)
		want, apart := alone(o, clip, 4, 3)
		if !apart {
			t.Fatal("the pair must cancel")
		}
		rest := []int32{0, 1, 2, 4, 5, 6}
		others, _ := alone(o, clip, 4, rest...)
		for pos := range n {
			got, _ := alone(o, clip, 4, slices.Insert(slices.Clone(rest), pos, 3)...)
			for i := range got {
				if sum := others[i] + want[i]; got[i] != sum {
					t.Fatalf("others %s, at place %d, weight %d: the sum is %g, must be %g, that of the others and the pair's own",
						name, pos, i, got[i], sum)
				}
			}
		}
	}
}

// TestBiasIsNoPartOfAPair: what the critic adds to every score cancels exactly in a pair. Counted
// as two parts of length 1 it would be 91 clips of DP-auto-GAN's .022.
func TestBiasIsNoPartOfAPair(t *testing.T) {
	rows, pool := NewRows(1), net.NewMatrix(1, 1)
	must(rows.Numeric([]float32{0.001}))
	o := &paired{critic: build(t, 1, net.Dense(1)), rows: rows, pool: pool}
	k := o.Worker(1)
	k.Run(start(o), all(1), func() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }, nil)
	square, bound, grad := make([]float64, 1), make([]float64, 1), make([]float32, o.Params())
	k.Squares(square, bound)
	k.Accumulate(grad, nil)
	if want := float32(-0.001); math.Sqrt(bound[0]) > 0.0010001 || math.Sqrt(square[0]) > 0.0010001 || grad[0] != want ||
		grad[1] != 0 {
		t.Errorf("gradient %g of norm %g, parts %g; must be [%g 0], and its norm without the bias", grad,
			math.Sqrt(square[0]), math.Sqrt(bound[0]), want)
	}
}

// TestJoinedIsPaidFor: a loss that joins rows runs on the lattice of as many, which
// leaves less of the clip; a loss that does not, on the lattice of one.
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
