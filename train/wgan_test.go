package train

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"weir/train/net"
)

// wganCase is a run of WGAN: what is paid for, and what is done with it.
type wganCase struct {
	DPSGD
	WGANConfig
}

func wganConfig() wganCase {
	return wganCase{DPSGD{MaxGradNorm: 1, NoiseMultiplier: 0.5, SamplingRate: 0.3, ExpectedBatchSize: 60, Steps: 30},
		WGANConfig{CriticSteps: 5, GeneratorSteps: 1, WeightClip: 0.1, GeneratorBatch: 40, Critic: RMSProp(5e-3),
			Generator: RMSProp(5e-3), Seed: 3}}
}

func wganNets(t testing.TB) (critic, gen *net.Net) {
	return build(t, 4, net.Dense(16), net.LeakyReLU(0.2), net.Dense(1)),
		build(t, 3, net.Dense(16), net.Activation("relu"), net.Dense(4))
}

func runWGAN(t testing.TB, c wganCase, rows *Rows, h Hooks) (critic, gen []float32) {
	t.Helper()
	nc, ng := wganNets(t)
	r := rand.New(rand.NewPCG(1, 1))
	critic, gen, err := WGAN(context.Background(), c.WGANConfig, nc, ng, nc.Init(r), ng.Init(r), rows,
		paid(c.DPSGD, "wgan"), h)
	must(err)
	return critic, gen
}

func TestWGANContinuesBitForBit(t *testing.T) {
	rows := normalRows(200, 4, 1)
	for _, penalty := range []float64{0, 10} {
		c := wganConfig()
		c.Penalty, c.Average, c.GeneratorSteps = penalty, 0.9, 2
		if penalty > 0 {
			c.Joined = 3
		}
		resume(t, 7, func(h Hooks) []float32 {
			critic, gen := runWGAN(t, c, rows, h)
			return append(append([]float32(nil), critic...), gen...)
		})
	}
}

// TestPairedContinuesBitForBit: pairs against a generator with batch_norm, whose
// running statistics are part of its weights, and whose last layer is frozen.
func TestPairedContinuesBitForBit(t *testing.T) {
	c := wganConfig()
	c.Paired, c.Joined, c.Average = true, 2, 0.9
	nc, _ := wganNets(t)
	ng := build(t, 3, net.Residual("add", net.Dense(3), net.Activation("batch_norm"), net.LeakyReLU(0.2)), net.Dense(4),
		net.Activation("sigmoid"))
	start := ng.Init(rand.New(rand.NewPCG(1, 1)))
	c.Frozen = 3*4 + 4
	resume(t, 7, func(h Hooks) []float32 {
		critic, gen, err := WGAN(context.Background(), c.WGANConfig, nc, ng, nc.Init(rand.New(rand.NewPCG(2, 1))), start,
			normalRows(200, 4, 1), paid(c.DPSGD, "wgan"), h)
		must(err)
		moved := len(gen) - c.Frozen
		same(t, "frozen weights", gen[moved:], start[moved:])
		for i := range moved {
			if gen[i] == start[i] {
				t.Errorf("weight %d does not move", i)
			}
		}
		return append(append([]float32(nil), critic...), gen...)
	})
}

// TestPairOffsetIsStill: what a critic adds to every score cancels in each pair, so
// its gradient is zero and not a remnant of rounding.
func TestPairOffsetIsStill(t *testing.T) {
	o := objectives(t, normalRows(300, 4, 3))["paired"]
	g := newTestGradient(o, "paired", 0.1)
	g.compute(start(o), all(300), 0, false)
	if v := g.sum[len(g.sum)-1]; v != 0 {
		t.Errorf("the gradient of the last weight is %g", v)
	}
}

func TestWGANBitsDoNotDependOnCores(t *testing.T) {
	rows := normalRows(600, 4, 1)
	var got [2][]float32
	for k := range got {
		old := runtime.GOMAXPROCS(k + 1)
		_, got[k] = runWGAN(t, wganConfig(), rows, Hooks{})
		runtime.GOMAXPROCS(old)
	}
	same(t, "generator", got[0], got[1])
}

func TestWGANClipsWeights(t *testing.T) {
	critic, _ := runWGAN(t, wganConfig(), normalRows(200, 4, 1), Hooks{})
	for i, v := range critic {
		if !(math.Abs(float64(v)) <= float64(float32(0.1))) {
			t.Fatalf("weight %d is %g, the limit is 0.1", i, v)
		}
	}
}

