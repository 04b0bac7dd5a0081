package posterior

import (
	"fmt"

	"weir/internal/bitmath"
)

// Prior is what is known of parameters before any row: Dirichlet(Weights) on the weights,
// Dirichlet(Categories) on the probabilities of categories (Beta of both on that of a
// Bernoulli column), Gamma(Shape, Rate) on both parameters of a Beta column, N(0, 1) on the
// mean of a normal column and Exponential(1) on its standard deviation, and Exponential(1)
// on the rate of a Poisson column.
type Prior struct {
	Weights    float64 `yaml:"weights" json:"weights" min:"1e-3" max:"1e3" doc:"Dirichlet concentration of the weights of components."`
	Categories float64 `yaml:"categories" json:"categories" min:"1e-3" max:"1e3" doc:"Dirichlet concentration of the categories of a column; 1 is uniform."`
	Shape      float64 `yaml:"shape" json:"shape" min:"1e-3" max:"1e3" doc:"Shape of the Gamma prior of both parameters of a Beta column."`
	Rate       float64 `yaml:"rate" json:"rate" min:"1e-3" max:"1e3" doc:"Rate of that Gamma prior."`
}

// Uniform is the prior of the paper, with Gamma(1, 1) on the parameters of Beta columns.
func Uniform() Prior { return Prior{Weights: 1, Categories: 1, Shape: 1, Rate: 1} }

// Check names what is out of range.
func (p Prior) Check() error {
	for i, v := range [...]float64{p.Weights, p.Categories, p.Shape, p.Rate} {
		if !(v >= 1e-3 && v <= 1e3) {
			return fmt.Errorf("prior: %s: is %g, must be from 0.001 to 1000", [...]string{"weights", "categories", "shape", "rate"}[i], v)
		}
	}
	return nil
}

// Gradient is a train.LogPrior of the parameters of all strata. Densities are of the
// unconstrained parameters, so that Jacobians are in it: of logits, Dirichlet(a) has the
// gradient a (1 - n p) where n is the number of categories.
func (o *Objective) Gradient(p Prior) func(gradient []float64, w []float32) {
	return func(gradient []float64, w []float32) {
		if !o.prepared(w) {
			o.Prepare(w)
		}
		for s, m := range o.strata {
			n := m.Params()
			p.gradient(o.tables[s], gradient[o.from[s]:][:n], o.theta[o.from[s]:][:n])
		}
	}
}

// gradient writes the gradient of one mixture, by its parameters theta, at which its table stands.
func (p Prior) gradient(t *table, to, theta []float64) {
	n, times := t.Components-1, t.times
	dirichlet(p.Weights, to[:n], times)
	for to, theta, times = to[n:], theta[n:], times[n:]; len(to) > 0; {
		for _, c := range t.Columns {
			p.column(c, to, theta, times)
			to, theta, times = to[c.params():], theta[c.params():], times[c.params():]
		}
	}
}

// column writes the gradient by the parameters of one column, which come first.
func (p Prior) column(c Column, to, theta, times []float64) {
	switch c.Family {
	case Bernoulli, Categorical:
		dirichlet(p.Categories, to[:c.params()], times)
	case Beta:
		to[0], to[1] = p.Shape-float64(p.Rate*bitmath.Exp(theta[0])), p.Shape-float64(p.Rate*bitmath.Exp(theta[1]))
	case Normal:
		to[0], to[1] = -theta[0], 1-bitmath.Exp(theta[1])
	case Poisson:
		to[0] = 1 - bitmath.Exp(theta[0])
	}
}

// dirichlet writes the gradient of a Dirichlet prior by its logits, from the number of categories times the probability of each.
func dirichlet(a float64, to, times []float64) {
	for i := range to {
		to[i] = a * (1 - times[i])
	}
}
