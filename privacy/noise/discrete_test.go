package noise

import (
	"math"
	"testing"

	"weir/internal/stattest"
)

// law is an integer sampler with the probabilities that it claims.
type law interface {
	Draw(*Stream) int64
	PMF(int64) float64
}

// lawP returns the p-value that draws, spoiled, follow the law.
func lawP(l law, n int, spoil func(int64) int64) float64 {
	const span = 400
	counts, probabilities := make([]int, 2*span+1), make([]float64, 2*span+1)
	for k := range counts {
		probabilities[k] = l.PMF(int64(k - span))
	}
	st := testStream("law")
	for range n {
		if k := spoil(l.Draw(st)) + span; k >= 0 && k <= 2*span {
			counts[k]++
		}
	}
	return stattest.ChiSquare(counts, probabilities, n)
}

func testLaws(t *testing.T) map[string]law {
	laws := map[string]law{}
	for name, r := range map[string]Rational{"1": {1, 1}, "1/3": {1, 3}, "7/2": {7, 2}, "21": {21, 1}} {
		l, err := NewDiscreteLaplace(r)
		if err != nil {
			t.Fatal(err)
		}
		laws["laplace "+name] = l
	}
	near, err := RationalAbove(1.07 * 1.07)
	if err != nil {
		t.Fatal(err)
	}
	laws["laplace 1.1449"], err = NewDiscreteLaplace(near)
	if err != nil {
		t.Fatal(err)
	}
	return laws
}

// False-alarm rate 1e-6 for each law. Wrong: noise x 0.9 (rounded), a tail cut
// at three, odd positive numbers rounded up to even ones.
func TestDiscreteLaws(t *testing.T) {
	wrong := map[string]func(int64) int64{
		"noise x 0.9":     func(k int64) int64 { return int64(math.RoundToEven(0.9 * float64(k))) },
		"missing tail":    func(k int64) int64 { return min(max(k, -3), 3) },
		"biased rounding": func(k int64) int64 { return k + (k&1)&^(k>>63) },
	}
	for name, l := range testLaws(t) {
		if p := lawP(l, 200000, func(k int64) int64 { return k }); p < stattest.FalseAlarm {
			t.Errorf("%s: p-value %g", name, p)
		}
		if l.PMF(6) < 1e-5 {
			continue // too narrow for these faults to show
		}
		for fault, spoil := range wrong {
			if p := lawP(l, 200000, spoil); p >= stattest.FalseAlarm {
				t.Errorf("%s, %s: p-value %g, must be rejected", name, fault, p)
			}
		}
	}
}

func TestPMFSumsToOne(t *testing.T) {
	for name, l := range testLaws(t) {
		sum := 0.0
		for k := int64(-2000); k <= 2000; k++ {
			sum += l.PMF(k)
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: probabilities sum to %.15g", name, sum)
		}
	}
}

// Wide laws: the mean absolute value must agree to 5 standard errors (a rate of
// 6e-7) with the continuous law, which is closer than that at these widths.
func TestWideLaws(t *testing.T) {
	st := testStream("wide")
	const n = 20000
	l, err := NewDiscreteLaplace(Rational{1 << 40, 1})
	if err != nil {
		t.Fatal(err)
	}
	mean := func(l law) float64 {
		sum := 0.0
		for range n {
			sum += math.Abs(float64(l.Draw(st)))
		}
		return sum / n
	}
	if got := mean(l) / 0x1p40; math.Abs(got-1) > 5/math.Sqrt(n) {
		t.Errorf("Laplace of scale 2^40: mean size is %g scales, must be 1", got)
	}
}

// False-alarm rate 1e-6; a probability 6 % off is rejected.
func TestBernoulli(t *testing.T) {
	const n = 400000
	st := testStream("coin")
	count := func(flip func() bool) (k int) {
		for range n {
			if flip() {
				k++
			}
		}
		return k
	}
	check := func(name string, k int, p float64) {
		if pv := stattest.Binomial(k, n, p); pv < stattest.FalseAlarm {
			t.Errorf("%s: %d of %d, p-value %g", name, k, n, pv)
		}
		if pv := stattest.Binomial(k, n, 0.94*p); pv >= stattest.FalseAlarm {
			t.Errorf("%s: passes for %g, p-value %g", name, 0.94*p, pv)
		}
	}
	for _, r := range []Rational{{1, 3}, {2, 7}, {1<<62 - 1, 1 << 62}, {1, 20}} {
		check("coin", count(func() bool { return st.Bernoulli(r) }), r.Float64())
	}
	for _, r := range []Rational{{1, 3}, {1, 1}, {5, 2}, {1 << 61, 1<<62 - 1}} {
		num, den := product(r.Num, 1<<60), product(r.Den, 1<<60)
		check("exp coin", count(func() bool { return st.bernoulliExp(num, den) }), math.Exp(-r.Float64()))
	}
	if st.Bernoulli(Rational{0, 5}) || !st.Bernoulli(Rational{5, 5}) || st.Bernoulli(Rational{5, 0}) {
		t.Error("coins of 0, 1 and of no denominator must be false, true, false")
	}
}

func TestRationals(t *testing.T) {
	for _, x := range []float64{1, 0.1, 1.07, 1e-4, 3e8, 1 << 61} {
		r, err := exactRational(x)
		if x == 1e-4 {
			if err == nil {
				t.Error("1e-4 has 66 bits below the line and must be refused")
			}
			continue
		}
		if err != nil || r.Float64() != x {
			t.Errorf("exactRational(%g) = %v, %v", x, r, err)
		}
	}
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1), 1e300, 1e-300} {
		if _, err := exactRational(x); err == nil {
			t.Errorf("exactRational(%g) must refuse", x)
		}
		if _, err := RationalAbove(x); err == nil {
			t.Errorf("RationalAbove(%g) must refuse", x)
		}
	}
	st := testStream("rational")
	for range 10000 {
		x := math.Exp2(st.Float64()*59.9 - 20)
		r, err := RationalAbove(x)
		if err != nil || r.Float64() < x || r.Float64() > x*(1+0x1p-29) {
			t.Fatalf("RationalAbove(%.17g) = %v = %.17g, %v", x, r, r.Float64(), err)
		}
	}
}

func TestLawsRefuseNonsense(t *testing.T) {
	for _, r := range []Rational{{}, {0, 1}, {1, 0}, {1 << 41, 1}, {1 << 62, 1 << 62}} {
		if _, err := NewDiscreteLaplace(r); err == nil {
			t.Errorf("Laplace of scale %v must be refused", r)
		}
	}
}

func BenchmarkDiscreteLaplace(b *testing.B) {
	l, _ := NewDiscreteLaplace(Rational{10, 1})
	st := testStream("bench")
	for b.Loop() {
		l.Draw(st)
	}
}
