package noise

import (
	"fmt"
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

// TestDiscreteLaws: false-alarm rate 1e-6 for each law. Wrong: noise x 0.9 (rounded), a tail cut
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

// TestWideLaws: wide laws: the mean absolute value must agree to 5 standard errors (a rate of
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

// TestBernoulli: false-alarm rate 1e-6; a probability 6 % off is rejected.
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

func TestPoissonEdges(t *testing.T) {
	st := testStream("edges")
	for _, q := range []float64{0, -1, math.NaN()} {
		if got := st.Poisson(nil, 100, q); len(got) != 0 {
			t.Errorf("q %g takes %d rows, must take none", q, len(got))
		}
	}
	if got := st.Poisson(nil, 100, 1); len(got) != 100 || got[99] != 99 {
		t.Errorf("q 1 takes %d of 100 rows", len(got))
	}
	for _, n := range []int{0, 1, math.MaxInt32} {
		for _, q := range []float64{1e-300, 1e-17, 1e-9} {
			for _, i := range st.Poisson(nil, n, q) {
				if int(i) >= n || i < 0 {
					t.Errorf("n %d, q %g takes row %d", n, q, i)
				}
			}
		}
	}
}

// poissonPs returns the p-values of the total, of each row's rate, and of
// neighbouring rows taken together, over rounds samples of n rows.
func poissonPs(n, rounds int, sample, claimed float64) (total, rows, pairs float64) {
	st := testStream(fmt.Sprint("poisson", n, sample))
	perRow, dst := make([]int, n), []int32(nil)
	sum, together := 0, 0
	for range rounds {
		dst = st.Poisson(dst, n, sample)
		for j, i := range dst {
			perRow[i]++
			if j > 0 && dst[j-1] == i-1 {
				together++
			}
		}
		sum += len(dst)
	}
	return stattest.Binomial(sum, n*rounds, claimed), stattest.Uniform(perRow), stattest.Binomial(together, (n-1)*rounds,
		claimed*claimed)
}

// TestPoissonRates: false-alarm rate 1e-6 for each of three tests; a rate 1 % off is rejected.
func TestPoissonRates(t *testing.T) {
	for _, c := range []struct {
		n, rounds int
		q         float64
	}{{50, 40000, 0.2}, {50, 40000, 0.3}, {1000, 50000, 0.01}, {7, 200000, 0.999}, {100000, 4000, 0.002},
		{30, 40000, 0.25}} {
		total, rows, pairs := poissonPs(c.n, c.rounds, c.q, c.q)
		if total < stattest.FalseAlarm || rows < stattest.FalseAlarm || pairs < stattest.FalseAlarm {
			t.Errorf("n %d, q %g: p-values %g, %g, %g", c.n, c.q, total, rows, pairs)
		}
		if total, _, _ := poissonPs(c.n, c.rounds, c.q, 0.99*c.q); total >= stattest.FalseAlarm {
			t.Errorf("n %d: q %g passes for %g, p-value %g", c.n, c.q, 0.99*c.q, total)
		}
	}
}

func BenchmarkPoisson(b *testing.B) {
	st, dst := testStream("bench"), []int32(nil)
	for _, q := range []float64{128.0 / 32561, 0.2, 0.5} {
		b.Run(fmt.Sprintf("q=%.3g", q), func(b *testing.B) {
			count := 0
			for b.Loop() {
				dst = st.Poisson(dst, 32561, q)
				count += len(dst)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(count), "ns/row-taken")
		})
	}
}

// gaussianDelta returns the exact delta of the Gaussian mechanism at epsilon for
// sensitivity 1 (Balle, Wang 2018, theorem 8).
func gaussianDelta(sigma, epsilon float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return phi(0.5/sigma-epsilon*sigma) - math.Exp(epsilon)*phi(-0.5/sigma-epsilon*sigma)
}

// latticeAttack releases a sum of contributions with and without the last, by
// the lattice, and returns what thresholding along that contribution proves.
func latticeAttack(t *testing.T, sigma, delta float64) float64 {
	t.Helper()
	const n, dim = 40000, 4
	l, err := NewLattice(1, sigma, dim, 2)
	if err != nil {
		t.Fatal(err)
	}
	var hits [2]int
	for i := range n {
		for side := range hits {
			sum := []float32{0.3, -0.7, 0.1, 2}
			for j := range sum {
				sum[j] += float32(l.Clip/2) * float32(1-side)
			}
			RoundToLattice(sum, l.Step)
			mustStream(NewSource(Key{9}, fmt.Sprint(i, side)), "attack", 0).LatticeGaussian(sum, sigma, l.Step)
			along := (float64(sum[0]) - 0.3 + float64(sum[1]) + 0.7 + float64(sum[2]) - 0.1 + float64(sum[3]) - 2) / 2
			if along > 1 {
				hits[side]++
			}
		}
	}
	return stattest.EpsilonLowerBound(hits[0], hits[1], n, delta)
}

// TestLatticeAttack: the attack stays below the claim of the Gaussian mechanism
// and passes it with half the noise (false-alarm rate 1e-6).
func TestLatticeAttack(t *testing.T) {
	const sigma, epsilon = 1.0, 1.0
	delta := gaussianDelta(sigma, epsilon)
	honest, halved := latticeAttack(t, sigma, delta), latticeAttack(t, sigma/2, delta)
	if honest > epsilon || honest < epsilon/4 || halved <= epsilon {
		t.Errorf("claim (%g, %g): the attack proves %g, with half the noise %g", epsilon, delta, honest, halved)
	}
}
