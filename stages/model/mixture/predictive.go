package mixture

import (
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
)

// Predictive is the posterior predictive of a mixture: the law of a row of which nothing but
// the released law of the parameters is known. It reads released numbers alone.
type Predictive struct {
	MixtureShape
	Mean, LogDeviation []float32 // of the parameters; nil: they have the prior
	Prior              Prior

	weights, logits, logs []float64
}

// Draw draws one row: fresh parameters, then a component, then a value of each column: a code,
// or a number, which of a Poisson column is whole. Of the parameters it draws those that the
// row is a function of: the weights, and the component's own. The others are independent of
// both.
func (p *Predictive) Draw(dst []float64, r *rand.Rand) {
	n := p.Components - 1
	p.weights = p.sized(p.weights, n)
	p.dirichlet(p.weights, 0, p.Prior.Weights, r)
	k := p.choose(p.weights, r)
	pos := n + k*p.each()
	for j, c := range p.Columns {
		p.logits = p.sized(p.logits, c.params())
		p.column(c, p.logits, pos, r)
		dst[j] = p.value(c, p.logits, r)
		pos += c.params()
	}
}

func (p *Predictive) sized(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// column draws the parameters of a column, of which the first stands at at.
func (p *Predictive) column(c Column, dst []float64, pos int, r *rand.Rand) {
	switch {
	case c.coded():
		p.dirichlet(dst, pos, p.Prior.Categories, r)
	case p.Mean != nil:
		p.normals(dst, pos, r)
	case c.Family == Beta:
		rate := bitmath.Log(p.Prior.Rate)
		dst[0], dst[1] = logGamma(p.Prior.Shape, r)-rate, logGamma(p.Prior.Shape, r)-rate
	case c.Family == Normal:
		dst[0], dst[1] = bitmath.Normal(r), logGamma(1, r)
	default:
		dst[0] = logGamma(1, r)
	}
}

// dirichlet draws logits: of the released law, or of a Dirichlet prior.
func (p *Predictive) dirichlet(dst []float64, at int, concentration float64, r *rand.Rand) {
	if p.Mean != nil {
		p.normals(dst, at, r)
		return
	}
	last := logGamma(concentration, r)
	for i := range dst {
		dst[i] = logGamma(concentration, r) - last
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
		return float64(1 - p.choose(x, r)) // its logit is for 1, which choose counts first
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

// shapes returns the parameters of a Beta law by their logarithms. A prior of a small shape has
// logarithms of -1e4 and below: then all is at the ends, in the ratio of the two, which larger
// ones of that ratio have too, and those have numbers for inverses.
func shapes(x []float64) (a, b float64) {
	up := max(0, -600-max(x[0], x[1]))
	return max(bitmath.Exp(x[0]+up), 1e-290), max(bitmath.Exp(x[1]+up), 1e-290)
}

// Fixed is a mixture of known parameters.
type Fixed struct {
	table *table
	own   [][]float64 // of each component
}

// At returns the mixture at so many parameters, such as the means of a law.
func (m MixtureShape) At(parameters []float32) *Fixed {
	theta := make([]float64, len(parameters))
	for i, v := range parameters {
		theta[i] = float64(v)
	}
	f := &Fixed{table: newTable(m)}
	f.table.set(theta)
	for k := range m.Components {
		f.own = append(f.own, theta[m.Components-1+k*m.each():][:m.each()])
	}
	return f
}

// Span is where a row lies in a column: from Lo to below Hi, which may be infinite; of a coded
// column Lo is the code, of a Poisson one both are whole.
type Span struct {
	Lo, Hi float64
	Any    bool // anywhere: the row has no value there
}

// LogProb returns the logarithm of the probability that a row lies in the spans of all columns:
// -Inf where it never does, never NaN.
func (f *Fixed) LogProb(row []Span) float64 {
	top, sum := math.Inf(-1), 0.0
	for k, log := range f.table.logits {
		for j, s := range row {
			if !s.Any {
				log += f.log(k, j, s)
			}
		}
		if log > top {
			top, sum = log, 1+float64(sum*bitmath.Exp(top-log))
		} else if log > math.Inf(-1) {
			sum += bitmath.Exp(log - top)
		}
	}
	return min(top+bitmath.Log(max(sum, 1)), 0)
}

// log returns the log probability of a span of a column in component k.
func (f *Fixed) log(k, j int, s Span) float64 {
	t := f.table
	if t.coded[j] {
		return t.logp[(t.first[j]+int(s.Lo))*t.Components+k]
	}
	p := f.own[k][t.at[j]:]
	var inside float64
	switch t.Columns[j].Family {
	case Beta:
		a, b := shapes(p)
		inside = betaBetween(a, b, max(s.Lo, 0), min(s.Hi, 1))
	case Poisson:
		inside = poissonBetween(bitmath.Exp(p[0]), s.Lo, s.Hi)
	default:
		sd := bitmath.Exp(p[1])
		inside = normalBetween((s.Lo-p[0])/sd, (s.Hi-p[0])/sd)
	}
	if !(inside > 0) {
		return math.Inf(-1)
	}
	return bitmath.Log(inside)
}

// Each of these takes the tail in which it lies, so that the difference of two large chances
// is no small one.

func normalBetween(lo, hi float64) float64 {
	if lo+hi < 0 {
		lo, hi = -hi, -lo
	}
	return bitmath.NormalTail(lo) - bitmath.NormalTail(hi)
}

func betaBetween(a, b, lo, hi float64) float64 {
	if float64(lo*(a+b)) > a {
		return bitmath.BetaCDF(b, a, 1-lo) - bitmath.BetaCDF(b, a, 1-hi)
	}
	return bitmath.BetaCDF(a, b, hi) - bitmath.BetaCDF(a, b, lo)
}

// poissonBetween returns one term, or a tail: a Poisson number is below n as a chi-squared one of
// 2n degrees of freedom is above twice the rate.
func poissonBetween(rate, lo, hi float64) float64 {
	if math.IsInf(hi, 1) {
		return 1 - bitmath.ChiSquareTail(int(2*lo), 2*rate)
	}
	return bitmath.Exp(float64(lo*bitmath.Log(rate)) - rate - bitmath.Lgamma(lo+1))
}
