package noise

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/internal/bitmath"
	"weir/internal/stattest"
)

func testStream(purpose string) *Stream {
	return mustStream(NewSource(Key{1, 2, 3}, "test"), purpose, 0)
}

// mustStream returns a stream for sites that a test asks for once.
func mustStream(s *Source, purpose string, index uint64) *Stream {
	st, err := s.Stream(purpose, index)
	if err != nil {
		panic(err)
	}
	return st
}

// TestZigguratTable derives the table again: every layer has the same area, the
// base layer with its tail (closed form by erfc), and the top meets 1.
func TestZigguratTable(t *testing.T) {
	x, f := zigguratEdges, zigguratHeights
	r := x[1]
	area := r*math.Exp(-r*r/2) + math.Sqrt(math.Pi/2)*math.Erfc(r/math.Sqrt2)
	for i := range layerCount {
		if a := x[i] * (f[i+1] - f[i]); i > 0 && math.Abs(a/area-1) > 1e-12 {
			t.Errorf("layer %d has area %.17g, must be %.17g", i, a, area)
		}
		if math.Abs(f[i]-math.Exp(-x[i]*x[i]/2)) > 4e-16 || x[i+1] >= x[i] {
			t.Errorf("edge %d: (%g, %g) is not on a falling exp(-x^2/2)", i, x[i], f[i])
		}
	}
	if math.Abs(x[0]*f[1]/area-1) > 1e-14 || x[layerCount] != 0 || f[layerCount] != 1 {
		t.Errorf("ends: x[0] = %g, last x %g, last f %g", x[0], x[layerCount], f[layerCount])
	}
}

// TestLogAgreesWithMath allows the one unit in the last place that the laws of this
// package reckon with.
func TestLogAgreesWithMath(t *testing.T) {
	st := testStream("ln")
	for range 100000 {
		x := st.unit()
		if got, want := bitmath.Log(x), math.Log(x); math.Abs(got-want) > 2.3e-16*math.Abs(want) {
			t.Fatalf("Log(%g) = %.17g, math.Log gives %.17g", x, got, want)
		}
		if got, want := ln1m(x/2), math.Log1p(-x/2); math.Abs(got-want) > 9e-16*math.Abs(want) {
			t.Fatalf("ln1m(%g) = %.17g, math.Log1p gives %.17g", x/2, got, want)
		}
	}
}

// gaussianCells returns a partition of the line into cells of width 1/20 from -6 to 6
// with their probabilities.
func gaussianCells() (low float64, width float64, probabilities []float64) {
	low, width = -6, 0.05
	probabilities = make([]float64, 242)
	last := 0.0
	for i := range 241 {
		cdf := math.Erfc(-(low+width*float64(i))/math.Sqrt2) / 2
		probabilities[i], last = cdf-last, cdf
	}
	probabilities[241] = 1 - last
	return low, width, probabilities
}

// gaussianP returns the p-value that draws, transformed by f, are normal.
func gaussianP(f func(float64) float64) float64 {
	const n = 2_000_000
	low, width, probabilities := gaussianCells()
	counts := make([]int, len(probabilities))
	st := testStream("normal")
	block := make([]float64, 1000)
	for range n / len(block) {
		st.Gaussian(block)
		for _, x := range block {
			i := int(math.Floor((f(x)-low)/width)) + 1
			counts[min(max(i, 0), len(counts)-1)]++
		}
	}
	return stattest.ChiSquare(counts, probabilities, n)
}

// TestGaussianIsNormal: false-alarm rate 1e-6. The wrong cases are the smallest faults that the test
// must see: noise of 0.99, no tail beyond the base layer, a shift.
func TestGaussianIsNormal(t *testing.T) {
	if p := gaussianP(func(x float64) float64 { return x }); p < stattest.FalseAlarm {
		t.Errorf("p-value %g", p)
	}
	for name, wrong := range map[string]func(float64) float64{
		"noise x 0.9":  func(x float64) float64 { return 0.9 * x },
		"noise x 0.99": func(x float64) float64 { return 0.99 * x },
		"missing tail": func(x float64) float64 { return math.Mod(x, 3.6) },
		"shift":        func(x float64) float64 { return x + 0.01 },
	} {
		if p := gaussianP(wrong); p >= stattest.FalseAlarm {
			t.Errorf("%s: p-value %g, must be rejected", name, p)
		}
	}
}

// TestGaussianTail counts draws of the tail beyond 4.5 and 5 sigma, given that
// they are beyond r: false-alarm rate 1e-6 each.
func TestGaussianTail(t *testing.T) {
	st := testStream("tail")
	const n = 400_000
	r := zigguratEdges[1]
	var beyond45, beyond5 int
	for range n {
		x := st.tail().float()
		if x > 4.5 {
			beyond45++
		}
		if x > 5 {
			beyond5++
		}
	}
	tail := func(x float64) float64 { return math.Erfc(x / math.Sqrt2) }
	for x, k := range map[float64]int{4.5: beyond45, 5: beyond5} {
		if p := stattest.Binomial(k, n, tail(x)/tail(r)); p < stattest.FalseAlarm {
			t.Errorf("beyond %g: %d of %d, p-value %g", x, k, n, p)
		}
		if p := stattest.Binomial(k, n, tail(x)/tail(r-0.1)); p >= stattest.FalseAlarm {
			t.Errorf("beyond %g: a tail from %g must be rejected, p-value %g", x, r-0.1, p)
		}
	}
}

