package train

import (
	"context"
	"fmt"
	"math"
	"testing"

	"weir/train/net"
)

// The canary is one row whose gradient is huge and points where no other row's
// does. A thousand-fold repetition with and without it, and a threshold on the
// weight that it pulls, give true and false positive rates; (epsilon, delta)-DP
// allows TPR <= e^epsilon FPR + delta, so epsilon is at least ln((TPR-delta)/FPR)
// (Kairouz, Oh, Viswanath 2015). Rates enter at Chernoff bounds that fail with
// probability 5e-8 each: a false alarm has probability below 1e-6 even over all
// thresholds tried, and the keys are fixed.
const (
	canaryTrials = 3000
	canarySteps  = 4
	canaryDelta  = 1e-5
)

// canaryClaim returns the epsilon of 4 Gaussian releases with multiplier 2 at delta
// 1e-5, add_remove: together one Gaussian with mu = sqrt(4)/2 = 1, for which
// delta(eps) = Phi(1/2-eps) - e^eps Phi(-1/2-eps) (Balle, Wang 2018).
func canaryClaim() float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	lo, hi := 0.0, 50.0
	for range 100 {
		e := (lo + hi) / 2
		if phi(0.5-e)-math.Exp(e)*phi(-0.5-e) > canaryDelta {
			lo = e
		} else {
			hi = e
		}
	}
	return hi
}

// canaryScores returns the pulled weight after training, trial by trial.
func canaryScores(t *testing.T, c DPSGD, included bool) []float64 {
	t.Helper()
	x := []float32{0, 0, 0, 1000}
	if !included {
		x = x[:3]
	}
	o := realScore{build(t, 1, net.Dense(1)), numeric(x), net.Wasserstein}
	out := make([]float64, canaryTrials)
	for i := range out {
		h := paid(c, fmt.Sprintf("canary %v %d", included, i))
		w, err := Fit(context.Background(), FitConfig{Optimiser: SGD(1, 0)}, o, make([]float32, 2), o.rows.Len(), h, Hooks{})
		must(err)
		out[i] = float64(w[0])
	}
	return out
}

// epsilonBelow returns the largest lower bound over thresholds in units of the noise.
func epsilonBelow(in, out []float64, unit float64) float64 {
	best := 0.0
	for k := range 20 {
		limit := float64(k) / 4 * unit
		tpr, fpr := rate(in, limit, false), rate(out, limit, true)
		if tpr > canaryDelta {
			best = math.Max(best, math.Log((tpr-canaryDelta)/fpr))
		}
	}
	return best
}

// rate returns a bound on the probability of exceeding limit, above or below the
// frequency, by Chernoff: n*KL(k/n, p) = ln(2e7).
func rate(x []float64, limit float64, upper bool) float64 {
	k, n := 0.0, float64(len(x))
	for _, v := range x {
		if v > limit {
			k++
		}
	}
	f := k / n
	near, far := f, 0.0
	if upper {
		far = 1
	}
	for range 60 {
		p := (near + far) / 2
		if n*divergence(f, p) > math.Log(2e7) {
			far = p
		} else {
			near = p
		}
	}
	return far
}

func divergence(f, p float64) float64 {
	part := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/b)
	}
	return part(f, p) + part(1-f, 1-p)
}

func TestCanary(t *testing.T) {
	clipped := DPSGD{MaxGradNorm: 1, NoiseMultiplier: 2, SamplingRate: 1, ExpectedBatchSize: 1, Steps: canarySteps}
	unclipped := clipped
	unclipped.MaxGradNorm, unclipped.NoiseMultiplier = 2000, 2.0/2000 // the same noise, a clip that never binds
	unit := 2 * math.Sqrt(canarySteps)
	claim := canaryClaim()
	got := epsilonBelow(canaryScores(t, clipped, true), canaryScores(t, clipped, false), unit)
	if !(got < claim) {
		t.Errorf("epsilon is at least %.3f, the claim is %.3f", got, claim)
	}
	if got < 0.3 { // mu = 1 is well visible; without this the canary could be blind
		t.Errorf("epsilon from below is %.3f: the canary does not see the release", got)
	}
	broken := epsilonBelow(canaryScores(t, unclipped, true), canaryScores(t, unclipped, false), unit)
	if !(broken > claim) {
		t.Errorf("without the clip epsilon is at least %.3f only, the claim is %.3f", broken, claim)
	}
	t.Logf("claim %.3f, from below %.3f, without clip %.3f", claim, got, broken)
}
