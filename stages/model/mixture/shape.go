package mixture

import (
	"errors"
	"fmt"

	"weir/internal/bitmath"
)

// Family is the law of a column inside a component.
type Family string

const (
	Bernoulli   Family = "bernoulli"
	Categorical Family = "categorical"
	Beta        Family = "beta"
	Normal      Family = "normal"
	Poisson     Family = "poisson"
)

// Column is a column of a mixture.
type Column struct {
	Family     Family `json:"family"`
	Categories int    `json:"categories,omitempty"` // of a categorical one
}

// coded reports whether values are codes, from 0 on.
func (c Column) coded() bool { return c.Family == Bernoulli || c.Family == Categorical }

// codes returns how many values a coded column has.
func (c Column) codes() int {
	if c.Family == Bernoulli {
		return 2
	}
	return c.Categories
}

// params returns the number of its parameters in one component.
func (c Column) params() int {
	switch c.Family {
	case Categorical:
		return c.Categories - 1
	case Beta, Normal:
		return 2
	}
	return 1
}

// MixtureShape is the shape of the mixture model of Jalko, Lagus, Tan, Honkela 2021 (Privacy-preserving data sharing
// via probabilistic modelling): components of independent columns, by unconstrained parameters.
//
// A mixture of K components has the parameters: K-1 logits of the weights (the last is 0),
// then for each component, for each column in order: a Bernoulli column 1 logit; a categorical
// one of c values c-1 logits (the last is 0); a Beta one log a, log b; a normal one mean,
// log standard deviation; a Poisson one log rate.
type MixtureShape struct {
	Components int      `json:"components"`
	Columns    []Column `json:"columns"`
}

// Check names what is out of range.
func (m MixtureShape) Check() error {
	if m.Components < 1 || m.Components > MostComponents {
		return fmt.Errorf("components: are %d, must be from 1 to %d", m.Components, MostComponents)
	}
	for i, c := range m.Columns {
		switch {
		case c.Family == Categorical && (c.Categories < 1 || c.Categories > 1<<16):
			return fmt.Errorf("columns[%d].categories: are %d, must be from 1 to 65536", i, c.Categories)
		case c.Family != Categorical && c.Categories != 0:
			return fmt.Errorf("columns[%d].categories: are %d, must be left out for %s", i, c.Categories, c.Family)
		case c.Family != Categorical && c.Family != Bernoulli && c.Family != Beta && c.Family != Normal &&
			c.Family != Poisson:
			return fmt.Errorf("columns[%d].family: is %.60q, must be bernoulli, categorical, beta, normal or poisson", i,
				c.Family)
		}
	}
	return nil
}

// MostComponents bounds the components of a mixture.
const MostComponents = 1000

// each returns the number of parameters of one component.
func (m MixtureShape) each() int {
	n := 0
	for _, c := range m.Columns {
		n += c.params()
	}
	return n
}

// Params returns the number of parameters.
func (m MixtureShape) Params() int { return m.Components - 1 + m.Components*m.each() }

// cells returns the number of codes of all coded columns.
func (m MixtureShape) cells() int {
	n := 0
	for _, c := range m.Columns {
		if c.coded() {
			n += c.codes()
		}
	}
	return n
}

// Values are a column of rows: the cell of each row. A coded column has its codes for cells
// and no numbers; others have the number of each cell, NaN where there is no value, which
// then has no part in the likelihood.
type Values struct {
	Cells   []uint16
	Numbers []float64
}

// fit returns an error where values cannot be of a column. It names no row and no value.
func (v Values) fit(c Column, rows int) error {
	if len(v.Cells) != rows {
		return fmt.Errorf("has %d values, must have one for each of the rows", len(v.Cells))
	}
	most := len(v.Numbers)
	if c.coded() {
		most = c.codes()
	}
	for _, cell := range v.Cells {
		if int(cell) >= most {
			return fmt.Errorf("holds a cell outside 0 to %d", most-1)
		}
	}
	for _, x := range v.Numbers {
		if x < 0 && c.Family == Poisson || (x <= 0 || x >= 1) && c.Family == Beta {
			return errors.New("holds a number outside what its family can have")
		}
	}
	return nil
}

// Prior is what is known of parameters before any row: Dirichlet(Weights) on the weights,
// Dirichlet(Categories) on the probabilities of categories (Beta of both on the probability of a
// Bernoulli column), Gamma(Shape, Rate) on both parameters of a Beta column, N(0, 1) on the
// mean of a normal column and Exponential(1) on its standard deviation, and Exponential(1)
// on the rate of a Poisson column.
type Prior struct {
	Weights    float64 `yaml:"weights" json:"weights" min:"1e-3" max:"1e3" doc:"Dirichlet concentration of the weights of components."`
	Categories float64 `yaml:"categories" json:"categories" min:"1e-3" max:"1e3" doc:"Dirichlet concentration of the categories of a column; 1 is uniform."`
	Shape      float64 `yaml:"shape" json:"shape" min:"1e-3" max:"1e3" doc:"Shape of the Gamma prior of both parameters of a Beta column."`
	Rate       float64 `yaml:"rate" json:"rate" min:"1e-3" max:"1e3" doc:"Rate of that Gamma prior."`
}

// UniformPrior returns the prior of the paper, with Gamma(1, 1) on the parameters of Beta columns.
func UniformPrior() Prior { return Prior{Weights: 1, Categories: 1, Shape: 1, Rate: 1} }

// Check names what is out of range.
func (p Prior) Check() error {
	for i, v := range [...]float64{p.Weights, p.Categories, p.Shape, p.Rate} {
		if !(v >= 1e-3 && v <= 1e3) {
			return fmt.Errorf("prior: %s: is %g, must be from 0.001 to 1000", [...]string{"weights", "categories", "shape",
				"rate"}[i], v)
		}
	}
	return nil
}

// Gradient returns a train.LogPrior of the parameters of all strata. Densities are of the
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
func (p Prior) gradient(t *table, dst, theta []float64) {
	n, times := t.Components-1, t.times
	dirichlet(p.Weights, dst[:n], times)
	for dst, theta, times = dst[n:], theta[n:], times[n:]; len(dst) > 0; {
		for _, c := range t.Columns {
			p.column(c, dst, theta, times)
			dst, theta, times = dst[c.params():], theta[c.params():], times[c.params():]
		}
	}
}

// column writes the gradient by the parameters of one column, which come first.
func (p Prior) column(c Column, dst, theta, times []float64) {
	switch c.Family {
	case Bernoulli, Categorical:
		dirichlet(p.Categories, dst[:c.params()], times)
	case Beta:
		dst[0], dst[1] = p.Shape-float64(p.Rate*bitmath.Exp(theta[0])), p.Shape-float64(p.Rate*bitmath.Exp(theta[1]))
	case Normal:
		dst[0], dst[1] = -theta[0], 1-bitmath.Exp(theta[1])
	case Poisson:
		dst[0] = 1 - bitmath.Exp(theta[0])
	}
}

// dirichlet writes the gradient of a Dirichlet prior by its logits, from the number of categories times the probability
// of each.
func dirichlet(a float64, to, times []float64) {
	for i := range to {
		to[i] = a * (1 - times[i])
	}
}
