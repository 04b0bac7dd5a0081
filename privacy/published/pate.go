package published

import (
	"math"

	"weir/internal/bitmath"
)

// PATECeiling returns the most that the accountant of PATE-GAN comes to, whatever the votes are: each
// at its data-independent moment of order l, 2 lambda^2 l(l+1), where lambda is the inverse scale
// of the noise; min over l up to orders of (sum of moments + ln(1/delta))/l. It is public, as the
// number of votes is.
func PATECeiling(votes int64, lambda, delta float64, orders int) float64 {
	best := math.Inf(1)
	for l := 1.0; l <= float64(orders); l++ {
		moments := float64(float64(votes) * (2 * lambda * lambda * l * (l + 1)))
		best = math.Min(best, (moments+bitmath.Log(1/delta))/l)
	}
	return best
}

// Vote holds the teachers' counts of one query.
type Vote struct{ Zeros, Ones float64 }

// pateQ returns the flip bound of Papernot et al. 2017, lemma 4, for the argmax of two
// counts with separate noise; lambda is the inverse noise scale.
func pateQ(v Vote, lambda float64) float64 {
	gap := float64(lambda * math.Abs(v.Zeros-v.Ones))
	return (2 + gap) / 4 * bitmath.Exp(-gap)
}

// dataDependent returns ln((1-q)((1-q)/(1-q e^{2 lambda}))^l + q e^{exponent}); NaN where
// the formula takes the logarithm of a negative number.
func dataDependent(q, lambda, l, exponent float64) float64 {
	ratio := (1 - q) / (1 - float64(q*bitmath.Exp(2*lambda)))
	return bitmath.Log(float64((1-q)*bitmath.Pow(ratio, l)) + float64(q*bitmath.Exp(exponent)))
}

// PATEMoment returns the log moment of order l that the PATE-GAN code charges for a
// vote: min{2 lambda^2 l(l+1), dataDependent}, without its condition on q. It
// depends on private votes and is no bound for the mechanism that runs.
func PATEMoment(v Vote, lambda, l float64) float64 {
	m := dataDependent(pateQ(v, lambda), lambda, l, 2*lambda*l)
	return math.Min(2*lambda*lambda*l*(l+1), m)
}

// PATEAccountant is the accountant of PATE-GAN's program, by which it stops: moments of orders up to
// Orders of exact private votes, each vote charged PATEMoment. What it says is a function of private
// votes and bounds nothing (W21; docs/accounting.md section 7).
type PATEAccountant struct {
	Lambda, Delta float64 // the inverse scale of the noise on a count; delta
	moments       [PATEOrders]float64
}

// PATEOrders is the largest order of the program's moments.
const PATEOrders = 20

// Add charges a vote on each row: how many of the teachers say one, the others say zero.
func (a *PATEAccountant) Add(teachers int, ones []int64) {
	for _, n := range ones {
		v := Vote{Zeros: float64(int64(teachers) - n), Ones: float64(n)}
		for i := range a.moments {
			a.moments[i] += PATEMoment(v, a.Lambda, float64(i+1))
		}
	}
}

// Epsilon returns min over orders l of (moment + ln(1/delta))/l, which without a vote is ln(1/delta)/20.
func (a *PATEAccountant) Epsilon() float64 {
	least := math.Inf(1)
	for i, m := range a.moments {
		least = math.Min(least, (m+bitmath.Log(1/a.Delta))/float64(i+1))
	}
	return least
}
