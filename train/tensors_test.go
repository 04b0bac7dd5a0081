package train

import (
	"context"
	"math"
	"testing"

	"weir/privacy"
	"weir/train/net"
)

// tensorCritic has four weight tensors over 4 columns.
func tensorCritic(t testing.TB, rows *Rows) realScore {
	return realScore{build(t, 4, net.Dense(8), net.LeakyReLU(0.2), net.Dense(1)), rows, net.Wasserstein}
}

// TestTensorEvent: what four clips of 0.5 release together, by hand: sensitivity
// sqrt(4)*0.5, noise 3*0.5 on each number, so a multiplier of 1.5 (McMahan et al. 2018).
// Cut from a shuffle of 100 rows in batches of 30, 4 an epoch, 9 steps begin 3 epochs.
func TestTensorEvent(t *testing.T) {
	c := DPSGD{MaxGradNorm: 0.5, NoiseMultiplier: 3, SamplingRate: 0.3, ExpectedBatchSize: 30, Steps: 9, Weights: 49,
		Tensors: 4}
	must(c.Check())
	sampled := privacy.Repeated{Count: 9, Event: privacy.PoissonSampled{SamplingRate: 0.3,
		Event: privacy.Gaussian{NoiseMultiplier: 1.5}}}
	shuffled := map[privacy.Adjacency]privacy.Event{ // see TestFullShuffleReplaces
		privacy.AddRemove:  privacy.Repeated{Count: 3, Event: privacy.Gaussian{NoiseMultiplier: 0.75}},
		privacy.ReplaceOne: privacy.Repeated{Count: 3, Event: privacy.Gaussian{NoiseMultiplier: 1.5}},
	}
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		if got := c.Event(a); got != sampled {
			t.Errorf("%s: sampled: %v, want %v", a, got, sampled)
		}
		subject := c
		subject.Shuffle = 100
		must(subject.Check())
		if got := subject.Event(a); got != shuffled[a] {
			t.Errorf("%s: shuffled: %v, want %v", a, got, shuffled[a])
		}
	}
	if s, r := c.Sensitivity(privacy.AddRemove).Bound, c.Sensitivity(privacy.ReplaceOne).Bound; s != 1 || r != 2 ||
		c.Deviation() != 1.5 {
		t.Errorf("sensitivity %g and %g, deviation %g; want 1, 2 and 1.5", s, r, c.Deviation())
	}
	for name, bad := range map[string]DPSGD{
		"more tensors than weights": {MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: 1, Weights: 3,
			Tensors: 4},
		"part of a row": {MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: 1.5,
			Shuffle: 10},
		"a batch beyond the rows": {MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: 11,
			Shuffle: 10},
	} {
		if bad.Check() == nil {
			t.Errorf("%s: is accepted", name)
		}
	}
}

// TestTensorClipNeverExceeds: whatever the row, each tensor of its contribution is finite
// and of a norm of at most the clip, measured in float64.
func TestTensorClipNeverExceeds(t *testing.T) {
	rows, n := adversarial()
	o := tensorCritic(t, rows)
	w := start(o)
	for _, clip := range []float64{1e-6, 0.5, 1e6} {
		g := testGradient{newGradient(o, clip, 4), "tensors"}
		reached := 0
		for i := range n {
			g.compute(w, []int32{int32(i)}, 0, false)
			for _, part := range o.critic.Tensors() {
				got := norm(g.sum[part.Offset : part.Offset+part.Size()])
				if !(got <= clip) {
					t.Errorf("%s of row %d clipped to %g has norm %g", part.Name, i, clip, got)
				}
				if got > 0.99*clip {
					reached++
				}
			}
		}
		if reached == 0 {
			t.Errorf("no tensor comes near a clip of %g: the test shows nothing", clip)
		}
	}
}

