package published

import (
	"math"
	"testing"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/account"
)

// SynthcityMoment is the same with the exponent 2 lambda (l-1) + 1 of synthcity.
func SynthcityMoment(v Vote, lambda, l float64) float64 {
	m := dataDependent(pateQ(v, lambda), lambda, l, float64(2*lambda*(l-1))+1)
	return math.Min(2*lambda*lambda*l*(l+1), m)
}

// ConditionedMoment takes the data-dependent term only where its theorem allows,
// q < (e^{2 lambda}-1)/(e^{4 lambda}-1) (Papernot et al. 2017, theorem 3), and never
// more than the pure bound 2 lambda l.
func ConditionedMoment(v Vote, lambda, l float64) float64 {
	m := math.Min(2*lambda*lambda*l*(l+1), 2*lambda*l)
	if q := pateQ(v, lambda); q < bitmath.Expm1(2*lambda)/bitmath.Expm1(4*lambda) {
		m = math.Min(m, dataDependent(q, lambda, l, 2*lambda*l))
	}
	return m
}

// IndependentMoment is 2 lambda^2 l(l+1), whatever the votes.
func IndependentMoment(_ Vote, lambda, l float64) float64 { return 2 * lambda * lambda * l * (l + 1) }

// PATEEpsilon is min over l of (sum of moments + ln(1/delta))/l for l up to orders.
// With the first two moments it is data-dependent: a diagnostic, never a budget.
func PATEEpsilon(votes []Vote, lambda, delta float64, orders int, moment func(Vote, float64, float64) float64) float64 {
	best := math.Inf(1)
	for l := 1.0; l <= float64(orders); l++ {
		sum := TotalMoment(votes, lambda, l, moment)
		if eps := (sum + bitmath.Log(1/delta)) / l; eps < best || math.IsNaN(eps) {
			best = eps
		}
		if math.IsNaN(best) {
			return best
		}
	}
	return best
}

// TotalMoment adds the moments of order l of the votes.
func TotalMoment(votes []Vote, lambda, l float64, moment func(Vote, float64, float64) float64) float64 {
	sum := 0.0
	for _, v := range votes {
		sum += moment(v, lambda, l)
	}
	return sum
}

// ThresholdMoment is the largest true log moment of order l of the vote that the
// code runs, 1[ones + Laplace(scale) > k/2], between these counts and those with
// one vote more or less, in both directions.
func ThresholdMoment(v Vote, scale, l float64) float64 {
	half := float64((v.Zeros + v.Ones) / 2)
	p := positive(v.Ones-half, scale)
	worst := 0.0
	for _, d := range []float64{-1, 1} {
		if n := v.Ones + d; n >= 0 && n <= v.Zeros+v.Ones {
			o := positive(n-half, scale)
			worst = math.Max(worst, math.Max(binaryMoment(p, o, l), binaryMoment(o, p, l)))
		}
	}
	return worst
}

// positive holds the probabilities of 1 and 0 for a margin plus Laplace noise.
func positive(margin, scale float64) [2]float64 {
	small := float64(0.5 * bitmath.Exp(-math.Abs(margin)/scale))
	if margin > 0 {
		return [2]float64{1 - small, small}
	}
	return [2]float64{small, 1 - small}
}

// binaryMoment is ln E_P[(P/Q)^l].
func binaryMoment(p, q [2]float64, l float64) float64 {
	return bitmath.Log(float64(p[0]*bitmath.Pow(p[0]/q[0], l)) + float64(p[1]*bitmath.Pow(p[1]/q[1], l)))
}

// ThresholdVotes is the proven event of votes fixed in advance, each 1[ones +
// Laplace(scale) > k/2] over teachers on disjoint shards: one record moves one
// vote by 1. Its noise is written for add_remove; under replace_one an exchanged
// record stays in its shard, so that the vote moves by 1 as well.
func ThresholdVotes(votes int, scale float64) privacy.Event {
	return privacy.Repeated{Count: int64(votes), Event: privacy.Laplace{NoiseMultiplier: scale}}
}

// ArgmaxVotes is the proven event of the argmax of two counts, each with its own
// noise: 2/scale-DP a vote.
func ArgmaxVotes(votes int, scale float64) privacy.Event {
	return privacy.Repeated{Count: int64(votes), Event: privacy.Pure{Epsilon: 2 / scale}}
}

// LaplaceMoment is l times the Renyi divergence of order l+1 of Laplace noise: the
// data-independent log moment of a threshold vote.
func LaplaceMoment(scale, l float64) (float64, error) {
	at, err := account.Divergence([]privacy.Event{privacy.Laplace{NoiseMultiplier: scale}}, privacy.AddRemove)
	if err != nil {
		return 0, err
	}
	return l * at(l+1), nil
}

// TestPATEAccountant: charged vote by vote it is the sum of the moments; it begins at ln(1/delta)/20.
// A vote that differs by two, at lambda 1, divides by 1 - q e^2 = 0 and is charged its data-independent
// term, 2 l(l+1), of which 12 at order 2 are the least: (12 + ln 1e5)/2.
func TestPATEAccountant(t *testing.T) {
	a := PATEAccountant{Lambda: 1, Delta: 1e-5}
	if got := a.Epsilon(); math.Abs(got-0.5756462732) > 1e-9 { // ln(1e5)/20
		t.Errorf("before a vote %.10f", got)
	}
	ones, votes := []int64{1, 7, 30, 40}, []Vote{{39, 1}, {33, 7}, {10, 30}, {0, 40}}
	a.Add(40, ones[:2])
	a.Add(40, ones[2:])
	if got, want := a.Epsilon(), PATEEpsilon(votes, 1, 1e-5, PATEOrders, PATEMoment); math.Abs(got-want) > 1e-12*want {
		t.Errorf("%g, must be %g", got, want)
	}
	two := PATEAccountant{Lambda: 1, Delta: 1e-5}
	if two.Add(40, []int64{19}); math.Abs(two.Epsilon()-11.7564627325) > 1e-9 {
		t.Errorf("19 of 40: %.10f", two.Epsilon())
	}
}
