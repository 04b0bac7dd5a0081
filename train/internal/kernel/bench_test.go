package kernel

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// shapes are the products of the nets of docs/kernels.md: m×k by k×n forward (NN), and
// their two backward products (NT for the input, TN for the weights).
var shapes = func() (all []benchShape) {
	for _, net := range []struct {
		name  string
		batch int
		width []int
	}{{"critic", 128, []int{106, 70, 35, 1}}, {"autoencoder", 64, []int{106, 60, 15, 60, 106}},
		{"gp", 32, []int{16, 128, 1}}} {
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

// sides returns the implementations compared; a build tag adds OpenBLAS.
func sides() map[string]call {
	all := map[string]call{"gonum": gonumSide}
	for _, k := range tables() {
		all[k.name] = ours(k)
	}
	addOpenBLAS(all)
	return all
}

// speed returns the best of several short runs, in GFLOP/s.
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

// BenchmarkGemm runs all sides in turn on each shape and reports GFLOP/s. At the end
// come geometric means, with ratios to gonum and to OpenBLAS: of all 27 products,
// and of the 21 that have no side of length one.
func BenchmarkGemm(b *testing.B) {
	r := source(41)
	means := map[string]*geomean{"all": newGeomean(), "wide": newGeomean()}
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			x, y, c := normal(r, s.m*s.k), normal(r, s.k*s.n), normal(r, s.m*s.n)
			for range b.N {
				for name, f := range sides() {
					g := speed(f, s, x, y, c)
					b.ReportMetric(g, name+"-GF/s")
					means["all"].add(name, g)
					if min(s.m, s.n, s.k) > 1 {
						means["wide"].add(name, g)
					}
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	for name, m := range means {
		b.Run("geomean/"+name, m.report)
	}
}

// geomean gathers the speeds of each side.
type geomean struct {
	sum   map[string]float64
	count map[string]int
}

func newGeomean() *geomean { return &geomean{map[string]float64{}, map[string]int{}} }

func (m *geomean) add(side string, g float64) {
	m.sum[side] += math.Log(g)
	m.count[side]++
}

func (m *geomean) mean(side string) float64 { return math.Exp(m.sum[side] / float64(m.count[side])) }

func (m *geomean) report(b *testing.B) {
	for side := range m.sum {
		b.ReportMetric(m.mean(side), side+"-GF/s")
		for _, other := range []string{"gonum", "openblas"} {
			if side != other && m.count[other] > 0 {
				b.ReportMetric(m.mean(side)/m.mean(other), side+"/"+other)
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}
