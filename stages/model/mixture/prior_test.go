package mixture

import (
	"math"
	"math/rand/v2"
	"testing"
)

// logPrior returns the density of unconstrained parameters, Jacobians included, written out: what
// Prior.gradient is the gradient of.
func logPrior(p Prior, m MixtureShape, theta []float64) (log float64) {
	n := m.Components - 1
	log = logDirichlet(p.Weights, theta[:n])
	for theta = theta[n:]; len(theta) > 0; {
		for _, c := range m.Columns {
			switch c.Family {
			case Bernoulli, Categorical:
				log += logDirichlet(p.Categories, theta[:c.params()])
			case Beta:
				for _, v := range theta[:2] {
					log += p.Shape*math.Log(p.Rate) - lgamma(p.Shape) + p.Shape*v - p.Rate*math.Exp(v)
				}
			case Normal:
				log += -theta[0]*theta[0]/2 - math.Log(2*math.Pi)/2 + theta[1] - math.Exp(theta[1])
			case Poisson:
				log += theta[0] - math.Exp(theta[0])
			}
			theta = theta[c.params():]
		}
	}
	return log
}

// logDirichlet returns the density of the logits of probabilities that are Dirichlet(a): the
// Jacobian of the logits, of which the last is 0, is the product of all probabilities.
func logDirichlet(a float64, logits []float64) float64 {
	total := 1.0
	for _, v := range logits {
		total += math.Exp(v)
	}
	k := float64(len(logits) + 1)
	log := lgamma(a*k) - k*lgamma(a) - a*k*math.Log(total)
	for _, v := range logits {
		log += a * v
	}
	return log
}

func lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// every returns a mixture with a column of each family.
func every() MixtureShape {
	return MixtureShape{3, []Column{{Family: Bernoulli}, {Family: Categorical, Categories: 4}, {Family: Beta},
		{Family: Normal},
		{Family: Poisson}, {Family: Categorical, Categories: 1}}}
}

func somewhere(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	theta := make([]float64, n)
	for i := range theta {
		theta[i] = r.NormFloat64()
	}
	return theta
}

// TestPriorGradient: under priors that are not uniform, against central differences, which
// err by about 1e-9.
func TestPriorGradient(t *testing.T) {
	m, p := every(), Prior{Weights: 0.4, Categories: 2.5, Shape: 3, Rate: 0.7}
	theta := somewhere(m.Params(), 1)
	got := make([]float64, len(theta))
	at := newTable(m)
	at.set(theta)
	p.gradient(at, got, theta)
	near(t, "gradient", got, differences(theta, func() float64 { return logPrior(p, m, theta) }), 1e-7, 1e-7)
}

// TestPriorOfWeights: the prior of an objective has the gradient at the weights that it is given, whatever weights
// the objective was prepared at, none at first.
func TestPriorOfWeights(t *testing.T) {
	m, p := every(), Prior{Weights: 0.4, Categories: 2.5, Shape: 3, Rate: 0.7}
	o := objectiveOf(t, m, rowsOfEvery(), make([]float64, m.Params()))
	o.tables[0] = newTable(m) // as before the first step
	for seed := range uint64(3) {
		w := make([]float32, m.Params())
		theta := make([]float64, len(w))
		for i, v := range somewhere(len(w), seed) {
			if seed > 0 { // the first are 0, as before any
				w[i] = float32(v)
			}
			theta[i] = float64(w[i])
		}
		if seed == 2 {
			o.Prepare(w)
		}
		got := make([]float64, len(w))
		o.Gradient(p)(got, w)
		near(t, "gradient", got, differences(theta, func() float64 { return logPrior(p, m, theta) }), 1e-7, 1e-7)
	}
}

// differences returns central differences of f in each of theta.
func differences(theta []float64, f func() float64) []float64 {
	const h = 1e-5
	out := make([]float64, len(theta))
	for i, v := range theta {
		theta[i] = v + h
		up := f()
		theta[i] = v - h
		out[i] = (up - f()) / (2 * h)
		theta[i] = v
	}
	return out
}

// TestDigamma: at 1, 1/2 and 10 by closed forms (Abramowitz, Stegun 6.3.2, 6.3.3), elsewhere
// as the difference of lgamma.
func TestDigamma(t *testing.T) {
	const euler = 0.57721566490153286
	near(t, "digamma", []float64{digamma(1), digamma(0.5), digamma(10)},
		[]float64{-euler, -euler - 2*math.Ln2, -euler + 1 + 1./2 + 1./3 + 1./4 + 1./5 + 1./6 + 1./7 + 1./8 + 1./9}, 1e-14, 0)
	for x := 1e-3; x < 1e4; x *= 1.7 {
		h := 1e-4 * x
		near(t, "digamma", []float64{digamma(x)}, []float64{(lgamma(x+h) - lgamma(x-h)) / (2 * h)}, 1e-6, 1e-6)
	}
}

// rowsOfEvery returns test rows of every(): one of usual values, one without its Beta number, one at the ends.
func rowsOfEvery() [][]float64 {
	return [][]float64{{1, 2, 0.3, -0.4, 2, 0}, {0, 3, math.NaN(), 1.5, 0, 0}, {1, 0, 1e-6, -1, 40, 0}}
}

