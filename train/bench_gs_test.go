package train

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

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
	critic, err := net.New(net.Spec{Inputs: 16, Layers: []net.Layer{net.Dense(128), norm, net.LeakyReLU(0.2), net.Dense(1)}})
	must(err)
	gen, err := net.New(net.Spec{Inputs: 32, Layers: []net.Layer{net.Dense(128), norm, net.Activation("relu"), net.Dense(256), norm,
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

// gsSetting is the setting of issue 4 with 42 rows a shard.
func gsSetting(critics int) (c gsCase, critic, gen *net.Net, rows *Rows, shards [][]int32) {
	rows = benchRows(42*critics, 10, 2, 3)
	shards = make([][]int32, critics)
	for i := range 42 * critics {
		shards[i%critics] = append(shards[i%critics], int32(i))
	}
	critic, err := net.New(net.Spec{Inputs: 16, Layers: []net.Layer{net.Dense(128), net.LeakyReLU(0.2), net.Dense(1)}})
	must(err)
	gen, err = net.New(net.Spec{Inputs: 32, Layers: []net.Layer{net.Dense(256), net.Activation("relu"), net.Dense(16), net.Activation("tanh")}})
	must(err)
	c = gsCase{CriticQuery: CriticQuery{MaxGradNorm: 1, NoiseMultiplier: 1, Steps: 1 << 20, BatchSize: 32, Columns: 16, Query: QueryMean, Schedule: SchedulePublic}, GSWGANConfig: GSWGANConfig{WarmSteps: 50, CriticSteps: 5,
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
	n, err := net.New(net.Spec{Inputs: rows.Width(), Layers: []net.Layer{net.Dense(60), net.LeakyReLU(0.2), net.Dense(rows.Width())}})
	must(err)
	o, err := Autoencoder(n, rows, net.BCE)
	must(err)
	c := fitCase{DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 1e-4, ExpectedBatchSize: 1000, Steps: 200}, FitConfig{Optimiser: Adam(1e-3, 0.9, 0.999)}}
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