// TestGaussianHasTail counts whole draws beyond r, of which there are 5e-5:
// false-alarm rate 1e-6. A law without a tail has none, one with its base layer
// as a rectangle of width x[0] has a fifth.
func TestGaussianHasTail(t *testing.T) {
	const n = 4_000_000
	r, k := zigguratEdges[1], 0
	st, block := testStream("whole"), make([]float64, 1000)
	for range n / len(block) {
		st.Gaussian(block)
		for _, x := range block {
			if math.Abs(x) > r {
				k++
			}
		}
	}
	p := math.Erfc(r / math.Sqrt2)
	if v := stattest.Binomial(k, n, p); v < stattest.FalseAlarm {
		t.Errorf("%d of %d beyond %g, p-value %g", k, n, r, v)
	}
	for _, wrong := range []int{0, k / 5, 5 * k} {
		if v := stattest.Binomial(wrong, n, p); v >= stattest.FalseAlarm {
			t.Errorf("%d of %d must be rejected, p-value %g", wrong, n, v)
		}
	}
}

// TestGaussianNeighboursAreIndependent correlates neighbours and their squares
// by signs: false-alarm rate 1e-6 each. Numbers reused after a refill would
// show here, and in the wrong case, which repeats every number.
func TestGaussianNeighboursAreIndependent(t *testing.T) {
	const n = 1 << 20
	x := make([]float64, n)
	testStream("pairs").Gaussian(x)
	for _, lag := range []int{1, 2, 128, 255, 256, 257, 512} {
		for name, split := range map[string]float64{"sign": 0, "size": 0.6744897501960817} {
			same := 0
			for i := range x[lag:] {
				a, b := x[i], x[i+lag]
				if name == "size" {
					a, b = math.Abs(a), math.Abs(b)
				}
				if (a > split) == (b > split) {
					same++
				}
			}
			if p := stattest.Binomial(same, n-lag, 0.5); p < stattest.FalseAlarm {
				t.Errorf("%s at lag %d: %d of %d agree, p-value %g", name, lag, same, n-lag, p)
			}
		}
	}
	seen := map[float64]bool{}
	for _, v := range x[:1<<17] {
		if seen[v] {
			t.Fatalf("the number %g came twice in %d", v, 1<<17)
		}
		seen[v] = true
	}
}

func TestStreamsDiffer(t *testing.T) {
	first := map[uint64]string{}
	for _, s := range []struct {
		key             Key
		charge, purpose string
		index           uint64
	}{
		{Key{}, "a", "b", 0}, {Key{1}, "a", "b", 0}, {Key{}, "ab", "", 0}, {Key{}, "", "ab", 0},
		{Key{}, "a", "b", 1}, {Key{}, "a", "b\x00", 0}, {Key{}, "b", "a", 0}, {Key{}, "a", "b", 1 << 63},
	} {
		st := mustStream(NewSource(s.key, s.charge), s.purpose, s.index)
		v := st.Uint64()
		if other, ok := first[v]; ok {
			t.Errorf("%+v begins like %s", s, other)
		}
		first[v] = s.purpose
		if mustStream(NewSource(s.key, s.charge), s.purpose, s.index).Uint64() != v {
			t.Errorf("%+v does not repeat itself", s)
		}
	}
}

// TestReplay fixes the numbers that a key gives, so that recorded runs can be
// replayed by later versions. The word was computed with Python's hmac and
// openssl enc -aes-256-ctr; the hash is this code's own.
func TestReplay(t *testing.T) {
	st := mustStream(NewSource(Key{7}, "charge"), "purpose", 9)
	if got := st.Uint64(); got != 0xa691a1050cfbf55a {
		t.Errorf("first word is %#x", got)
	}
	x := make([]float64, 10000)
	st.Gaussian(x)
	hash := uint64(0)
	for _, v := range x {
		hash = hash*0x9e3779b97f4a7c15 + math.Float64bits(v)
	}
	if hash != 0x3ad011114bae8dca {
		t.Errorf("hash of 10000 normals is %#x", hash)
	}
}

func BenchmarkGaussian(b *testing.B) {
	st, dst := testStream("bench"), make([]float64, 1024)
	for b.Loop() {
		st.Gaussian(dst)
	}
	perNumber(b, len(dst))
}

func BenchmarkLatticeGaussian(b *testing.B) {
	st, dst := testStream("bench"), make([]float32, 1024)
	for b.Loop() {
		st.LatticeGaussian(dst, 1, 0x1p-18)
	}
	perNumber(b, len(dst))
}

func perNumber(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/number")
}

// BenchmarkStandardLibrary is what BenchmarkGaussian is measured against: a
// 32-bit ziggurat over ChaCha8, 7.9 ns to 3.4 ns in docs/kernels.md.
func BenchmarkStandardLibrary(b *testing.B) {
	r, dst := rand.New(rand.NewChaCha8([32]byte{1})), make([]float64, 1024)
	for b.Loop() {
		for i := range dst {
			dst[i] = r.NormFloat64()
		}
	}
	perNumber(b, len(dst))
}
