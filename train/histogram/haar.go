package histogram

import "math"

// haarLevels is how many widths of step are looked at: 2, 4, 8, 16 and 32 cells.
const haarLevels = 5

// Haar estimates a histogram from noisy counts y of equal noise sd: steps between
// neighbours that noise explains are levelled, others stay, so that heaps keep their
// counts and flat stretches are averaged. It is the translation-invariant Haar
// transform (Coifman, Donoho 1995) with hard threshold .7 sd sqrt(2 ln n) for a step
// of one cell, less by sqrt(2) at each wider one as the noise of means is; the line is
// mirrored at its ends. The result is not negative and sums to total (evenly, where
// nothing positive is left); all are 0 where total is not positive.
func Haar(y []float64, sd, total float64) []float64 {
	n := len(y)
	line := make([]float64, 2*n)
	for i, v := range y {
		line[i], line[2*n-1-i] = v, v
	}
	levels := min(haarLevels, int(math.Log2(float64(max(n, 1)))))
	threshold := .7 * sd * math.Sqrt(2*math.Log(float64(max(n, 1))))
	return scaledTo(level(line, levels, 1, threshold)[:n], total)
}

// level levels steps of `width` cells and, before, all wider ones.
func level(fine []float64, levels, width int, threshold float64) []float64 {
	if levels == 0 {
		return fine
	}
	n := len(fine)
	threshold /= math.Sqrt2 // half a difference of two means
	mean, step := make([]float64, n), make([]float64, n)
	for i, v := range fine {
		next := fine[(i+width)%n]
		mean[i], step[i] = (v+next)/2, (v-next)/2
		if math.Abs(step[i]) < threshold {
			step[i] = 0
		}
	}
	mean = level(mean, levels-1, 2*width, threshold)
	out := make([]float64, n)
	for i := range out {
		left := (i - width + n) % n
		out[i] = (mean[i] + step[i] + mean[left] - step[left]) / 2
	}
	return out
}

// scaledTo clips at 0 and scales to a sum.
func scaledTo(x []float64, total float64) []float64 {
	out, sum := make([]float64, len(x)), 0.0
	for i, v := range x {
		out[i] = max(v, 0)
		sum += out[i]
	}
	for i := range out {
		switch {
		case !(total > 0):
			out[i] = 0
		case sum > 0:
			out[i] *= total / sum
		default:
			out[i] = total / float64(len(out))
		}
	}
	return out
}