// TestGradientIsThatOfTheDensity: of every family, against central differences, and the
// squared norm is the squared norm of the gradient.
func TestGradientIsThatOfTheDensity(t *testing.T) {
	m := every()
	for seed := range uint64(3) {
		theta := somewhere(m.Params(), seed)
		o := objectiveOf(t, m, rowsOfEvery(), theta)
		for row := range int32(3) {
			gradient, square, _, _ := gradientOf(o, row)
			want := differences(theta, func() float64 {
				o.set(theta)
				_, _, _, log := gradientOf(o, row)
				return -log
			})
			o.set(theta)
			near(t, "gradient", gradient, want, 1e-6, 1e-6)
			sum := 0.0
			for _, v := range gradient {
				sum += v * v
			}
			near(t, "squared norm", []float64{square}, []float64{sum}, 1e-12, 1e-12)
		}
	}
}

// TestAbsentNumberSaysNothing: the density of a row without its Beta number is the sum over
// what it could have been, so the density under the mixture without the column.
func TestAbsentNumberSaysNothing(t *testing.T) {
	m := MixtureShape{2, []Column{{Family: Bernoulli}, {Family: Beta}}}
	theta := []float64{0.3, 1, 0.2, 0.4, -1, 0.7, -0.3}
	_, _, _, log := gradientOf(objectiveOf(t, m, [][]float64{{1, math.NaN()}}, theta), 0)
	_, _, _, without := gradientOf(objectiveOf(t, MixtureShape{2, m.Columns[:1]}, [][]float64{{1}}, []float64{0.3, 1, -1}),
		0)
	near(t, "log density", []float64{log}, []float64{without}, 1e-15, 0)
}

// strataOf returns two strata: the second has no Beta column.
func strataOf(t *testing.T) *Objective {
	m := MixtureShape{2, []Column{{Family: Bernoulli}, {Family: Beta}}}
	values := []Values{{Cells: []uint16{0, 1, 1, 0}}, {Cells: []uint16{0, 1, 2, 0}, Numbers: []float64{0.2, 0.5, 0.9}}}
	o, err := NewObjective([]Stratum{{m, []int{0, 1}}, {MixtureShape{2, m.Columns[:1]}, []int{0}}}, values,
		[]uint16{0, 1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestStrataAreApart: a row's gradient is the gradient of its own stratum, and zero elsewhere; what
// is fixed there has no parameter.
func TestStrataAreApart(t *testing.T) {
	o := strataOf(t)
	if o.Params() != 7+3 {
		t.Fatalf("%d parameters, must be 10", o.Params())
	}
	theta := somewhere(10, 4)
	o.set(theta)
	for row, stratum := range []int{0, 1, 0, 1} {
		gradient, _, _, _ := gradientOf(o, int32(row))
		for i, v := range gradient {
			if own := i < 7 == (stratum == 0); own == (v == 0) {
				t.Errorf("row %d of stratum %d: gradient %d is %g", row, stratum, i, v)
			}
		}
	}
}

// TestWorkerIsTheSumOfRows: a chunk's scaled sum is the sum of its rows' gradients, to the last
// bits of float32; rows of all strata, some not at all.
func TestWorkerIsTheSumOfRows(t *testing.T) {
	o := strataOf(t)
	w := make([]float32, o.Params())
	for i, v := range somewhere(len(w), 4) {
		w[i] = float32(v)
	}
	o.Prepare(w)
	index, scale := []int32{3, 0, 2, 1, 2}, []float32{0.5, 1, 0, 0.25, 1}
	want := make([]float64, len(w))
	for i, row := range index {
		g, _, _, _ := gradientOf(o, row)
		for j, v := range g {
			want[j] += float64(scale[i]) * v
		}
	}
	k, got := o.Worker(8), make([]float32, len(w))
	k.Run(w, index, nil, nil)
	k.Accumulate(got, scale)
	for j := range want {
		near(t, "sum", []float64{float64(got[j])}, want[j:j+1], 1e-6, 1e-7)
	}
}

// TestRefusesWhatIsNoRow: codes, strata and numbers that no row can have.
func TestRefusesWhatIsNoRow(t *testing.T) {
	beta, coin := MixtureShape{1, []Column{{Family: Beta}}}, MixtureShape{1, []Column{{Family: Bernoulli}}}
	for name, c := range map[string]struct {
		m  MixtureShape
		v  Values
		of uint16
	}{
		"a code":         {coin, Values{Cells: []uint16{2}}, 0},
		"a stratum":      {coin, Values{Cells: []uint16{1}}, 1},
		"a Beta number":  {beta, Values{Cells: []uint16{0}, Numbers: []float64{1}}, 0},
		"a missing row":  {coin, Values{}, 0},
		"no components":  {MixtureShape{0, coin.Columns}, Values{Cells: []uint16{1}}, 0},
		"another family": {MixtureShape{1, []Column{{Family: "gamma"}}}, Values{Cells: []uint16{1}}, 0},
		"no categories":  {MixtureShape{1, []Column{{Family: Categorical}}}, Values{Cells: []uint16{0}}, 0},
		"a negative rate": {MixtureShape{1, []Column{{Family: Poisson}}}, Values{Cells: []uint16{0}, Numbers: []float64{-1}},
			0},
	} {
		if _, err := NewObjective([]Stratum{{c.m, []int{0}}}, []Values{c.v}, []uint16{c.of}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	two := []Stratum{{coin, []int{0}}, {MixtureShape{1, []Column{{Family: Categorical, Categories: 3}}}, []int{0}}}
	if _, err := NewObjective(two, []Values{{Cells: []uint16{1}}}, []uint16{0}); err == nil ||
		err.Error() != "stratum 1: column 0: is categorical, must be bernoulli as in an earlier stratum" {
		t.Errorf("a column that is another one in a second stratum: %v", err)
	}
	two[1] = two[0]
	if _, err := NewObjective(two, []Values{{Cells: []uint16{1}}}, []uint16{1}); err != nil {
		t.Errorf("a column of two strata: %v", err)
	}
}
