package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/train/net"
)

// The benchmarks run one optimiser step three ways in one process: reference (the
// same DP-SGD step with ghost clipping on gonum blas32 and scalar Go loops),
// plain (ours without clip and noise) and private (ours). `go run
// ./train/internal/ratios` runs them and prints the ratios.
// The rows are dense floats, as in docs/kernels.md; gonum skips zeros of its
// left factor, so on one-hot rows the reference is quicker (critic_one_hot).
// -cpu 1 holds all sides to one core.
func BenchmarkStep(b *testing.B) {
	for _, c := range benchCases() {
		b.Run(c.name, func(b *testing.B) {
			b.Run("reference", func(b *testing.B) { c.reference(b) })
			b.Run("plain", func(b *testing.B) { c.ours(b, math.Inf(1)) })
			b.Run("private", func(b *testing.B) { c.ours(b, 1) })
		})
	}
}

type benchCase struct {
	name   string
	widths []int
	batch  int
	rows   *Rows
	loss   string // score, bce or penalty
}

func benchCases() []benchCase {
	wide, oneHot, narrow := benchRows(1000, 106, 0, 0), benchRows(1000, 6, 10, 10), benchRows(1000, 16, 0, 0)
	return []benchCase{
		{"critic", []int{106, 70, 35, 1}, 128, wide, "score"},
		{"critic_one_hot", []int{106, 70, 35, 1}, 128, oneHot, "score"},
		{"autoencoder", []int{106, 60, 15, 60, 106}, 64, wide, "bce"},
		{"wgan_gp", []int{16, 128, 1}, 32, narrow, "penalty"},
	}
}

// benchRows has the given number of numeric columns and of categorical columns.
func benchRows(n, numeric, categorical, categories int) *Rows {
	r := rand.New(rand.NewPCG(1, 1))
	rows := NewRows(n)
	for range numeric {
		x := make([]float32, n)
		for i := range x {
			x[i] = r.Float32()
		}
		must(rows.Numeric(x))
	}
	for range categorical {
		x := make([]uint8, n)
		for i := range x {
			x[i] = uint8(r.IntN(categories))
		}
		must(Categorical(rows, x, categories))
	}
	return rows
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (c benchCase) net() *net.Net {
	s := net.Spec{Inputs: c.widths[0]}
	for i, w := range c.widths[1:] {
		if i > 0 {
			s.Layers = append(s.Layers, net.LeakyReLU(0.2))
		}
		s.Layers = append(s.Layers, net.Dense(w))
	}
	n, err := net.New(s)
	must(err)
	return n
}

func (c benchCase) objective(n *net.Net) Objective {
	switch c.loss {
	case "score":
		return realScore{n, c.rows}
	case "bce":
		o, err := Autoencoder(n, c.rows, net.BCE)
		must(err)
		return o
	}
	return fixedPairs{n, c.rows, c.fakes()}
}

// fakes are generated rows, the same for all sides.
func (c benchCase) fakes() net.Matrix {
	m := net.NewMatrix(c.batch, c.widths[0])
	normal(m, rand.New(rand.NewPCG(2, 2)))
	return m
}

func (c benchCase) index() []int32 {
	r := rand.New(rand.NewPCG(3, 3))
	out := make([]int32, c.batch)
	for i := range out {
		out[i] = int32(r.IntN(c.rows.Len()))
	}
	return out
}

func (c benchCase) ours(b *testing.B, clip float64) {
	n := c.net()
	d := newDescent(Adam(1e-4, 0.5, 0.9), n.Init(rand.New(rand.NewPCG(4, 4))))
	cfg := DPSGD{MaxGradNorm: clip, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: float64(c.batch), Steps: 1}
	if !cfg.clips() {
		cfg.NoiseMultiplier = 0
	}
	cfg.Steps = b.N + 1
	s, err := newStepper(paid(cfg, "bench"), c.objective(n), d.w, c.rows.Len())
	must(err)
	s.index = c.index()
	_, err = s.begin(b.N)
	must(err)
	s.compute(d.w, s.index, false) // once before the clock runs: buffers are made when first needed
	d.step(s.sum, 1/cfg.ExpectedBatchSize)
	s.c.Steps = b.N
	defer s.drawAhead(0)()
	b.ReportAllocs()
	b.ResetTimer()
	for t := range b.N {
		drawn, err := s.begin(t)
		must(err)
		s.compute(d.w, s.index, false)
		s.addNoise(drawn)
		d.step(s.sum, 1/cfg.ExpectedBatchSize)
	}
}

// fixedPairs is the penalised critic without the generator's work.
type fixedPairs struct {
	critic *net.Net
	rows   *Rows
	fake   net.Matrix
}

func (o fixedPairs) Params() int       { return o.critic.Params() }
func (o fixedPairs) PerExample() error { return o.critic.PerExample() }
func (o fixedPairs) Worker(rows int) Worker {
	return &fixedPairsWorker{o, penalisedWorker{triples: newTriples(o.critic, rows), scale: make([]float32, 3*rows)}}
}

type fixedPairsWorker struct {
	fixedPairs
	penalisedWorker
}

func (k *fixedPairsWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	k.run(w, k.fake, func(m net.Matrix) { k.fixedPairs.rows.Gather(m, index) }, 10, draw(), loss)
}
