package histogram

import (
	"math"

	"weir/internal/bitmath"
)

// haarLevels is how many widths of step are looked at: 1, 2, 4, 8 and 16 cells.
const haarLevels = 5

// haarStep is the threshold of a step of one cell, in sd sqrt(2 ln n).
const haarStep = .7

// Haar estimates a histogram from noisy counts y of equal noise sd: steps between
// neighbours that noise explains are levelled, others stay, so that heaps keep their
// counts and flat stretches are averaged. It is the translation-invariant Haar
// transform (Coifman, Donoho 1995) with hard threshold .7 sd sqrt(2 ln n) for a step
// of one cell, less by sqrt(2) at each wider one as the noise of means is; the line is
// a ring. The result is the nearest one that is not negative and sums to total
// (Simplex): on the fine histograms of Adult and Cardio its error is .55 to 1 times that
// of clipping at 0 and scaling. All are 0 where total is not positive.
func Haar(y []float64, sd, total float64) []float64 {
	n := max(len(y), 1)
	levels := min(haarLevels, int(bitmath.Log2(float64(n))))
	return Simplex(levelled(y, levels, 1, haarStep*sd*math.Sqrt(2*bitmath.Log(float64(n)))), total)
}

// levelled levels steps of `width` cells and all wider ones, of `levels` widths.
func levelled(fine []float64, levels, width int, threshold float64) []float64 {
	if levels == 0 {
		return fine
	}
	n := len(fine)
	threshold /= math.Sqrt2 // a step is half a difference
	mean, step := make([]float64, n), make([]float64, n)
	for i, v := range fine {
		next := fine[(i+width)%n]
		mean[i], step[i] = (v+next)/2, (v-next)/2
		if math.Abs(step[i]) < threshold {
			step[i] = 0
		}
	}
	mean = levelled(mean, levels-1, 2*width, threshold)
	out := make([]float64, n)
	for i := range out {
		left := (i - width + n) % n
		out[i] = (mean[i] + step[i] + mean[left] - step[left]) / 2
	}
	return out
}
