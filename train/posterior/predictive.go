package posterior

import (
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
)

// Predictive is the posterior predictive of a mixture: the law of a row of which nothing but
// the released law of the parameters is known. It reads released numbers alone.
type Predictive struct {
	Mixture
	Mean, LogDeviation []float32 // of the parameters; nil: they have the prior
	Prior              Prior

	weights, logits, logs []float64
}

// Draw draws one row: fresh parameters, then a component, then a value of each column: a code,
// or a number, which of a Poisson column is whole. Of the parameters it draws those that the
// row is a function of: the weights, and the component's own. The others are independent of
// both.
func (p *Predictive) Draw(to []float64, r *rand.Rand) {
	n := p.Components - 1
	p.weights = p.sized(p.weights, n)
	p.dirichlet(p.weights, 0, p.Prior.Weights, r)
	k := p.choose(p.weights, r)
	at := n + k*p.each()
	for j, c := range p.Columns {
		p.logits = p.sized(p.logits, c.params())
		p.column(c, p.logits, at, r)
		to[j] = p.value(c, p.logits, r)
		at += c.params()
	}
}

func (p *Predictive) sized(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// column draws the parameters of a column, of which the first stands at at.
func (p *Predictive) column(c Column, to []float64, at int, r *rand.Rand) {
	switch {
	case c.coded():
		p.dirichlet(to, at, p.Prior.Categories, r)
	case p.Mean != nil:
		p.normals(to, at, r)
	case c.Family == Beta:
		rate := bitmath.Log(p.Prior.Rate)
		to[0], to[1] = logGamma(p.Prior.Shape, r)-rate, logGamma(p.Prior.Shape, r)-rate
	case c.Family == Normal:
		to[0], to[1] = bitmath.Normal(r), logGamma(1, r)
	default:
		to[0] = logGamma(1, r)
	}
}

// dirichlet draws logits: of the released law, or of a Dirichlet prior.
func (p *Predictive) dirichlet(to []float64, at int, concentration float64, r *rand.Rand) {
	if p.Mean != nil {
		p.normals(to, at, r)
		return
	}
	last := logGamma(concentration, r)
	for i := range to {
		to[i] = logGamma(concentration, r) - last
	}
}

func (p *Predictive) normals(to []float64, at int, r *rand.Rand) {
	for i := range to {
		to[i] = float64(p.Mean[at+i]) + float64(bitmath.Exp(float64(p.LogDeviation[at+i]))*bitmath.Normal(r))
	}
}

// choose draws one of len(logits)+1 categories, the last of which has the logit 0.
func (p *Predictive) choose(logits []float64, r *rand.Rand) int {
	top, total := 0.0, 0.0
	for _, v := range logits {
		top = math.Max(top, v)
	}
	p.logs = p.sized(p.logs, len(logits))
	for i, v := range logits {
		p.logs[i] = bitmath.Exp(v - top)
		total += p.logs[i]
	}
	total += bitmath.Exp(-top)
	u := float64(r.Float64() * total)
	for i, v := range p.logs {
		if u -= v; u < 0 {
			return i
		}
	}
	return len(logits)
}

// value draws a value of a column with unconstrained parameters x.
func (p *Predictive) value(c Column, x []float64, r *rand.Rand) float64 {
	switch c.Family {
	case Bernoulli:
		return float64(1 - p.choose(x, r)) // its logit is that of 1, which choose counts first
	case Categorical:
		return float64(p.choose(x, r))
	case Beta:
		a, b := shapes(x)
		return 1 / (1 + bitmath.Exp(logGamma(b, r)-logGamma(a, r)))
	case Normal:
		return x[0] + float64(bitmath.Exp(x[1])*bitmath.Normal(r))
	}
	return poisson(bitmath.Exp(x[0]), r)
}

// shapes are the parameters of a Beta law by their logarithms. A prior of a small shape has
// logarithms of -1e4 and below: then all is at the ends, in the ratio of the two, which larger
// ones of that ratio have too, and those have numbers for inverses.
func shapes(x []float64) (a, b float64) {
	up := max(0, -600-max(x[0], x[1]))
	return max(bitmath.Exp(x[0]+up), 1e-290), max(bitmath.Exp(x[1]+up), 1e-290)
}
