package mixture

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/internal/stattest"
)

// moments returns mean and variance of n draws.
func moments(n int, draw func() float64) (mean, variance float64) {
	for range n {
		x := draw()
		mean += x
		variance += x * x
	}
	mean /= float64(n)
	return mean, variance/float64(n) - mean*mean
}

// within reports an error where the mean of n draws is over 5.5 standard errors from what it must
// be (false alarm 4e-8 a comparison), or the variance is over 15 percent from its own.
func within(t *testing.T, what string, n int, mean, variance, wantMean, wantVariance float64) {
	t.Helper()
	if math.Abs(mean-wantMean) > 5.5*math.Sqrt(wantVariance/float64(n)) || math.Abs(variance/wantVariance-1) > 0.15 {
		t.Errorf("%s: mean %g, variance %g, must be %g, %g", what, mean, variance, wantMean, wantVariance)
	}
}

// TestLawsHaveTheirMoments: keys are fixed, so this cannot flake.
func TestLawsHaveTheirMoments(t *testing.T) {
	const n = 20000
	r := rand.New(rand.NewPCG(1, 2))
	for _, a := range []float64{0.3, 1, 2.5, 40} {
		mean, variance := moments(n, func() float64 { return math.Exp(logGamma(a, r)) })
		within(t, "gamma", n, mean, variance, a, a)
		h := 1e-3 * a
		mean, variance = moments(n, func() float64 { return logGamma(a, r) })
		within(t, "log gamma", n, mean, variance, digamma(a), (digamma(a+h)-digamma(a-h))/(2*h))
	}
	for _, rate := range []float64{1e-6, 0.4, 9.9, 10, 37, 2000} {
		mean, variance := moments(n, func() float64 { return poisson(rate, r) })
		if rate > 1e-3 {
			within(t, "poisson", n, mean, variance, rate, rate)
		} else if mean > 0.001 {
			t.Errorf("poisson of rate %g: mean %g", rate, mean)
		}
	}
	if x := poisson(1e18, r); x != 1e18 {
		t.Errorf("poisson of rate 1e18 is %g", x)
	}
}

// TestPoissonProbabilities: under a hat counts follow the law, from the rate on where the method
// changes. A false alarm comes once in 2.5e6 runs; a hat of which more is kept without the test
// than lies under the law is found.
func TestPoissonProbabilities(t *testing.T) {
	for seed, rate := range []float64{10, 10.0001, 37, 1000.5} {
		r := rand.New(rand.NewPCG(3, uint64(seed)))
		if p := fitOfHat(newHat(rate), r); p < 1e-7 {
			t.Errorf("counts of rate %v have a chi-squared chance of %g", rate, p)
		}
		wrong := newHat(rate)
		wrong.sure += 0.25
		if p := fitOfHat(wrong, r); p >= 1e-7 {
			t.Errorf("a hat of rate %v that keeps too much passes with %g", rate, p)
		}
	}
}

// fitOfHat returns the chance of counts that fit the law as badly as 600 000 draws do.
func fitOfHat(h hat, r *rand.Rand) float64 {
	const n = 600_000
	least := int(max(0, h.rate-8*math.Sqrt(h.rate)))
	counts := make([]int, int(16*math.Sqrt(h.rate))+20)
	probabilities := make([]float64, len(counts))
	for k := range counts {
		x := float64(least + k)
		probabilities[k] = math.Exp(x*math.Log(h.rate) - h.rate - lgamma(x+1))
	}
	for range n {
		counts[min(max(int(h.draw(r))-least, 0), len(counts)-1)]++
	}
	return stattest.ChiSquare(counts, probabilities, n)
}

// law returns a Predictive of one coin whose logit has mean 0.5 and deviation 1.5.
func law() *Predictive {
	return &Predictive{MixtureShape: MixtureShape{1, []Column{{Family: Bernoulli}}}, Mean: []float32{0.5},
		LogDeviation: []float32{float32(math.Log(1.5))}}
}

// TestEveryRowHasFreshParameters: the share of ones is E[1/(1+exp(-x))], x ~ N(.5, 1.5^2), by
// the trapezoid rule, and their number over tables of 50 rows varies as the number in independent
// rows, p(1-p)50. Rows that shared their parameters would have 50^2 Var(sigmoid) besides, five
// times as much in all.
func TestEveryRowHasFreshParameters(t *testing.T) {
	p := 0.0
	for z := -9.0; z < 9; z += 0.001 {
		p += 0.001 * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / (1 + math.Exp(-0.5-1.5*z))
	}
	r, d, row := rand.New(rand.NewPCG(5, 2)), law(), make([]float64, 1)
	mean, variance := moments(2000, func() float64 {
		ones := 0.0
		for range 50 {
			d.Draw(row, r)
			ones += row[0]
		}
		return ones
	})
	within(t, "ones of 50 rows", 2000, mean, variance, 50*p, 50*p*(1-p))
}

