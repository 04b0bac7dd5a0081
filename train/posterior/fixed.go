package posterior

import (
	"math"

	"weir/internal/bitmath"
)

// Fixed is a mixture of known parameters.
type Fixed struct {
	table *table
	own   [][]float64 // of each component
}

// At is the mixture at so many parameters, such as the means of a law.
func (m Mixture) At(parameters []float32) *Fixed {
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

// LogProb is the logarithm of the probability that a row lies in the spans of all columns:
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

// log is that of a column in component k.
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

// poissonBetween is one term, or a tail: a Poisson number is below n as a chi-squared one of
// 2n degrees of freedom is above twice the rate.
func poissonBetween(rate, lo, hi float64) float64 {
	if math.IsInf(hi, 1) {
		return 1 - bitmath.ChiSquareTail(int(2*lo), 2*rate)
	}
	return bitmath.Exp(float64(lo*bitmath.Log(rate)) - rate - bitmath.Lgamma(lo+1))
}
