package distance

import (
	"errors"

	"weir/internal/bitmath"
)

// ChiSquare is a chi-square test: P is the chance of a statistic at least as
// large where both tables are drawn from one distribution.
type ChiSquare struct {
	Statistic, P float64
	DoF          int
}

var (
	errOneValue = errors.New("one value only, so that there is nothing to test")
	errEmpty    = errors.New("a table has no rows")
)

// TwoSample tests the 2 by k table of counts; values that occur in neither
// table are dropped, no Yates correction (scipy chi2_contingency).
func TwoSample(real, synth []int64) (ChiSquare, error) {
	n, m := total(real), total(synth)
	if n == 0 || m == 0 {
		return ChiSquare{}, errEmpty
	}
	c, values := ChiSquare{}, 0
	for i, a := range real {
		both := float64(a + synth[i])
		if both == 0 {
			continue
		}
		values++
		ea, eb := both*n/(n+m), both*m/(n+m)
		c.Statistic += square(float64(a)-ea)/ea + square(float64(synth[i])-eb)/eb
	}
	return c.with(values - 1)
}

func (c ChiSquare) with(dof int) (ChiSquare, error) {
	if dof < 1 {
		return ChiSquare{}, errOneValue
	}
	c.DoF = dof
	c.P = bitmath.ChiSquareTail(dof, c.Statistic)
	return c, nil
}

func total(counts []int64) float64 {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	return float64(n)
}

func square(x float64) float64 { return float64(x * x) }
