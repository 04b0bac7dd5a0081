package train

import (
	"context"
	"math"
	"testing"

	"weir/privacy"
	"weir/privacy/noise"
	"weir/train/net"
)

func clippedMean() ClippedMean {
	return ClippedMean{MaxGradNorm: 0.1, NoiseMultiplier: 0.5, BatchSize: 32, Rows: 100, Epochs: 3, Weights: 4}
}

// TestClippedMeanByHand: least squares in float64 by hand, over 100 rows in batches of 32, 32, 32
// and 4 in the order of the table: the mean gradient of a batch, clipped to 0.1, with the
// step's noise of deviation 0.05 and without; without the clip the weights are others. The lattice
// moves a step by 5e-5 at most.
func TestClippedMeanByHand(t *testing.T) {
	x, y := normalRows(100, 3, 1), normalRows(100, 1, 2)
	o, err := NewSupervised(build(t, 3, net.Dense(1)), x, y, net.MSE)
	must(err)
	start := []float32{0.1, -0.2, 0.3, 0}
	for _, multiplier := range []float64{0, 0.5} {
		c := clippedMean()
		c.NoiseMultiplier = multiplier
		var handle *privacy.Handle
		if multiplier > 0 {
			handle = paid(c, "mean")
		}
		got, err := c.Fit(context.Background(), o, 0.5, start, 100, handle, Hooks{})
		must(err)
		l, err := c.lattice()
		must(err)
		far := 0.0
		want, unclipped := byHand(x, y, c, l, l.Clip), byHand(x, y, c, l, math.Inf(1))
		for j := range want {
			far = math.Max(far, math.Abs(unclipped[j]-float64(got[j])))
			if math.Abs(float64(got[j])-want[j]) > 5e-4 {
				t.Errorf("noise %g: weight %d is %g, must be %g", multiplier, j, got[j], want[j])
			}
		}
		if far < 0.05 {
			t.Errorf("noise %g: without a clip weights are the same", multiplier)
		}
	}
}

func byHand(x, y *Rows, c ClippedMean, l noise.Lattice, clip float64) []float64 {
	w := []float64{0.1, -0.2, 0.3, 0}
	in, out := net.NewMatrix(1, 3), net.NewMatrix(1, 1)
	for step := range c.Steps() {
		grad, rows, square := make([]float64, 4), 0.0, 0.0
		for row := step % 4 * 32; row < min(step%4*32+32, 100); row++ {
			x.Gather(in, []int32{int32(row)})
			y.Gather(out, []int32{int32(row)})
			v := in.Row(0)
			d := w[0]*float64(v[0]) + w[1]*float64(v[1]) + w[2]*float64(v[2]) + w[3] - float64(out.Row(0)[0])
			for j := range 3 {
				grad[j] += 2 * d * float64(v[j])
			}
			grad[3] += 2 * d
			rows++
		}
		for j := range grad {
			grad[j] /= rows
			square += grad[j] * grad[j]
		}
		sample := make([]float32, 4)
		if c.NoiseMultiplier > 0 {
			streamOf("mean", step, "noise").LatticeGaussian(sample, 0.05, l.Step)
		}
		for j := range w {
			w[j] -= 0.5 * (grad[j]*math.Min(1, clip/math.Sqrt(square)) + float64(sample[j]))
		}
	}
	return w
}

// TestClippedMeanResumes: from each checkpoint the same weights.
func TestClippedMeanResumes(t *testing.T) {
	x := normalRows(100, 3, 1)
	o, err := NewSupervised(build(t, 3, net.Dense(1)), x, normalRows(100, 1, 2), net.MSE)
	must(err)
	resume(t, 5, func(h Hooks) []float32 {
		c := clippedMean()
		handle := privacy.Open(privacy.Opening{Spend: "train", Mechanism: c, Source: source("again"), Drawn: c.Uses()})
		w, err := c.Fit(context.Background(), o, 0.01, make([]float32, 4), 100, handle, h)
		must(err)
		return w
	})
}

// TestClippedMeanPaysForWhatItDoes: the event of one changed row is a release an epoch with
// twice the clip, which accountants take under replace_one; other settings than the paid ones,
// or noise that nobody paid for, are errors; rows that are not finite count as zero.
func TestClippedMeanPaysForWhatItDoes(t *testing.T) {
	c := clippedMean()
	want := privacy.Event(privacy.Repeated{Count: 3, Event: privacy.Gaussian{NoiseMultiplier: 0.5}})
	if c.Event(privacy.ReplaceOne) != want || c.Uses() != 12 || c.Sensitivity(privacy.ReplaceOne).Bound != 0.2 {
		t.Errorf("event %v, %d uses, sensitivity %v", c.Event(privacy.ReplaceOne), c.Uses(),
			c.Sensitivity(privacy.ReplaceOne))
	}
	x := normalRows(100, 3, 1)
	o, err := NewSupervised(build(t, 3, net.Dense(1)), x, normalRows(100, 1, 2), net.MSE)
	must(err)
	other := c
	other.Epochs = 2
	for _, handle := range []*privacy.Handle{nil, paid(other, "other")} {
		if _, err := c.Fit(context.Background(), o, 0.01, make([]float32, 4), 100, handle, Hooks{}); err == nil {
			t.Error("noise that was not paid for is drawn")
		}
	}
	for _, wrong := range []func(*ClippedMean){func(c *ClippedMean) { c.MaxGradNorm = math.Inf(1) },
		func(c *ClippedMean) { c.BatchSize = 101 },
		func(c *ClippedMean) { c.Epochs = 0 }, func(c *ClippedMean) { c.NoiseMultiplier = -1 },
		func(c *ClippedMean) { c.Weights = 0 }, func(c *ClippedMean) { c.NoiseMultiplier = 1e20 }} {
		c := clippedMean()
		if wrong(&c); c.Check() == nil {
			t.Errorf("%+v passes", c)
		}
	}
	s := &meanStepper{ClippedMean: c, gradient: newGradient(o, math.Inf(1), 0), lattice: noise.Lattice{Clip: 0.1}}
	copy(s.sum, []float32{1, float32(math.Inf(1)), 2, 3})
	if s.clipMean(); s.sum[0] != 0 || s.sum[1] != 0 {
		t.Errorf("what is not finite is clipped to %v, must be zero", s.sum)
	}
}
