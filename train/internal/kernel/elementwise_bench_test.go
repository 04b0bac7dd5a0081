package kernel

import (
	"math"
	"testing"
	"time"
)

// BenchmarkElementwise reports ns for each of 8192 elements (in the first-level
// cache as in a training step) at each level, and the ratio of plain Go to AVX2.
func BenchmarkElementwise(b *testing.B) {
	const rows, cols = 128, 64
	r := source(42)
	x, y, z := normal(r, rows*cols), normal(r, rows*cols), normal(r, rows*cols)
	v, g, s, d := make([]float32, rows*cols), normal(r, rows*cols), normal(r, rows), make([]float32, rows*cols)
	adam := adamCoefficients{1, 0.9, 0.1, 0.999, 0.001, 1, 1e-8, 1e-4}
	rms := rmsPropCoefficients{1, 0.9, 0.1, 1e-8, 1e-4}
	heavy := momentumCoefficients{1, 0.5, 1e-4}
	for _, c := range []struct {
		name string
		f    func(k *table)
	}{
		{"LeakyReLU", func(k *table) { k.leakyReLU(d, x, 0.2) }},
		{"LeakyReLUBackward", func(k *table) { k.leakyReLUBackward(d, g, x, 0.2) }},
		{"Tanh", func(k *table) { k.tanh(d, x) }},
		{"TanhBackward", func(k *table) { k.tanhBackward(d, g, x) }},
		{"Sigmoid", func(k *table) { k.sigmoid(d, x) }},
		{"SigmoidBackward", func(k *table) { k.sigmoidBackward(d, g, x) }},
		{"Axpy", func(k *table) { k.axpy(1e-9, x, y) }},
		{"Scale", func(k *table) { k.scale(1, y) }},
		{"Add", func(k *table) { k.add(d, x, y) }},
		{"Mul", func(k *table) { k.mul(d, x, y) }},
		{"Clamp", func(k *table) { k.clamp(z, -9, 9) }},
		{"LatticeRound", func(k *table) { k.latticeRound(z, 0x1p-20, 0x1p20) }},
		{"SumSquares", func(k *table) { k.sumSquares(x) }},
		{"RowDots", func(k *table) { k.rowDots(s, x, y, rows, cols, cols, cols) }},
		{"ScaleRows", func(k *table) { k.scaleRows(d, x, rows, cols, cols, cols, s) }},
		{"Softmax64", func(k *table) { k.softmax(d, x, rows, cols, cols, cols) }},
		{"Softmax5", func(k *table) { k.softmax(d, x, rows*cols/5, 5, 5, 5) }},
		{"Adam", func(k *table) { k.adam(x, y, v, g, nil, adam) }},
		{"AdamNoise", func(k *table) { k.adam(x, y, v, g, z, adam) }},
		{"RMSPropNoise", func(k *table) { k.rmsProp(x, v, g, z, rms) }},
		{"MomentumNoise", func(k *table) { k.momentum(x, y, g, z, heavy) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				ns := map[string]float64{}
				for _, k := range tables() {
					clear(d)
					ns[k.name] = nsPerElement(func() { c.f(k) }, rows*cols)
					if k.name != "avx512" {
						b.ReportMetric(ns[k.name], k.name+"-ns/elem")
					}
				}
				b.ReportMetric(ns["generic"]/ns["avx2"], "ratio")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// nsPerElement returns the best of several short runs.
func nsPerElement(f func(), n int) float64 {
	best := math.Inf(1)
	for range 20 {
		start := time.Now()
		for range 10 {
			f()
		}
		best = min(best, float64(time.Since(start))/10/float64(n))
	}
	return best
}
