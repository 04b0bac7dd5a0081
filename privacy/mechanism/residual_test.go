package mechanism

import (
	"fmt"
	"math"

	"weir/internal/stattest"
	"weir/privacy"
)

// The p-values that what was seen follows a plan, for the conformance tests.

// integerP returns the p-value of noise that is added to integers.
func integerP(plan privacy.Mechanism, seen []privacy.Released) float64 {
	var residuals []int64
	for _, x := range seen {
		in, out := x.In.([]int64), x.Out.([]int64)
		for i := range in {
			residuals = append(residuals, out[i]-in[i])
		}
	}
	return pmfP(plan, residuals)
}

const span = 120

func pmfP(plan privacy.Mechanism, residuals []int64) float64 {
	counts, p := make([]int, 2*span+1), make([]float64, 2*span+1)
	for k := range p {
		p[k] = pmf(plan, int64(k-span))
	}
	for _, r := range residuals {
		if r >= -span && r <= span {
			counts[r+span]++
		}
	}
	return stattest.ChiSquare(counts, p, len(residuals))
}

// pmf returns the probability of noise k under a plan, by the laws' definitions.
func pmf(plan privacy.Mechanism, k int64) float64 {
	laplace := func(b float64) float64 { return math.Tanh(0.5/b) * math.Exp(-math.Abs(float64(k))/b) }
	switch m := plan.(type) {
	case LaplaceCounts:
		return laplace(m.NoiseMultiplier)
	case LaplaceTotal:
		return laplace(m.NoiseMultiplier)
	case Bounds:
		return laplace(m.NoiseMultiplier)
	case Partitions:
		return laplace(m.moves().Under(m.Adjacency) / m.Epsilon)
	case GaussianHistogram:
		return normalMass((float64(k)-0.5)/m.NoiseMultiplier, (float64(k)+0.5)/m.NoiseMultiplier)
	case Votes:
		if m.Law == LaplaceVotes {
			return laplace(m.NoiseMultiplier)
		}
		return normalMass((float64(k)-0.5)/m.NoiseMultiplier, (float64(k)+0.5)/m.NoiseMultiplier)
	}
	panic(fmt.Sprintf("%T", plan))
}

// normalMass returns the standard normal probability of an interval.
func normalMass(low, high float64) float64 {
	if low < 0 {
		low, high = -high, -low
	}
	return (math.Erfc(low/math.Sqrt2) - math.Erfc(high/math.Sqrt2)) / 2
}

// filterP takes the noise of all rounds on all numbers.
func filterP(d Moves) func(privacy.Mechanism, []privacy.Released) float64 {
	return func(plan privacy.Mechanism, seen []privacy.Released) float64 {
		sigma := roundNoise(plan, d)
		var residuals []int64
		for _, x := range seen {
			in := x.In.(privacy.Round).In.([]int64)
			for i, out := range x.Out.([]int64) {
				residuals = append(residuals, out-in[i])
			}
		}
		return pmfP(GaussianHistogram{sigma, 1}, residuals)
	}
}

func chooseP(d Moves) func(privacy.Mechanism, []privacy.Released) float64 {
	return func(plan privacy.Mechanism, seen []privacy.Released) float64 {
		scores := seen[0].In.(privacy.Round).In.([]float64)
		counts := make([]int, len(scores))
		for _, x := range seen {
			counts[x.Out.(int)]++
		}
		law := Exponential{Scores{roundEpsilon(plan), plan.(ZCDPFilter).Adjacency, d, false, len(scores), 1}}
		return stattest.ChiSquare(counts, law.Probabilities(scores), len(seen))
	}
}

func partitionP(plan privacy.Mechanism, seen []privacy.Released) float64 {
	var residuals []int64
	for _, x := range seen {
		for name, out := range x.Out.(map[string]int64) {
			if in := x.In.(map[string]int64)[name]; in > 900 { // the threshold cuts the others
				residuals = append(residuals, out-in)
			}
		}
	}
	return pmfP(plan, residuals)
}

func selectP(plan privacy.Mechanism, seen []privacy.Released) float64 {
	counts := make([]int, len(seen[0].In.([]float64)))
	for _, x := range seen {
		counts[x.Out.(int)]++
	}
	return stattest.ChiSquare(counts, plan.(lawful).Probabilities(seen[0].In.([]float64)), len(seen))
}

// quantileP: the grid is small enough for all of its points to be watched.
func quantileP(plan privacy.Mechanism, seen []privacy.Released) float64 {
	m, scores := plan.(Quantile), seen[0].In.([]float64)
	law := Exponential{scoresOf(m.Epsilon, max(m.Q, 1-m.Q), false, len(scores))}.Probabilities(scores)
	counts := make([]int, len(scores))
	for _, x := range seen {
		counts[int((x.Out.(float64)-m.Low)/m.Step)]++
	}
	return stattest.ChiSquare(counts, law, len(seen))
}

// distance returns how far apart two inputs are.
func distance(a, b any, norm privacy.Norm) float64 {
	x, y := vector(a), vector(b)
	var sum, squares, most float64
	for k := range union(x, y) {
		d := math.Abs(x[k] - y[k])
		sum, squares, most = sum+d, squares+d*d, max(most, d)
	}
	return map[privacy.Norm]float64{privacy.L1: sum, privacy.L2: math.Sqrt(squares), privacy.LInf: most}[norm]
}

func vector(in any) map[string]float64 {
	out := map[string]float64{}
	switch in := in.(type) {
	case []int64:
		for i, x := range in {
			out[fmt.Sprint(i)] = float64(x)
		}
	case []float64:
		for i, x := range in {
			out[fmt.Sprint(i)] = x
		}
	case map[string]int64:
		for name, x := range in {
			out[name] = float64(x)
		}
	}
	return out
}

func union(x, y map[string]float64) map[string]bool {
	out := map[string]bool{}
	for k := range x {
		out[k] = true
	}
	for k := range y {
		out[k] = true
	}
	return out
}
