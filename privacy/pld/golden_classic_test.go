package pld

import (
	"math"

	"weir/privacy"
)

// goldenCalibration: the least multiplier that meets the target lies within the tolerance of the file.
func goldenCalibration(k check, in, want values) {
	w, rel := want.f("pld"), k.c.Tolerance.f("rel_pld")
	for _, s := range []float64{w * (1 - rel), w * (1 + rel)} {
		eps, err := New().Epsilon([]privacy.Event{sampled(in.f("q"), s, in.f("steps"))}, k.c.Adjacency, in.f("delta"))
		if target := in.f("target_epsilon"); err != nil || (eps <= target) != (s >= w) {
			k.t.Errorf("%s: noise multiplier %v has epsilon %v, the least that meets %v is %v (%v)", k.c.ID, s, eps, target, w, err)
		}
	}
}

// goldenAdvanced also holds the answer against the exact optimum, a binomial sum
// (Kairouz, Oh and Viswanath 2015, theorem 3.3), closer than the file's tolerance.
func goldenAdvanced(k check, in, want values) {
	e := privacy.Repeated{Count: int64(in.f("steps")), Event: privacy.Approximate{Epsilon: in.f("epsilon"), Delta: in.f("delta")}}
	total := want.f("total_delta")
	got := k.epsilon([]privacy.Event{e}, privacy.AddRemove, total)
	k.near("optimal_composition_epsilon_pld", got, want.f("optimal_composition_epsilon_pld"))
	exact := binomialEpsilon(in.f("epsilon"), in.f("delta"), in.f("steps"), total)
	if got < exact*(1-1e-9) || got > exact*(1+1e-6) {
		k.t.Errorf("%s: %v, the exact optimum is %v", k.c.ID, got, exact)
	}
}

// binomialEpsilon inverts delta(eps) = 1-(1-d)^n + (1-d)^n sum_i Bin(n,p)(i)
// (1 - e^{eps - (2i-n)e})+ with p = 1/(1+e^-e) by bisection.
func binomialEpsilon(e, d, n, target float64) float64 {
	at := func(eps float64) float64 {
		sum, lgn := 0.0, lgamma(n+1)
		for i := 0.0; i <= n; i++ {
			if l := (2*i - n) * e; l > eps {
				sum -= math.Exp(lgn-lgamma(i+1)-lgamma(n-i+1)-i*math.Log1p(math.Exp(-e))-(n-i)*math.Log1p(math.Exp(e))) * math.Expm1(eps-l)
			}
		}
		keep := n * math.Log1p(-d)
		return -math.Expm1(keep) + math.Exp(keep)*sum
	}
	lo, hi := 0.0, n*e
	for range 60 {
		if mid := (lo + hi) / 2; at(mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// goldenAmortized: the releases of a step share its batch.
func goldenAmortized(k check, in, want values) {
	step := privacy.Repeated{Count: int64(in.f("releases_per_step")), Event: privacy.Gaussian{NoiseMultiplier: want.f("sigma_classic_gaussian")}}
	e := privacy.Repeated{Count: int64(in.f("steps")), Event: privacy.PoissonSampled{SamplingRate: in.f("q"), Event: step}}
	got := k.epsilon([]privacy.Event{e}, k.c.Adjacency, want.f("reported_delta"))
	k.near("tight_epsilon_at_reported_delta", got, want.f("tight_epsilon_at_reported_delta"))
}

func lgamma(x float64) float64 { l, _ := math.Lgamma(x); return l }