// TestColumnsOfAComponentGoTogether: two components that are told apart by every column, with
// widths of nothing; rows have the values of one or the other.
func TestColumnsOfAComponentGoTogether(t *testing.T) {
	m := MixtureShape{2, []Column{{Family: Bernoulli}, {Family: Categorical, Categories: 3}, {Family: Beta},
		{Family: Normal},
		{Family: Poisson}}}
	mean := []float32{float32(math.Log(3)), 15, -15, 15, 8, 2, -5, -9, -8, -15, 15, -15, 2, 8, 5, -9,
		float32(math.Log(50))}
	narrow := make([]float32, len(mean))
	for i := range narrow {
		narrow[i] = -20
	}
	d := &Predictive{MixtureShape: m, Mean: mean, LogDeviation: narrow}
	r, row, first := rand.New(rand.NewPCG(6, 2)), make([]float64, 5), 0.0
	const n = 4000
	for range n {
		d.Draw(row, r)
		one := row[0] == 1 && row[1] == 1 && row[2] > 0.9 && row[3] < -4 && row[4] == 0
		two := row[0] == 0 && row[1] == 0 && row[2] < 0.1 && row[3] > 4 && row[4] > 10
		if one == two {
			t.Fatalf("row %v is of neither component", row)
		}
		if one {
			first++
		}
	}
	if math.Abs(first/n-0.75) > 5.5*math.Sqrt(0.75*0.25/n) {
		t.Errorf("component 0 has %g of the rows, must have 3/4", first/n)
	}
}

// TestPriorPredictive: a category is as likely as another, a Beta number has mean 1/2, a
// Poisson number of rate Exponential(1) is 0 with probability 1/2 (geometric).
func TestPriorPredictive(t *testing.T) {
	d := &Predictive{MixtureShape: MixtureShape{4, []Column{{Family: Categorical, Categories: 4}, {Family: Beta},
		{Family: Poisson},
		{Family: Normal}, {Family: Bernoulli}}}, Prior: Prior{1, 0.5, 2, 3}}
	const n = 20000
	r, row := rand.New(rand.NewPCG(8, 2)), make([]float64, 5)
	var count [4]float64
	sum := make([]float64, 5)
	for range n {
		d.Draw(row, r)
		count[int(row[0])]++
		for j, v := range row {
			if j == 2 {
				v = math.Min(v, 1)
			}
			sum[j] += v / n
		}
	}
	for _, c := range count {
		if math.Abs(c/n-0.25) > 5.5*math.Sqrt(0.25*0.75/n) {
			t.Errorf("categories come %v times", count)
		}
	}
	for j, tolerance := range map[int]float64{1: 0.02, 2: 0.02, 4: 0.02} {
		if math.Abs(sum[j]-0.5) > tolerance { // 5.6 standard errors of at most 0.5/sqrt(n)
			t.Errorf("column %d has mean %g, must be 1/2", j, sum[j])
		}
	}
	if math.Abs(sum[3]) > 0.07 { // its variance is 1+2
		t.Errorf("the normal column has mean %g", sum[3])
	}
}

// TestSmallShapesAreNumbers: a Beta column whose prior has a small shape is at an end of the
// unit interval, never anything that is not a number. Of parameters exp(-2000) and exp(-2000-ln 3)
// three of four are at 1 (the limit of Beta(a, b) is Bernoulli(a/(a+b))): of 20,000 the share
// is within 6 standard deviations, 2e-9.
func TestSmallShapesAreNumbers(t *testing.T) {
	prior := UniformPrior()
	prior.Shape = 1e-3
	p, r, x := Predictive{MixtureShape: MixtureShape{Components: 2, Columns: []Column{{Family: Beta}}}, Prior: prior},
		rand.New(rand.NewPCG(4, 2)), []float64{0}
	for range 2000 {
		if p.Draw(x, r); !(x[0] >= 0 && x[0] <= 1) {
			t.Fatalf("a number between 0 and 1 is %g", x[0])
		}
	}
	const n = 20000
	ones := 0.0
	for range n {
		ones += p.value(Column{Family: Beta}, []float64{-2000, -2000 - math.Log(3)}, r)
	}
	if share := ones / n; math.Abs(share-0.75) > 6*math.Sqrt(0.75*0.25/n) {
		t.Errorf("%g of the numbers are 1, must be 0.75", share)
	}
}

