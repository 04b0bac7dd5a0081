package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"weir/train/net"
	"weir/train/parallel"
)

// BenchmarkScaling trains 64 critics on one worker and on two; time on one over
// time on two is the scaling.
func BenchmarkScaling(b *testing.B) {
	for _, count := range []int{1, 2} {
		b.Run(fmt.Sprintf("cores=%d", count), func(b *testing.B) {
			l := benchGS(64)
			b.ResetTimer()
			for range b.N {
				parallel.Do(count, len(l.critics), func(worker, i int) { l.lanes[worker].warmUp(l.critics[i], l.rows) })
			}
		})
	}
}

// BenchmarkCriticStep is one step of a shard's critic of gs_wgan, the generator's
// rows included; BenchmarkMeanQuery one step's query of 1500 critics.
func BenchmarkCriticStep(b *testing.B) {
	l := benchGS(1)
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for range b.N {
		l.lanes[0].train(l.critics[0], l.generator.w, l.rows, r)
	}
}

// BenchmarkNormedCriticStep is BenchmarkCriticStep with the nets of the thesis, which normalise
// their batch.
func BenchmarkNormedCriticStep(b *testing.B) {
	c, _, _, rows, shards := gsSetting(1)
	norm := net.Activation("batch_norm")
	critic, err := net.New(net.Spec{Inputs: 16, Layers: []net.Layer{net.Dense(128), norm, net.LeakyReLU(0.2),
		net.Dense(1)}})
	must(err)
	gen, err := net.New(net.Spec{Inputs: 32, Layers: []net.Layer{net.Dense(128), norm, net.Activation("relu"),
		net.Dense(256), norm,
		net.Activation("relu"), net.Dense(16), net.Activation("tanh")}})
	must(err)
	l, err := newGSLoop(c.GSWGANConfig, critic, gen, rows, shards, c.opened(shards, "bench"))
	must(err)
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for range b.N {
		l.lanes[0].train(l.critics[0], l.generator.w, l.rows, r)
	}
}

func BenchmarkMeanQuery(b *testing.B) {
	l := benchGS(1500)
	fake := l.gen.sample(l.generator.w, l.q.BatchSize, rand.New(rand.NewPCG(1, 2)))
	b.ResetTimer()
	for t := range b.N {
		must(l.release.begin(t))
		l.release.query(l.critics, fake, false)
	}
}

// gsSetting returns the setting of issue 4 with 42 rows a shard.
func gsSetting(critics int) (c gsCase, critic, gen *net.Net, rows *Rows, shards [][]int32) {
	rows = benchRows(42*critics, 10, 2, 3)
	shards = make([][]int32, critics)
	for i := range 42 * critics {
		shards[i%critics] = append(shards[i%critics], int32(i))
	}
	critic, err := net.New(net.Spec{Inputs: 16, Layers: []net.Layer{net.Dense(128), net.LeakyReLU(0.2), net.Dense(1)}})
	must(err)
	gen, err = net.New(net.Spec{Inputs: 32, Layers: []net.Layer{net.Dense(256), net.Activation("relu"), net.Dense(16),
		net.Activation("tanh")}})
	must(err)
	c = gsCase{CriticQuery: CriticQuery{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 1 << 20, BatchSize: 32, Columns: 16,
		Query: QueryMean, Schedule: SchedulePublic}, GSWGANConfig: GSWGANConfig{WarmSteps: 50, CriticSteps: 5,
		Scheduled: 1, Penalty: 10, Critic: Adam(1e-4, 0, 0.9), Generator: Adam(1e-4, 0, 0.9), Seed: 1}}
	return c, critic, gen, rows, shards
}

func benchGS(critics int) *gsLoop {
	c, critic, gen, rows, shards := gsSetting(critics)
	l, err := newGSLoop(c.GSWGANConfig, critic, gen, rows, shards, c.opened(shards, "bench"))
	must(err)
	return l
}

// BenchmarkGSWGAN is a whole run at the setting of issue 4: 1500 critics, 2,000
// warm-start steps each, 20,000 generator steps. It takes minutes: -benchtime 1x.
func BenchmarkGSWGAN(b *testing.B) {
	for _, q := range []Query{QueryMean, QuerySample} {
		b.Run(string(q), func(b *testing.B) {
			for range b.N {
				c, critic, gen, rows, shards := gsSetting(1500)
				c.Query, c.WarmSteps, c.Steps = q, 2000, 20000
				_, err := GSWGAN(b.Context(), c.GSWGANConfig, critic, gen, rows, shards, c.opened(shards, "bench"), Hooks{})
				must(err)
			}
		})
	}
}

