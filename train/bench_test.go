package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"weir/train/net"
)

// BenchmarkStep: the benchmarks run one optimiser step three ways in one process: reference (the
// same DP-SGD step with ghost clipping on gonum blas32 and scalar Go loops),
// plain (ours without clip and noise) and private (ours). `go run
// .ci/ratios.go` runs them and prints the ratios.
// The rows are dense floats, as in docs/kernels.md; gonum skips zeros of its
// left factor, so on one-hot rows the reference is quicker (critic_one_hot).
// -cpu 1 holds all sides to one core.
func BenchmarkStep(b *testing.B) {
	for _, c := range benchCases() {
		b.Run(c.name, func(b *testing.B) {
			if c.loss != "elbo" && c.layers == nil {
				b.Run("reference", func(b *testing.B) { c.reference(b) })
			}
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
	// score, bce, penalty, or elbo: widths are the encoder's and the decoder's, with the means of the code between them
	loss   string
	tensor bool        // a clip for each weight tensor; the reference has one for all
	layers []net.Layer // of a net of convolutions, which has no reference; else they are dense
}

func benchCases() []benchCase {
	wide, oneHot, narrow := benchRows(1000, 106, 0, 0), benchRows(1000, 6, 10, 10), benchRows(1000, 16, 0, 0)
	binary, values := NewRows(1000), make([]float32, 1000*1071) // as a table of 1,071 yes or no columns is read
	for i := range values {
		values[i] = float32(i * i % 7 / 2 & 1)
	}
	must(binary.NumericBlock(values, 1071))
	return []benchCase{
		{name: "critic", widths: []int{106, 70, 35, 1}, batch: 128, rows: wide, loss: "score"},
		{name: "critic_one_hot", widths: []int{106, 70, 35, 1}, batch: 128, rows: oneHot, loss: "score"},
		{name: "autoencoder", widths: []int{106, 60, 15, 60, 106}, batch: 64, rows: wide, loss: "bce"},
		{name: "wgan_gp", widths: []int{16, 128, 1}, batch: 32, rows: narrow, loss: "penalty"},
		{name: "critic_tensors", widths: []int{106, 1024, 1}, batch: 64, rows: wide, loss: "score", tensor: true},
		{name: "vae", widths: []int{106, 64, 8, 64, 106}, batch: 500, rows: wide, loss: "elbo"},
		{name: "binary_autoencoder", widths: []int{1071, 128, 1071}, batch: 100, rows: binary, loss: "bce"},
		{name: "binary_critic", widths: []int{1071, 256, 1}, batch: 128, rows: binary, loss: "score"},
		{name: "convolved_critic", widths: []int{179, 1}, batch: 64, rows: benchRows(1000, 179, 0, 0), loss: "score",
			layers: convolvedCritic()},
		{name: "convolved_autoencoder", widths: []int{13, 13}, batch: 64, rows: benchRows(1000, 13, 0, 0), loss: "bce",
			layers: convolvedAutoencoder()},
	}
}

// convolvedCritic returns the critic of RDP-CGAN for 179 columns, convolvedAutoencoder its autoencoder for 13
// (docs/papers.md section 4), with norms over the positions of a row.
func convolvedCritic() []net.Layer {
	norm := func(channels int) net.Layer { return net.Layer{Type: "instance_norm", Channels: channels} }
	conv := func(channels, filters int) net.Layer {
		return net.Layer{Type: "conv1d", Channels: channels, Filters: filters, Kernel: 8, Stride: 4, Padding: 1}
	}
	return []net.Layer{conv(1, 16), net.LeakyReLU(0.2), conv(16, 32), norm(32), net.LeakyReLU(0.2), conv(32, 64), norm(64),
		net.LeakyReLU(0.2),
		{Type: "conv1d", Channels: 64, Filters: 1, Kernel: 2, Stride: 1}}
}

func convolvedAutoencoder() []net.Layer {
	return []net.Layer{{Type: "conv1d", Channels: 1, Filters: 4, Kernel: 5, Stride: 2}, net.LeakyReLU(0.2),
		{Type: "conv1d", Channels: 4, Filters: 32, Kernel: 5, Stride: 2}, net.Activation("relu"),
		{Type: "conv1d_transpose", Channels: 32, Filters: 8, Kernel: 5, Stride: 4}, {Type: "instance_norm", Channels: 8},
		net.LeakyReLU(0.2),
		{Type: "conv1d_transpose", Channels: 8, Filters: 4, Kernel: 4, Stride: 1}, {Type: "instance_norm", Channels: 4},
		net.LeakyReLU(0.2),
		{Type: "conv1d_transpose", Channels: 4, Filters: 1, Kernel: 6, Stride: 1}}
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
	if c.layers == nil {
		return chain(c.widths...)
	}
	n, err := net.New(net.Spec{Inputs: c.widths[0], Layers: c.layers})
	must(err)
	return n
}

func chain(widths ...int) *net.Net {
	s := net.Spec{Inputs: widths[0]}
	for i, w := range widths[1:] {
		if i > 0 {
			s.Layers = append(s.Layers, net.LeakyReLU(0.2))
		}
		s.Layers = append(s.Layers, net.Dense(w))
	}
	n, err := net.New(s)
	must(err)
	return n
}

// objective returns the loss and the weights that it starts from.
func (c benchCase) objective() (Objective, []float32) {
	r := rand.New(rand.NewPCG(4, 4))
	if c.loss == "elbo" {
		encoder, decoder := chain(c.widths[0], c.widths[1], 2*c.widths[2]), chain(c.widths[2:]...)
		o, err := NewVariational(encoder, decoder, c.rows, net.BCE, 1/float64(c.widths[0]))
		must(err)
		return o, append(encoder.Init(r), decoder.Init(r)...)
	}
	n := c.net()
	switch c.loss {
	case "score":
		return realScore{n, c.rows, net.Wasserstein}, n.Init(r)
	case "bce":
		o, err := Autoencoder(n, c.rows, net.BCE)
		must(err)
		return o, n.Init(r)
	}
	return fixedPairs{n, c.rows, c.fakes()}, n.Init(r)
}

// fakes returns generated rows, the same for all sides.
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
	o, start := c.objective()
	d := newDescent(Adam(1e-4, 0.5, 0.9), start)
	cfg := DPSGD{MaxGradNorm: clip, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: float64(c.batch), Steps: 1,
		Joined: joins(o)}
	switch {
	case !cfg.clips():
		cfg.NoiseMultiplier = 0
	case c.tensor:
		cfg.Tensors = 2 * (len(c.widths) - 1)
	}
	cfg.Steps = b.N + 1
	s, err := newStepper(paid(cfg, "bench"), o, d.w, c.rows.Len())
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
		sample, err := s.begin(t)
		must(err)
		s.compute(d.w, s.index, false)
		s.addNoise(sample)
		d.step(s.sum, 1/cfg.ExpectedBatchSize)
	}
}

// fixedPairs is the penalised critic without the generator's work.
type fixedPairs struct {
	critic *net.Net
	rows   *Rows
	fake   net.Matrix
}

func (o fixedPairs) Joined() int                           { return 3 }
func (o fixedPairs) Params() int                           { return o.critic.Params() }
func (o fixedPairs) PerExample() (written bool, err error) { return o.critic.PerExample() }
func (o fixedPairs) Worker(rows int) Worker {
	return &fixedPairsWorker{o, penalisedWorker{triples: newTriples(o.critic, rows), scale: make([]float32, 3*rows)}}
}

type fixedPairsWorker struct {
	fixedPairs
	penalisedWorker
}

func (k *fixedPairsWorker) Run(w []float32, index []int32, draw Draw, loss []float64) {
	k.run(w, k.fake.Slice(0, len(index)), func(m net.Matrix) { k.fixedPairs.rows.Gather(m, index) }, 10, draw(), loss)
}

// BenchmarkGrowth is a private step at growing batches, then at growing nets; it
// reports the time per row and weight, which linear growth keeps level. `go run
// .ci/ratios.go` prints it beside the time at half the size.
func BenchmarkGrowth(b *testing.B) {
	for _, batch := range []int{128, 256, 512, 1024} {
		b.Run(fmt.Sprintf("batch/%d", batch), func(b *testing.B) { benchGrowth(b, batch, 70, 35) })
	}
	for _, hidden := range []int{64, 128, 256, 512} {
		b.Run(fmt.Sprintf("hidden/%d", hidden), func(b *testing.B) { benchGrowth(b, 128, hidden, 32) })
	}
}

func benchGrowth(b *testing.B, batch int, hidden ...int) {
	c := benchCase{widths: append(append([]int{106}, hidden...), 1), batch: batch, rows: benchRows(1000, 106, 0, 0),
		loss: "score"}
	step, params := c.step("bench", b.N)
	b.ResetTimer()
	for t := range b.N {
		step(t)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(params*batch), "ns/row/weight")
}

// step returns a private step without noise drawn ahead, and the number of weights.
func (c benchCase) step(name string, steps int) (step func(t int), params int) {
	o, start := c.objective()
	d := newDescent(Adam(1e-4, 0.5, 0.9), start)
	cfg := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.1, ExpectedBatchSize: float64(c.batch), Steps: steps}
	s, err := newStepper(paid(cfg, name), o, d.w, c.rows.Len())
	must(err)
	s.index = c.index()
	return func(t int) {
		sample, err := s.begin(t)
		must(err)
		s.compute(d.w, s.index, false)
		s.addNoise(sample)
		d.step(s.sum, 1/cfg.ExpectedBatchSize)
	}, o.Params()
}