// TestTinyGradientsAreClipped: backpropagated errors whose squares no float32 holds, beside
// large activations, end no longer than the clip, tensor by tensor and together; and a clip
// that float32 cannot scale gradients to is refused.
func TestTinyGradientsAreClipped(t *testing.T) {
	critic := build(t, 4, net.Dense(8), net.LeakyReLU(0.2), net.Dense(8), net.LeakyReLU(0.2), net.Dense(1))
	o := realScore{critic, normalRows(50, 4, 3), net.Wasserstein}
	auto, err := Autoencoder(build(t, 4, net.Dense(8), net.LeakyReLU(0.2), net.Dense(4)), o.rows, func(dy, _, _ net.Matrix,
		_ []float64) {
		for i := range dy.Data {
			dy.Data[i] = 1e-24
		}
	})
	must(err)
	const clip = 1e-17
	for _, c := range []struct {
		o       Objective
		tensors int
		parts   []net.Tensor
		last    float32
	}{{o, 6, critic.Tensors(), 1e-25}, {auto, 0, []net.Tensor{{Shape: []int{auto.Params()}}}, 1}} {
		w := start(c.o)
		for i := range w[:5*8] {
			w[i] *= 1e9
		}
		for i := range w[len(w)-9:] {
			w[len(w)-9+i] *= c.last
		}
		g := testGradient{newGradient(c.o, clip, c.tensors), "tiny"}
		for i := range int32(50) {
			g.compute(w, []int32{i}, 0, false)
			for _, part := range c.parts {
				if got := norm(g.sum[part.Offset:][:part.Size()]); !(got <= clip) {
					t.Fatalf("%d tensors: %s of row %d is %g clips", c.tensors, part.Name, i, got/clip)
				}
			}
		}
	}
	if (DPSGD{MaxGradNorm: 1e-24, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: 5, Steps: 1,
		Weights: 50}).Check() == nil {
		t.Error("a clip of 1e-24 is accepted")
	}
}

// TestTensorClippedSum compares with the gradients of single rows, whose tensors are
// clipped in float64 one by one; 3e-5 a row is float32 and the slack of a norm.
func TestTensorClippedSum(t *testing.T) {
	const n = chunkRows + 50
	o := tensorCritic(t, normalRows(n, 4, 3))
	w := start(o)
	each := newTestGradient(o, "tensors", math.Inf(1))
	want := make([]float64, o.Params())
	bound, free := 0, 0
	for i := range n {
		each.compute(w, []int32{int32(i)}, 0, false)
		for _, part := range o.critic.Tensors() {
			items := each.sum[part.Offset : part.Offset+part.Size()]
			c := math.Min(1, 1/norm(items))
			if c < 1 {
				bound++
			} else {
				free++
			}
			for j, v := range items {
				want[part.Offset+j] += c * float64(v)
			}
		}
	}
	if bound == 0 || free == 0 {
		t.Fatalf("the clip binds for %d tensors and not for %d: the test shows nothing", bound, free)
	}
	g := testGradient{newGradient(o, 1, 4), "tensors"}
	g.compute(w, all(n), 0, false)
	for j, v := range g.sum {
		if math.Abs(float64(v)-want[j]) > 3e-5*n {
			t.Fatalf("weight %d: %g, want %g", j, v, want[j])
		}
	}
	exact := g.exact(w, all(n), false)
	for j, v := range exact {
		if math.Abs(v-want[j]) > 3e-5*n {
			t.Fatalf("one at a time: weight %d: %g, want %g", j, v, want[j])
		}
	}
}

// TestTensorsAreThoseOfTheNet: what is paid for fits the net, and has its loss.
func TestTensorsAreThoseOfTheNet(t *testing.T) {
	o := tensorCritic(t, normalRows(50, 4, 1))
	c := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: 5, Steps: 1}
	for tensors, ok := range map[int]bool{0: true, 4: true, 2: false, 5: false} {
		c.Tensors = tensors
		if _, err := newStepper(paid(c, "net"), o, start(o), 50); (err == nil) != ok {
			t.Errorf("%d tensors: %v", tensors, err)
		}
	}
	c.Tensors = 4
	joined := &penalised{critic: o.critic, gen: build(t, 3, net.Dense(4)), rows: o.rows, weight: 10}
	if _, err := newStepper(paid(c, "joined"), joined, start(joined), 50); err == nil {
		t.Error("a loss that joins rows is clipped tensor by tensor")
	}
}