// BenchmarkTenMillionRows trains on 10 million rows of 15 columns (5 numeric, 10
// categorical) and reports the peak of memory taken from the system.
func BenchmarkTenMillionRows(b *testing.B) {
	rows := benchRows(10_000_000, 5, 10, 10)
	n, err := net.New(net.Spec{Inputs: rows.Width(), Layers: []net.Layer{net.Dense(60), net.LeakyReLU(0.2),
		net.Dense(rows.Width())}})
	must(err)
	o, err := Autoencoder(n, rows, net.BCE)
	must(err)
	c := fitCase{DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 1e-4, ExpectedBatchSize: 1000, Steps: 200},
		FitConfig{Optimiser: Adam(1e-3, 0.9, 0.999)}}
	b.ResetTimer()
	for range b.N {
		_, err := c.run(o, n.Init(rand.New(rand.NewPCG(1, 1))), rows.Len(), "bench", Hooks{})
		must(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*c.Steps), "us/step")
}

// mlp is the reference: dense layers with LeakyReLU between them.
type mlp struct {
	widths     []int
	w, b       [][]float32 // w is in×out
	gw, gb     [][]float32
	mw, vw     [][]float32
	mb, vb     [][]float32
	x, z, d    [][]float32 // inputs, outputs before activation, gradients at z
	norm2      []float32
	scaled, in []float32
	t          int
}

func newMLP(widths []int, rows int, flat []float32) *mlp {
	m := &mlp{widths: widths, norm2: make([]float32, rows), x: [][]float32{make([]float32, rows*widths[0])}}
	for l := range len(widths) - 1 {
		in, out := widths[l], widths[l+1]
		m.w, m.b = append(m.w, append([]float32(nil), flat[:in*out]...)),
			append(m.b, append([]float32(nil), flat[in*out:in*out+out]...))
		flat = flat[in*out+out:]
		for _, p := range []*[][]float32{&m.gw, &m.mw, &m.vw} {
			*p = append(*p, make([]float32, in*out))
		}
		for _, p := range []*[][]float32{&m.gb, &m.mb, &m.vb} {
			*p = append(*p, make([]float32, out))
		}
		for _, p := range []*[][]float32{&m.x, &m.z, &m.d} {
			*p = append(*p, make([]float32, rows*out))
		}
	}
	m.scaled = make([]float32, rows*1200)
	m.in = make([]float32, rows*widths[0])
	return m
}

func general(data []float32, rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
}

func (m *mlp) forward(n int) {
	for l := range m.w {
		in, out := m.widths[l], m.widths[l+1]
		z := m.z[l][:n*out]
		for i := range n {
			copy(z[i*out:], m.b[l])
		}
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, general(m.x[l], n, in), general(m.w[l], in, out), 1, general(z, n, out))
		for i, v := range z {
			if v < 0 && l < len(m.w)-1 {
				v *= 0.2
			}
			m.x[l+1][i] = v
		}
	}
}

// backward goes from d[last]; with dx it computes the gradient at the input.
func (m *mlp) backward(n int, dx []float32) {
	for l := len(m.w) - 1; l >= 0; l-- {
		in, out := m.widths[l], m.widths[l+1]
		dst := dx
		if l > 0 {
			dst = m.d[l-1]
		} else if dx == nil {
			return
		}
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, general(m.d[l], n, out), general(m.w[l], in, out), 0, general(dst, n, in))
		if l > 0 {
			for i := range n * in {
				if m.z[l-1][i] < 0 {
					dst[i] *= 0.2
				}
			}
		}
	}
}

func dotOf(x, y []float32) (s float32) {
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// clip turns norm2 (of n examples of parts rows each) into factors.
func (m *mlp) clip(n, parts int, bias []float32) {
	for i := range n {
		var s float32
		for l := range m.w {
			in, out := m.widths[l], m.widths[l+1]
			for p := range parts {
				for q := range parts {
					a, b := p*n+i, q*n+i
					s += (dotOf(m.x[l][a*in:(a+1)*in], m.x[l][b*in:(b+1)*in]) + bias[p]*bias[q]) *
						dotOf(m.d[l][a*out:(a+1)*out], m.d[l][b*out:(b+1)*out])
				}
			}
		}
		m.norm2[i] = float32(math.Min(1, 1/math.Sqrt(float64(s))))
	}
}

func (m *mlp) accumulate(n, parts int, bias []float32) {
	for l := range m.w {
		in, out := m.widths[l], m.widths[l+1]
		clear(m.gb[l])
		for r := range n * parts {
			c := m.norm2[r%n]
			for j, v := range m.d[l][r*out : (r+1)*out] {
				m.scaled[r*out+j] = c * v
				m.gb[l][j] += bias[r/n] * c * v
			}
		}
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, general(m.x[l], n*parts, in), general(m.scaled, n*parts, out), 0,
			general(m.gw[l], in, out))
	}
}

