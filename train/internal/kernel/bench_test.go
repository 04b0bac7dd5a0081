package kernel

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// shapes are the products of the nets of KERNELS: m×k by k×n forward (NN), and
// their two backward products (NT for the input, TN for the weights).
var shapes = func() (all []benchShape) {
	for _, net := range []struct {
		name  string
		batch int
		width []int
	}{{"critic", 128, []int{106, 70, 35, 1}}, {"autoencoder", 64, []int{106, 60, 15, 60, 106}}, {"gp", 32, []int{16, 128, 1}}} {
		for i := range len(net.width) - 1 {
			in, out := net.width[i], net.width[i+1]
			all = append(all,
				benchShape{fmt.Sprintf("%s/%dx%d/NN", net.name, in, out), nn, net.batch, out, in},
				benchShape{fmt.Sprintf("%s/%dx%d/NT", net.name, in, out), nt, net.batch, in, out},
				benchShape{fmt.Sprintf("%s/%dx%d/TN", net.name, in, out), tn, in, out, net.batch})
		}
	}
	return all
}()

type benchShape struct {
	name    string
	layout  layout
	m, n, k int
}

// call multiplies by the given implementation; a, b and c are dense.
type call func(s benchShape, a, b, c []float32)

func ours(k *table) call {
	return func(s benchShape, a, b, c []float32) {
		p := product{m: s.m, n: s.n, k: s.k, a: a, aRow: s.k, aCol: 1, b: b, ldb: s.n, c: c, ldc: s.n}
		switch s.layout {
		case nt:
			p.transposed, p.ldb = true, s.k
		case tn:
			p.aRow, p.aCol = 1, s.m
		}
		k.gemm(p)
	}
}

func gonumSide(s benchShape, a, b, c []float32) {
	ta, tb, lda, ldb := blas.NoTrans, blas.NoTrans, s.k, s.n
	switch s.layout {
	case nt:
		tb, ldb = blas.Trans, s.k
	case tn:
		ta, lda = blas.Trans, s.m
	}
	gonum.Implementation{}.Sgemm(ta, tb, s.m, s.n, s.k, 1, a, lda, b, ldb, 0, c, s.n)
}

// sides are the implementations compared; a build tag adds OpenBLAS.
func sides() map[string]call {
	all := map[string]call{"gonum": gonumSide}
	for _, k := range tables() {
		all[k.name] = ours(k)
	}
	addOpenBLAS(all)
	return all
}

// speed is the best of several short runs, in GFLOP/s.
func speed(f call, s benchShape, a, b, c []float32) float64 {
	flop := 2 * float64(s.m) * float64(s.n) * float64(s.k)
	turns := int(max(1, 2e6/flop))
	best := math.Inf(1)
	for range 12 {
		start := time.Now()
		for range turns {
			f(s, a, b, c)
		}
		best = min(best, time.Since(start).Seconds()/float64(turns))
	}
	return flop / best / 1e9
}

// BenchmarkGemm runs all sides in turn on each shape and reports GFLOP/s; the
// summary reports the geometric means of the 27 products and of the 15 that have
// n > 1 and k > 1, with the ratio to gonum.
func BenchmarkGemm(b *testing.B) {
	r := source(41)
	logs, wide, count := map[string]float64{}, map[string]float64{}, 0
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			x, y, c := normal(r, s.m*s.k), normal(r, s.k*s.n), normal(r, s.m*s.n)
			for range b.N {
				if s.n > 1 && s.k > 1 && s.m > 1 {
					count++
				}
				for name, f := range sides() {
					g := speed(f, s, x, y, c)
					b.ReportMetric(g, name+"-GF/s")
					logs[name] += math.Log(g)
					if s.n > 1 && s.k > 1 && s.m > 1 {
						wide[name] += math.Log(g)
					}
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	if count == 0 {
		return
	}
	b.Run("geomean", func(b *testing.B) {
		for name := range logs {
			g := math.Exp(wide[name] / float64(count))
			b.ReportMetric(g, name+"-GF/s")
			b.ReportMetric(g/math.Exp(wide["gonum"]/float64(count)), name+"/gonum")
			if name != "openblas" && wide["openblas"] != 0 {
				b.ReportMetric(g/math.Exp(wide["openblas"]/float64(count)), name+"/openblas")
			}
		}
		b.ReportMetric(0, "ns/op")
	})
}
