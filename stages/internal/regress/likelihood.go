package regress

import (
	"math"

	"weir/internal/bitmath"
)

// likelihood is a generalised linear model with its canonical link, so that the score of a
// row is residual times x and its information weight times x x'. most is the
// greatest outcome, cap what the mean of a row is capped at: residuals are from -cap to
// most, and weights from 0 to heaviest.
type likelihood struct {
	poisson          bool
	most, cap        float64
	heaviest         float64
	longest          float64   // exposure, 1 without an offset
	outcome, exposed []float64 // of the rows; no exposed: 1 each
}

func (m *Model) likelihood() likelihood {
	if m.Kind == Logistic {
		return likelihood{most: 1, cap: 1, heaviest: 0.25, longest: 1}
	}
	l := likelihood{poisson: true, most: m.Most, cap: m.MostExpected, heaviest: m.MostExpected, longest: 1}
	if m.Offset != "" {
		l.longest = m.Longest
	}
	return l
}

func (l *likelihood) exposure(i int) float64 {
	if l.exposed == nil {
		return 1
	}
	return l.exposed[i]
}

// at is the residual and the weight of row i at a linear predictor without offset.
func (l *likelihood) at(i int, z float64) (residual, weight float64) {
	if !l.poisson {
		p := logit(z)
		return l.outcome[i] - p, float64(p * (1 - p))
	}
	mean := math.Min(float64(l.exposure(i)*bitmath.Exp(z)), l.cap)
	return l.outcome[i] - mean, mean
}

// logit is the probability at log odds.
func logit(z float64) float64 { return 1 / (1 + bitmath.Exp(-z)) }

// intercept is the linear predictor of a table whose outcomes and exposures have those
// sums, known up to noise of one deviation: a sum that noise hides is as large as it.
func (l *likelihood) intercept(outcomes, exposures, deviation float64) float64 {
	least := math.Max(1, deviation)
	rate := math.Max(outcomes, least) / math.Max(exposures, least)
	if !l.poisson {
		rate = math.Min(math.Max(rate, 0.001), 0.999)
		return bitmath.Log(rate / (1 - rate))
	}
	return bitmath.Log(math.Max(rate, 1e-9))
}

// mostStep bounds how far one step moves a coefficient of the design. A Poisson step from
// too low a rate overshoots by the exponential.
func (l *likelihood) mostStep() float64 {
	if l.poisson {
		return 1
	}
	return 3
}