// TestShuffleMeetsEachRowOnce: an epoch of a shuffle meets every row of the table once,
// in batches of the stated size, another epoch in another order; rows beyond the public
// number are never met, and missing ones leave their place empty, wherever they are.
func TestShuffleMeetsEachRowOnce(t *testing.T) {
	for _, n := range []int{50, 43, 60, 0} {
		c := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.24, ExpectedBatchSize: 12, Steps: 10, Shuffle: 50}
		h := paid(c, "epochs")
		b := newBatches(c, n)
		var orders [2][]int32
		for t0 := range c.Steps {
			use, err := h.Use(int64(t0))
			must(err)
			got := b.draw(nil, use, t0)
			if n == 50 && len(got) != 12 && t0%5 != 4 {
				t.Errorf("batch %d has %d rows, want 12", t0, len(got))
			}
			orders[t0/5] = append(orders[t0/5], got...)
		}
		seen := make([]int, n)
		for _, row := range append(orders[0], orders[1]...) {
			seen[row]++
		}
		for row, times := range seen {
			if want := 2; row < 50 && times != want || row >= 50 && times != 0 {
				t.Errorf("%d rows: row %d is met %d times in two epochs", n, row, times)
			}
		}
		if n == 50 && sameOrder(orders[0], orders[1]) {
			t.Error("two epochs have one order")
		}
	}
}

// TestFullShuffleReplaces: a table of as many rows as a shuffle orders loses its last row
// to one that is inserted before it, so that a row that is added costs two clips.
func TestFullShuffleReplaces(t *testing.T) {
	c := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 3, SamplingRate: 1, ExpectedBatchSize: 4, Steps: 1, Shuffle: 4}
	values := []float32{-1, 2, 3, 5}
	sum := func(name string, x []float32) (sum float32) {
		use, err := paid(c, name).Use(0)
		must(err)
		for _, row := range newBatches(c, len(x)).draw(nil, use, 0) {
			sum += x[row]
		}
		return sum
	}
	if moved := sum("full", append([]float32{1}, values...)) - sum("full", values); moved != 1-5 {
		t.Fatalf("the sum moves by %g, must lose the last row, 5, and win the new one, 1", moved)
	}
	if s := c.Sensitivity(privacy.AddRemove).Bound; s != 2 {
		t.Errorf("sensitivity under add_remove: %g, must be 2 clips", s)
	}
	want := privacy.Repeated{Count: 1, Event: privacy.Gaussian{NoiseMultiplier: 1.5}}
	if got := c.Event(privacy.AddRemove); got != want {
		t.Errorf("event under add_remove: %v, must be %v", got, want)
	}
}

func sameOrder(a, b []int32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestShuffleIsUniform: over 6000 shuffles of 3 rows each of the 6 orders comes 1000
// times, within 160: 5.5 standard deviations of 28.9, false alarm 2e-7 in all.
func TestShuffleIsUniform(t *testing.T) {
	c := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 1, ExpectedBatchSize: 3, Steps: 6000, Shuffle: 3}
	h, b := paid(c, "uniform"), newBatches(c, 3)
	count := map[[3]int32]int{}
	for i := range c.Steps {
		use, err := h.Use(int64(i))
		must(err)
		count[[3]int32(b.draw(nil, use, i))]++
	}
	for order, n := range count {
		if math.Abs(float64(n)-1000) > 160 {
			t.Errorf("order %v comes %d of 6000 times", order, n)
		}
	}
	if len(count) != 6 {
		t.Errorf("%d orders of 3 rows, want 6", len(count))
	}
}