func (m *mlp) update(r *rand.Rand, batch float32) {
	m.t++
	b1, b2 := 1-math.Pow(0.5, float64(m.t)), 1-math.Pow(0.9, float64(m.t))
	for l := range m.w {
		adamScalar(m.w[l], m.gw[l], m.mw[l], m.vw[l], r, batch, b1, b2)
		adamScalar(m.b[l], m.gb[l], m.mb[l], m.vb[l], r, batch, b1, b2)
	}
}

func adamScalar(w, g, m, v []float32, r *rand.Rand, batch float32, b1, b2 float64) {
	step, root := float32(1e-4/b1), float32(1/math.Sqrt(b2))
	for i := range w {
		e := (g[i] + float32(r.NormFloat64())) / batch
		m[i] = 0.5*m[i] + 0.5*e
		v[i] = 0.9*v[i] + 0.1*e*e
		w[i] -= step * m[i] / (float32(math.Sqrt(float64(v[i])))*root + 1e-8)
	}
}

func (c benchCase) reference(b *testing.B) {
	n := c.net()
	parts := 1
	if c.loss == "penalty" {
		parts = 3
	}
	m := newMLP(c.widths, parts*c.batch, n.Init(rand.New(rand.NewPCG(4, 4))))
	r := rand.New(rand.NewChaCha8([32]byte{1}))
	step := map[string]func(*mlp, *rand.Rand, []int32, net.Matrix){"score": c.scoreStep, "bce": c.bceStep,
		"penalty": c.penaltyStep}[c.loss]
	index, fake := c.index(), c.fakes()
	step(m, r, index, fake)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		step(m, r, index, fake)
	}
}

// gather fills the first layer's input without the extra column of ones.
func (c benchCase) gather(x []float32, index []int32) {
	w := c.widths[0]
	c.rows.Gather(net.Matrix{Data: x, Rows: len(index), Cols: w, LD: w}, index)
}

func (c benchCase) scoreStep(m *mlp, r *rand.Rand, index []int32, _ net.Matrix) {
	n := len(index)
	c.gather(m.x[0], index)
	m.forward(n)
	for i := range n {
		m.d[len(m.w)-1][i] = -1
	}
	m.backward(n, nil)
	m.clip(n, 1, []float32{1})
	m.accumulate(n, 1, []float32{1})
	m.update(r, float32(n))
}

func (c benchCase) bceStep(m *mlp, r *rand.Rand, index []int32, _ net.Matrix) {
	n, w := len(index), c.widths[0]
	c.gather(m.x[0], index)
	m.forward(n)
	last := len(m.w) - 1
	for i := range n * w {
		m.d[last][i] = (float32(1/(1+math.Exp(-float64(m.z[last][i])))) - m.x[0][i]) / float32(w)
	}
	m.backward(n, nil)
	m.clip(n, 1, []float32{1})
	m.accumulate(n, 1, []float32{1})
	m.update(r, float32(n))
}

func (c benchCase) penaltyStep(m *mlp, r *rand.Rand, index []int32, fake net.Matrix) {
	n, in, hidden := len(index), c.widths[0], c.widths[1]
	x := m.x[0]
	for i := range n {
		copy(x[i*in:], fake.Row(i))
	}
	c.gather(x[n*in:2*n*in], index)
	for i := range n {
		e := r.Float32()
		for j := range in {
			x[(2*n+i)*in+j] = e*x[(n+i)*in+j] + (1-e)*x[i*in+j]
		}
	}
	m.forward(3 * n)
	for i := range 3 * n {
		m.d[1][i] = 1
		if i >= n && i < 2*n {
			m.d[1][i] = -1
		}
	}
	m.backward(3*n, nil)
	// The input gradient, then the tangent, at the interpolates.
	start := 2 * n
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, general(m.d[0][start*hidden:], n, hidden), general(m.w[0], in, hidden), 0,
		general(x[start*in:], n, in))
	for i := start; i < 3*n; i++ {
		g := x[i*in : (i+1)*in]
		norm := float32(math.Sqrt(float64(dotOf(g, g))))
		for j := range g {
			g[j] *= 20 * (norm - 1) / norm
		}
	}
	h := m.x[1][start*hidden:]
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, general(x[start*in:], n, in), general(m.w[0], in, hidden), 0,
		general(h, n, hidden))
	for i := range n * hidden {
		if m.z[0][start*hidden+i] < 0 {
			h[i] *= 0.2
		}
	}
	bias := []float32{1, 1, 0}
	m.clip(n, 3, bias)
	m.accumulate(n, 3, bias)
	m.update(r, float32(n))
}