// TestGeneratedPart: where no real row is sampled and there is no noise, the
// critic's step is the mean over generated rows of their gradients, each clipped
// like the gradient of a real row. 100 clips nothing, 0.5 every row.
func TestGeneratedPart(t *testing.T) {
	for _, clip := range []float64{100, 0.5} {
		c := wganConfig()
		c.NoiseMultiplier, c.MaxGradNorm, c.SamplingRate, c.Steps, c.CriticSteps, c.WeightClip = 0, clip, 1e-15, 1, 2, 0
		c.Critic = SGD(1, 0)
		nc, ng := wganNets(t)
		r := rand.New(rand.NewPCG(1, 1))
		wc, wg := nc.Init(r), ng.Init(r)
		got, _, err := WGAN(context.Background(), c.WGANConfig, nc, ng, wc, wg, normalRows(200, 4, 1), paid(c.DPSGD, "fake"),
			Hooks{})
		must(err)
		x := newGenerator(ng, 40).sample(wg, 40, public(c.Seed, "critic", 0))
		want := append([]float32(nil), wc...)
		for i := range 40 {
			addScore(nc, wc, x.Slice(i, i+1), clip, want)
		}
		for i := range got {
			if math.Abs(float64(got[i]-want[i])) > 1e-5 {
				t.Fatalf("clip %g: weight %d: %g, want %g", clip, i, got[i], want[i])
			}
		}
	}
}

// addScore subtracts a 40th of the clipped gradient of the score of the one row x.
func addScore(n *net.Net, w []float32, x net.Matrix, clip float64, dst []float32) {
	p, grad := n.NewPass(1), make([]float32, n.Params())
	p.Input(1).CopyFrom(x)
	net.Wasserstein(p.OutGrad(), p.Forward(w, net.Mode{}), 1, nil)
	p.Backward(w)
	p.Accumulate(grad, nil)
	var square float64
	for _, g := range grad {
		square += float64(g) * float64(g)
	}
	scale := float32(min(1, clip/math.Sqrt(square)) / 40)
	for i, g := range grad {
		dst[i] -= scale * g
	}
}

// TestWGANReturnsTheRunningMean: the mean of the iterates of the same run, kept
// here in float64 by the rule of runningMean, agrees with what Average returns.
func TestWGANReturnsTheRunningMean(t *testing.T) {
	rows := normalRows(200, 4, 1)
	c := wganConfig()
	c.CriticSteps, c.GeneratorSteps = 1, 1
	want := make([]float64, 0)
	for steps := range 8 {
		c.Steps, c.Average = steps, 0
		_, w := runWGAN(t, c, rows, Hooks{})
		decay := min(0.5, float64(1+steps)/float64(10+steps))
		for i, v := range w {
			if steps == 0 {
				want = append(want, float64(v))
				continue
			}
			want[i] += (1 - decay) * (float64(v) - want[i])
		}
	}
	c.Average = 0.5
	_, got := runWGAN(t, c, rows, Hooks{})
	for i := range got {
		if math.Abs(float64(got[i])-want[i]) > 1e-6 {
			t.Fatalf("weight %d: %g, want %g", i, got[i], want[i])
		}
	}
}

// TestWGANLearns: without noise the generator's means come near the means of the rows
// (2, -1, 0.5, 0); a generator that does not learn stays near 0.
func TestWGANLearns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	want := []float64{2, -1, 0.5, 0}
	columns := make([][]float32, 4)
	for j := range columns {
		for range 400 {
			columns[j] = append(columns[j], float32(want[j]+0.3*r.NormFloat64()))
		}
	}
	c := wganConfig()
	c.ExpectedBatchSize = 0.3 * 400
	c.NoiseMultiplier, c.MaxGradNorm, c.Steps, c.Critic, c.Generator = 0, 10, 3000, RMSProp(5e-3), RMSProp(5e-4)
	for _, c.Joined = range []int{0, 2} {
		c.Paired = c.Joined == 2
		_, gen := runWGAN(t, c, numeric(columns...), Hooks{})
		checkMeans(t, gen, want)
	}
}

func checkMeans(t *testing.T, gen []float32, want []float64) {
	t.Helper()
	_, ng := wganNets(t)
	const n = 2000
	out := Generate(ng, gen, n, StandardNormal, rand.New(rand.NewPCG(5, 5)))
	for j := range want {
		var mean float64
		for i := range n {
			mean += float64(out[i*4+j]) / n
		}
		if math.Abs(mean-want[j]) > 0.35 {
			t.Errorf("column %d: generated mean %.3f, want %.3f within 0.35", j, mean, want[j])
		}
	}
}