// TestShuffledContinuesBitForBit from checkpoints inside and between epochs.
func TestShuffledContinuesBitForBit(t *testing.T) {
	rows := normalRows(100, 4, 1)
	for _, tensors := range []int{0, 4} {
		c := wganConfig()
		c.ExpectedBatchSize, c.SamplingRate, c.Shuffle, c.Tensors, c.Steps = 30, 0.3, 100, tensors, 21
		c.Critic, c.Generator = RMSPropTensorFlow(5e-3), RMSPropTensorFlow(5e-3)
		resume(t, 2, func(h Hooks) []float32 {
			critic, gen := runWGAN(t, c, rows, h)
			return append(append([]float32(nil), critic...), gen...)
		})
	}
}

// TestGeneratedTensors: where no real row is sampled and there is no noise to speak of,
// the critic's step is the mean over generated rows of their gradients, clipped tensor by
// tensor like the gradients of a real row.
func TestGeneratedTensors(t *testing.T) {
	c := wganConfig()
	c.NoiseMultiplier, c.MaxGradNorm, c.SamplingRate, c.Steps, c.CriticSteps, c.WeightClip, c.Tensors = 1e-9, 0.2, 1e-15,
		1, 2, 0, 4
	c.Critic = SGD(1, 0)
	nc, ng := wganNets(t)
	r := public(1, "start", 0)
	wc, wg := nc.Init(r), ng.Init(r)
	got, _, err := WGAN(context.Background(), c.WGANConfig, nc, ng, wc, wg, normalRows(200, 4, 1), paid(c.DPSGD, "fake"),
		Hooks{})
	must(err)
	x := newGenerator(ng, 40).sample(wg, 40, public(c.Seed, "critic", 0))
	want := widened(wc)
	for i := range 40 {
		p, grad := nc.NewPass(1), make([]float32, nc.Params())
		p.Input(1).CopyFrom(x.Slice(i, i+1))
		net.Wasserstein(p.OutGrad(), p.Forward(wc, net.Mode{}), 1, nil)
		p.Backward(wc)
		p.Accumulate(grad, nil)
		for _, part := range nc.Tensors() {
			of := grad[part.Offset : part.Offset+part.Size()]
			for j, v := range of {
				want[part.Offset+j] -= float64(v) * math.Min(1, 0.2/norm(of)) / 40
			}
		}
	}
	for i := range got {
		// the clip is up to 5e-3 below its bound, for the lattice and float32 sums
		if math.Abs(float64(got[i])-want[i]) > 0.2*6e-3 {
			t.Fatalf("weight %d: %g, want %g", i, got[i], want[i])
		}
	}
}

func widened(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// TestTensorFlowRMSProp: three steps by hand in float64, by the update of TensorFlow
// 1.13's training_ops (ms += (g²-ms)(1-decay); w -= lr g/sqrt(ms+eps)), ms from 1 on.
func TestTensorFlowRMSProp(t *testing.T) {
	d := newDescent(RMSPropTensorFlow(1e-3), []float32{0.5, -2})
	must(d.Validate())
	w, ms := []float64{0.5, -2}, []float64{1, 1}
	for _, g := range [][]float32{{2, -0.5}, {1, 3}, {0, 0.25}} {
		d.step(g, 0.5)
		for i := range w {
			x := float64(g[i]) * 0.5
			ms[i] += (x*x - ms[i]) * (1 - 0.9)
			w[i] -= 1e-3 * x / math.Sqrt(ms[i]+1e-10)
		}
	}
	for i := range w {
		if math.Abs(float64(d.w[i])-w[i]) > 1e-6 || math.Abs(float64(d.v[i])-ms[i]) > 1e-6 {
			t.Errorf("weight %d: %g (mean square %g), want %g (%g)", i, d.w[i], d.v[i], w[i], ms[i])
		}
	}
}
