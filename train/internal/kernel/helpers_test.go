package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func source(n uint64) *rand.Rand { return rand.New(rand.NewPCG(7, n)) }

// normal fills n values from a standard normal, rounded to float32.
func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// strange returns normal values, a few of which are NaN, Inf, zeros, huge or tiny.
func strange(r *rand.Rand, n int) []float32 {
	odd := []float32{
		float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
		math.MaxFloat32, -1e30, 1e-30, math.SmallestNonzeroFloat32, -88, 89, 100, -104, 10, -0.625,
	}
	x := normal(r, n)
	for i := range x {
		if r.IntN(20) == 0 {
			x[i] = odd[r.IntN(len(odd))]
		}
	}
	return x
}

// sameBits reports whether two values are equal in their bits, any NaN equal to any.
func sameBits(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

func diff(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !sameBits(got[i], want[i]) {
			t.Fatalf("%s: element %d of %d is %g (%#x), want %g (%#x)", what, i, len(got),
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

func clone[T any](x []T) []T { return append([]T(nil), x...) }

// eachTable runs f with every implementation that this processor has.
func eachTable(t *testing.T, f func(t *testing.T, k *table)) {
	for _, k := range tables() {
		t.Run(k.name, func(t *testing.T) { f(t, k) })
	}
}
