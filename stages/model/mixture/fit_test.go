package mixture

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/train"
)

// fitted returns the law that is learned of rows without privacy, from means of 0 and a wide start.
func fitted(t *testing.T, m MixtureShape, p Prior, rows [][]float64, steps int, rate float64) train.MeanField {
	t.Helper()
	start := train.MeanField{Mean: make([]float32, m.Params()), LogDeviation: make([]float32, m.Params())}
	for i := range start.LogDeviation {
		start.LogDeviation[i] = -1
	}
	return fittedFrom(t, objectiveOf(t, m, rows, make([]float64, m.Params())), p, 1, start, len(rows), steps, rate)
}

// fittedFrom starts at a given law, and counts the prior several times.
func fittedFrom(t *testing.T, o *Objective, p Prior, times float64, start train.MeanField, n, steps int,
	rate float64) train.MeanField {
	t.Helper()
	c := train.DPSGD{MaxGradNorm: math.Inf(1), SamplingRate: 1, ExpectedBatchSize: float64(n), Steps: steps}
	paid := privacy.Open(privacy.Opening{Spend: "train", Mechanism: c, Source: noise.NewSource(noise.Key{1}, "train")})
	fit := train.FitConfig{Optimiser: train.Adam(rate, 0.9, 0.999), Average: 0.995}
	prior := func(gradient []float64, w []float32) {
		o.Gradient(p)(gradient, w)
		for i := range gradient {
			gradient[i] *= times
		}
	}
	law, err := train.FitMeanField(context.Background(), fit, o, prior, start, n, 3, paid, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	return law
}

// repeated returns rows of one column.
func repeated(of map[float64]int) (rows [][]float64) {
	for value := range 10 {
		for range of[float64(value)] {
			rows = append(rows, []float64{float64(value)})
		}
	}
	return rows
}

// TestCategoricalPosterior: of 50, 30 and 20 rows under Dirichlet(2) the posterior is
// Dirichlet(52, 32, 22). Log(p1/p3) and log(p2/p3) have means psi(52)-psi(22) and
// psi(32)-psi(22); the independent normals nearest to it have the inverse roots of the
// diagonal of the precision, 106 p(1-p), for deviations (Bishop 2006, section 10.1.2).
func TestCategoricalPosterior(t *testing.T) {
	law := fitted(t, MixtureShape{1, []Column{{Family: Categorical, Categories: 3}}}, Prior{1, 2, 1, 1},
		repeated(map[float64]int{0: 50, 1: 30, 2: 20}), 3000, 0.02)
	for j, a := range []float64{52, 32} {
		mean, p := digamma(a)-digamma(22), a/106
		sd := 1 / math.Sqrt(106*p*(1-p))
		if got := float64(law.Mean[j]); math.Abs(got-mean) > 0.03 {
			t.Errorf("logit %d has mean %g, must be near %g", j, got, mean)
		}
		if got := math.Exp(float64(law.LogDeviation[j])); math.Abs(got/sd-1) > 0.08 {
			t.Errorf("logit %d has deviation %g, must be near %g", j, got, sd)
		}
	}
}

// TestPoissonPosterior: of 40 numbers with sum 120 under Exponential(1) the posterior of the
// rate is Gamma(121, 41): its logarithm has mean psi(121)-log 41 and deviation
// sqrt(psi'(121)) = 0.0911.
func TestPoissonPosterior(t *testing.T) {
	law := fitted(t, MixtureShape{1, []Column{{Family: Poisson}}}, UniformPrior(),
		repeated(map[float64]int{2: 10, 3: 20, 4: 10}),
		3000, 0.02)
	mean, sd := digamma(121)-math.Log(41), 0.0911
	if math.Abs(float64(law.Mean[0])-mean) > 0.02 || math.Abs(math.Exp(float64(law.LogDeviation[0]))/sd-1) > 0.1 {
		t.Errorf("law %v, must be near %g, %g", law, mean, math.Log(sd))
	}
}

// TestBernoulliPosterior: of 30 ones of 40 under Beta(1, 1) the posterior is Beta(31, 11):
// the logit has mean psi(31)-psi(11) and deviation sqrt(psi'(31)+psi'(11)) = 0.3577.
func TestBernoulliPosterior(t *testing.T) {
	law := fitted(t, MixtureShape{1, []Column{{Family: Bernoulli}}}, UniformPrior(),
		repeated(map[float64]int{0: 10, 1: 30}), 3000,
		0.02)
	mean, sd := digamma(31)-digamma(11), 0.3577
	if math.Abs(float64(law.Mean[0])-mean) > 0.03 || math.Abs(math.Exp(float64(law.LogDeviation[0]))/sd-1) > 0.1 {
		t.Errorf("law %v, must be near %g, %g", law, mean, math.Log(sd))
	}
}

// TestMixtureFindsItsComponents: two groups of rows that no column tells apart alone are two
// components again, whichever is first.
func TestMixtureFindsItsComponents(t *testing.T) {
	r, rows := rand.New(rand.NewPCG(1, 1)), [][]float64(nil)
	for i := range 400 {
		group := float64(i % 4 / 3) // three in four are of group 0
		row := make([]float64, 6)
		for j := range row {
			if row[j] = group; r.Float64() < 0.1 {
				row[j] = 1 - group
			}
		}
		rows = append(rows, row)
	}
	m := MixtureShape{2, make([]Column, 6)}
	for j := range m.Columns {
		m.Columns[j].Family = Bernoulli
	}
	o := objectiveOf(t, m, rows, make([]float64, m.Params()))
	c := train.DPSGD{MaxGradNorm: math.Inf(1), SamplingRate: 0.25, ExpectedBatchSize: 100, Steps: 2000}
	paid := privacy.Open(privacy.Opening{Spend: "train", Mechanism: c, Source: noise.NewSource(noise.Key{1}, "train")})
	start := train.MeanField{Mean: make([]float32, m.Params()), LogDeviation: make([]float32, m.Params())}
	train.StandardNormal(start.Mean, r)
	for i := range start.Mean {
		start.Mean[i], start.LogDeviation[i] = start.Mean[i]/5, -2
	}
	law, err := train.FitMeanField(context.Background(), train.FitConfig{Optimiser: train.Adam(0.02, 0.9, 0.999)}, o,
		o.Gradient(UniformPrior()), start, 400, 3, paid, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	share := 1 / (1 + math.Exp(-float64(law.Mean[0])))
	large := 0
	if share < 0.5 {
		share, large = 1-share, 1
	}
	if math.Abs(share-0.75) > 0.05 {
		t.Errorf("the larger component has %g, must have about 3/4", share)
	}
	for j := range 6 {
		for k := range 2 {
			p, want := 1/(1+math.Exp(-float64(law.Mean[1+6*k+j]))), 0.9
			if k == large {
				want = 0.1
			}
			if math.Abs(p-want) > 0.08 {
				t.Errorf("component %d, column %d: probability %g, must be about %g", k, j, p, want)
			}
		}
	}
}

// TestCalibration is simulation-based calibration (Talts et al. 2018): of 250 coins that are
// drawn from the prior Beta(5, 5) and flipped 60 times, the place of the true logit in the
// law that is learned from the flips is uniform: chi-square over 10 bins below 45.08, which a
// uniform one exceeds with probability 9e-7. Laws half as wide, as of an entropy that weighs
// too little, fail.
func TestCalibration(t *testing.T) {
	m, p := MixtureShape{1, []Column{{Family: Bernoulli}}}, Prior{1, 5, 1, 1}
	r := rand.New(rand.NewPCG(4, 1))
	var truth, mean, sd []float64
	for range 250 {
		x := logGamma(5, r) - logGamma(5, r)
		heads := 0
		for range 60 {
			if r.Float64() < 1/(1+math.Exp(-x)) {
				heads++
			}
		}
		law := fitted(t, m, p, repeated(map[float64]int{0: 60 - heads, 1: heads}), 400, 0.05)
		truth, mean, sd = append(truth, x), append(mean, float64(law.Mean[0])),
			append(sd, math.Exp(float64(law.LogDeviation[0])))
	}
	uneven := func(width func(i int) float64) float64 {
		var bins [10]float64
		for i, x := range truth {
			place := bitmath.NormalTail(-(x - mean[i]) / width(i))
			bins[min(9, int(10*place))]++
		}
		chi := 0.0
		for _, n := range bins {
			chi += (n - 25) * (n - 25) / 25
		}
		return chi
	}
	if chi := uneven(func(i int) float64 { return sd[i] }); chi > 45.08 {
		t.Errorf("places of the truth are not uniform: chi-square %g", chi)
	}
	if chi := uneven(func(i int) float64 { return sd[i] / 2 }); chi < 45.08 {
		t.Errorf("laws half as wide pass: chi-square %g", chi)
	}
}

// adult returns an objective of the shape of Jalko et al. 2021 on Adult: two strata by income, 10
// components each, 12 columns of the paper's widths, 30,162 made-up rows.
func adult(tb testing.TB) *Objective {
	const rows = 30162
	m := MixtureShape{Components: 10, Columns: []Column{{Family: Beta}, {Family: Beta}, {Family: Bernoulli}}}
	for _, c := range []int{7, 16, 7, 14, 6, 5, 16, 16, 16, 41} {
		m.Columns = append(m.Columns, Column{Categorical, c})
	}
	r := rand.New(rand.NewPCG(1, 1))
	var values []Values
	var places []int
	for j, c := range m.Columns {
		v, cells := Values{Cells: make([]uint16, rows)}, 73
		if c.coded() {
			cells = c.codes()
		} else {
			for i := range cells {
				v.Numbers = append(v.Numbers, (float64(i)+0.5)/73)
			}
		}
		for i := range v.Cells {
			v.Cells[i] = uint16(r.IntN(cells))
		}
		values, places = append(values, v), append(places, j)
	}
	items := make([]uint16, rows)
	for i := range items {
		items[i] = uint16(r.IntN(4) / 3)
	}
	o, err := NewObjective([]Stratum{{m, places}, {m, places}}, values, items)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// BenchmarkStep is a step of the training on Adult: 151 rows in the mean. private is what a
// spec runs; plain has neither clip nor noise.
func BenchmarkStep(b *testing.B) {
	for name, c := range map[string]train.DPSGD{"private": {MaxGradNorm: 2, NoiseMultiplier: 2},
		"plain": {MaxGradNorm: math.Inf(1)}} {
		b.Run("mixture/"+name, func(b *testing.B) {
			o := adult(b)
			c.SamplingRate, c.ExpectedBatchSize, c.Steps = 0.005, 151, b.N
			paid := privacy.Open(privacy.Opening{Spend: "train", Mechanism: c, Source: noise.NewSource(noise.Key{1}, "train")})
			start := train.MeanField{Mean: make([]float32, o.Params()), LogDeviation: make([]float32, o.Params())}
			b.ResetTimer()
			if _, err := train.FitMeanField(context.Background(), train.FitConfig{Optimiser: train.Adam(5e-4, 0.9, 0.999)}, o,
				o.Gradient(UniformPrior()), start, 30162, 1, paid, train.Hooks{}); err != nil {
				b.Fatal(err)
			}
		})
	}
}
