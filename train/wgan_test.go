package train

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"weir/train/net"
)

func wganConfig() WGANConfig {
	return WGANConfig{DPSGD: DPSGD{MaxGradNorm: 1, NoiseMultiplier: 0.5, SamplingRate: 0.3, ExpectedBatchSize: 60, Steps: 30},
		CriticSteps: 5, GeneratorSteps: 1, WeightClip: 0.1, GeneratorBatch: 40, Critic: RMSProp(5e-3), Generator: RMSProp(5e-3), Seed: 3}
}

func wganNets(t testing.TB) (critic, gen *net.Net) {
	return build(t, 4, net.Dense(16), net.LeakyReLU(0.2), net.Dense(1)),
		build(t, 3, net.Dense(16), net.Activation("relu"), net.Dense(4))
}

func runWGAN(t testing.TB, c WGANConfig, rows *Rows, h Hooks) (critic, gen []float32) {
	t.Helper()
	nc, ng := wganNets(t)
	r := rand.New(rand.NewPCG(1, 1))
	critic, gen, err := WGAN(context.Background(), c, nc, ng, nc.Init(r), ng.Init(r), rows, source("wgan"), h)
	must(err)
	return critic, gen
}

func TestWGANContinuesBitForBit(t *testing.T) {
	rows := normalRows(200, 4, 1)
	for _, penalty := range []float64{0, 10} {
		c := wganConfig()
		c.Penalty = penalty
		resume(t, 7, func(h Hooks) []float32 {
			critic, gen := runWGAN(t, c, rows, h)
			return append(append([]float32(nil), critic...), gen...)
		})
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

// TestGeneratedPartCarriesNoNoise: with the clip closed to almost nothing and no
// noise, the critic's step is the mean gradient over generated rows alone.
func TestGeneratedPartCarriesNoNoise(t *testing.T) {
	c := wganConfig()
	c.NoiseMultiplier, c.MaxGradNorm, c.Steps, c.CriticSteps, c.WeightClip = 0, 1e-12, 1, 2, 0
	c.Critic = SGD(1, 0)
	nc, ng := wganNets(t)
	r := rand.New(rand.NewPCG(1, 1))
	wc, wg := nc.Init(r), ng.Init(r)
	got, _, err := WGAN(context.Background(), c, nc, ng, wc, wg, normalRows(200, 4, 1), source("fake"), Hooks{})
	must(err)
	x := newGenerator(ng, 40).sample(wg, 40, public(c.Seed, "critic", 0))
	p := nc.NewPass(40)
	p.Input(40).CopyFrom(x)
	y := p.Forward(wc, net.Mode{})
	net.Wasserstein(p.OutGrad(), y, 1, nil)
	p.Backward(wc)
	grad := make([]float32, nc.Params())
	p.Accumulate(grad, nil)
	for i := range got {
		if want := wc[i] - grad[i]/40; math.Abs(float64(got[i]-want)) > 1e-6 {
			t.Fatalf("weight %d: %g, want %g", i, got[i], want)
		}
	}
}

// TestWGANLearns: without noise the generator's means come near those of the rows
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
	_, gen := runWGAN(t, c, numeric(columns...), Hooks{})
	checkMeans(t, gen, want)
}

func checkMeans(t *testing.T, gen []float32, want []float64) {
	t.Helper()
	_, ng := wganNets(t)
	const n = 2000
	out := Generate(ng, gen, n, rand.New(rand.NewPCG(5, 5)))
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