// mixed returns a mixture of every family, of two components, and its parameters.
func mixed() (MixtureShape, []float32) {
	return MixtureShape{Components: 2, Columns: []Column{{Family: Bernoulli}, {Family: Categorical, Categories: 3},
			{Family: Beta}, {Family: Normal}, {Family: Poisson}}},
		[]float32{0.5, // weight
			-1, 0.5, 1, 0.7, 1.2, -0.2, -1, 0.3,
			1.5, -1, 0, 0.2, -0.5, 0.4, -0.7, 1.1}
}

// quarters returns the spans of mixed: a code, a quarter of the unit interval, a side of 0, and
// 0, 1 or more.
func quarters() [][]Span {
	far := math.Inf(1)
	return [][]Span{{{Lo: 0}, {Lo: 1}}, {{Lo: 0}, {Lo: 1}, {Lo: 2}}, {{Lo: 0, Hi: 0.25}, {Lo: 0.25, Hi: 0.5},
		{Lo: 0.5, Hi: 0.75}, {Lo: 0.75, Hi: far}},
		{{Lo: -far, Hi: 0}, {Lo: 0, Hi: far}}, {{Lo: 0, Hi: 1}, {Lo: 1, Hi: 2}, {Lo: 2, Hi: far}}}
}

// all lists every row of spans, the last column counted up first.
func all(columns [][]Span) (rows [][]Span) {
	if len(columns) == 0 {
		return [][]Span{nil}
	}
	for _, s := range columns[0] {
		for _, rest := range all(columns[1:]) {
			rows = append(rows, append([]Span{s}, rest...))
		}
	}
	return rows
}

// TestFixedIsTheLawOfDrawnRows: over all spans chances sum to 1, and rows that are drawn with these
// parameters (a law without a width) come as often as they say: chi-square over 144 cells at 1e-6.
// The chances of the components exchanged in one column are rejected.
func TestFixedIsTheLawOfDrawnRows(t *testing.T) {
	m, theta := mixed()
	f, sum := m.At(theta), 0.0
	rows := all(quarters())
	chances := make([]float64, len(rows))
	for i, r := range rows {
		chances[i] = math.Exp(f.LogProb(r))
		sum += chances[i]
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("all rows have the chance %.15g, must have 1", sum)
	}
	narrow := make([]float32, len(theta))
	for i := range narrow {
		narrow[i] = -30
	}
	p := Predictive{MixtureShape: m, Mean: theta, LogDeviation: narrow, Prior: UniformPrior()}
	const n = 60000
	seen, dst, r := make([]int, len(rows)), make([]float64, len(m.Columns)), rand.New(rand.NewPCG(3, 3))
	for range n {
		p.Draw(dst, r)
		pos := 0
		for j, spans := range quarters() {
			in := 0
			for i, s := range spans {
				if dst[j] >= s.Lo {
					in = i
				}
			}
			pos = pos*len(spans) + in
		}
		seen[pos]++
	}
	if p := stattest.ChiSquare(seen, chances, n); p < 1e-6 {
		t.Errorf("drawn rows have not these chances: p %g", p)
	}
	wrong := append([]float32(nil), theta...)
	wrong[1], wrong[9] = wrong[9], wrong[1]
	for i, r := range rows {
		chances[i] = math.Exp(m.At(wrong).LogProb(r))
	}
	if p := stattest.ChiSquare(seen, chances, n); p >= 1e-6 {
		t.Errorf("chances of other parameters pass: p %g", p)
	}
}

// TestFixedAtTheEdges: no parameters that a released law may have, and no span, give NaN or a
// chance above 1; a value nowhere near has one below e^-100, and a column that is
// anywhere has no part.
func TestFixedAtTheEdges(t *testing.T) {
	m, theta := mixed()
	for _, size := range []float32{-21, -3, 0, 3, 21} {
		for i := range theta {
			theta[i] = size
		}
		for _, r := range all(quarters()) {
			if log := m.At(theta).LogProb(r); !(log <= 0) {
				t.Fatalf("parameters of %g: log chance %g of %v", size, log, r)
			}
		}
	}
	one := MixtureShape{1, []Column{{Family: Normal}}}
	far := one.At([]float32{0, -3}).LogProb([]Span{{Lo: 0.9, Hi: 0.95}})
	if want := -167.20; math.Abs(far-want) > 0.01 { // Mills: -z^2/2 - ln(z sqrt(2 pi)) at z = 0.9 e^3
		t.Errorf("18 deviations away: log chance %g, must be %g", far, want)
	}
	if any := one.At([]float32{0, -3}).LogProb([]Span{{Any: true}}); any != 0 {
		t.Errorf("anywhere: log chance %g, must be 0", any)
	}
}
