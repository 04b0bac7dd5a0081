package posterior

import (
	"math"
	"math/rand/v2"
	"testing"
)

// logPrior is the density of unconstrained parameters, Jacobians included, written out: what
// Prior.gradient is the gradient of.
func logPrior(p Prior, m Mixture, theta []float64) (log float64) {
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

// logDirichlet is the density of the logits of probabilities that are Dirichlet(a): the
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

// every is a mixture with a column of each family.
func every() Mixture {
	return Mixture{3, []Column{{Family: Bernoulli}, {Family: Categorical, Categories: 4}, {Family: Beta}, {Family: Normal}, {Family: Poisson}, {Family: Categorical, Categories: 1}}}
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

// differences are central differences of f in each of theta.
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
