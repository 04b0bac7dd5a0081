package published

import (
	"math"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/account"
)

// GSWGAN holds the settings of Chen, Orekondy, Fritz 2020: a generator step draws
// one of Discriminators, each on its own shard, and releases Batch clipped and
// noised gradients. NoiseMultiplier is noise over 2C, the sensitivity of one.
type GSWGAN struct {
	Discriminators, GeneratorSteps, Batch int64
	NoiseMultiplier                       float64
}

// PerSample returns the event of the corrected algorithm: discriminators train on a
// public schedule, every sample draws its own (docs/accounting.md section 3.5). Replace_one.
func (g GSWGAN) PerSample() privacy.Event {
	return privacy.Repeated{Count: g.GeneratorSteps * g.Batch, Event: g.sampled(g.NoiseMultiplier)}
}

// PerBatch returns the event of one secret draw a step for the whole batch, with a
// public training schedule: the batch is joined before it is amplified.
func (g GSWGAN) PerBatch() privacy.Event {
	return privacy.Repeated{Count: g.GeneratorSteps, Event: g.sampled(g.NoiseMultiplier / math.Sqrt(float64(g.Batch)))}
}

func (g GSWGAN) sampled(s float64) privacy.Event {
	return privacy.SampledWithoutReplacement{SampleSize: 1, Population: g.Discriminators,
		Event: privacy.Gaussian{NoiseMultiplier: s}}
}

// Published returns what the script prints: theorem 9 of Wang, Balle, Kasiviswanathan
// 2019 at rate 1/K for every sample, classic conversion. It bounds PerSample, not
// the algorithm as written.
func (g GSWGAN) Published(delta float64) (float64, error) {
	return account.RDP{Conversion: account.Classic}.Epsilon([]privacy.Event{g.PerSample()}, privacy.ReplaceOne, delta)
}

// StepsFor returns the number of generator steps, a real number, at which Published
// prints epsilon: the largest over the orders of what each of them allows.
func (g GSWGAN) StepsFor(epsilon, delta float64) (float64, error) {
	valueAt, err := account.Divergence([]privacy.Event{g.sampled(g.NoiseMultiplier)}, privacy.ReplaceOne)
	if err != nil {
		return 0, err
	}
	best := 0.0
	for a := 2.0; a <= 512; a++ { // the cumulant is linear between integers, so that the optimum is at one
		best = math.Max(best, (epsilon-bitmath.Log(1/delta)/(a-1))/valueAt(a))
	}
	return best / float64(g.Batch), nil
}

// ScheduleRevealed returns a proven epsilon of the algorithm as written: the draws are
// given away, the shard is used Binomial(T, 1/K) times, each time for Batch
// Gaussians.
func (g GSWGAN) ScheduleRevealed(delta float64) float64 {
	low, high := 0.0, 1.0
	for g.revealedDelta(high) > delta {
		low, high = high, float64(2*high)
	}
	for range 60 {
		if mid := (low + high) / 2; g.revealedDelta(mid) > delta {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// revealedDelta returns the mean of the Gaussian delta over the number of draws. What
// lies 40 standard deviations out has less probability than 1e-300.
func (g GSWGAN) revealedDelta(eps float64) float64 {
	n, p := float64(g.GeneratorSteps), 1/float64(g.Discriminators)
	if p == 1 {
		return account.GaussianDelta(g.NoiseMultiplier/math.Sqrt(n*float64(g.Batch)), eps)
	}
	spread := float64(40*math.Sqrt(n*p*(1-p))) + 40
	sum := 0.0
	for m := math.Max(1, math.Floor(float64(n*p)-spread)); m <= math.Min(n, float64(n*p)+spread); m++ {
		sum += float64(bitmath.Exp(logBinomial(n, p, m)) * account.GaussianDelta(g.NoiseMultiplier/
			math.Sqrt(m*float64(g.Batch)), eps))
	}
	return sum
}

func logBinomial(n, p, k float64) float64 {
	a := bitmath.Lgamma(n + 1)
	b := bitmath.Lgamma(k + 1)
	c := bitmath.Lgamma(n - k + 1)
	return a - b - c + float64(k*bitmath.Log(p)) + float64((n-k)*bitmath.Log1p(-p))
}

// RoundRobin returns the proven epsilon when discriminators take turns: ceil(T/K) uses.
func (g GSWGAN) RoundRobin(delta float64) float64 {
	uses := (g.GeneratorSteps + g.Discriminators - 1) / g.Discriminators
	return account.GaussianEpsilon(g.NoiseMultiplier/math.Sqrt(float64(uses*g.Batch)), delta)
}

// WorstCase returns the event whose add_remove pair is the exact loss of an instance
// that the algorithm as written admits: no accountant may report less.
func (g GSWGAN) WorstCase() privacy.Event {
	return privacy.Repeated{Count: g.GeneratorSteps,
		Event: privacy.PoissonSampled{SamplingRate: 1 / float64(g.Discriminators),
			Event: privacy.Gaussian{NoiseMultiplier: g.NoiseMultiplier / math.Sqrt(float64(g.Batch))}}}
}