// TestStepMemoryIsConstant: what a step allocates is the streams of its noise and
// examples, whatever the batch and the net, and none of it stays.
func TestStepMemoryIsConstant(t *testing.T) {
	if raced {
		t.Skip("allocations are not counted under the race detector")
	}
	rows := benchRows(1000, 106, 0, 0)
	for _, c := range []benchCase{
		{name: "small", widths: []int{106, 8, 1}, batch: 16, rows: rows, loss: "score"},
		{name: "wide", widths: []int{106, 256, 128, 1}, batch: 128, rows: rows, loss: "score"},
		{name: "long", widths: []int{106, 70, 35, 1}, batch: 700, rows: rows, loss: "score"},
		{name: "autoencoder", widths: []int{106, 60, 15, 60, 106}, batch: 64, rows: rows, loss: "bce"},
	} {
		step, params := c.step("memory", 1<<20)
		at := 0
		next := func() { step(at); at++ }
		next()                                                       // buffers are made when first needed
		if objects := testing.AllocsPerRun(50, next); objects > 20 { // a stream takes 16, its use the rest
			t.Errorf("%s: %g allocations a step, must be at most 20", c.name, objects)
		}
		if bytes := allocated(200, next) / 200; bytes > 8192 {
			t.Errorf("%s: %d bytes a step for %d weights, must be at most 8192", c.name, bytes, params)
		}
		if kept := heapGrowth(func() { allocated(2000/c.batch+100, next) }); kept > 1<<16 {
			t.Errorf("%s: %d bytes stay, must be none", c.name, kept)
		}
	}
	var hoard [][]float32
	if v := heapGrowth(func() { hoard = append(hoard, make([]float32, 1<<16)) }); v <= 1<<16 || len(hoard) != 1 {
		t.Errorf("%d bytes stay of 2^18 that are kept: the check is blind", v)
	}
}

// allocated returns how many bytes count calls of f take from the heap.
func allocated(count int, f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range count {
		f()
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// heapGrowth returns by how many bytes the live heap grows through f.
func heapGrowth(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}
