package histogram

import (
	"math"

	"weir/internal/bitmath"
)

// branching is by how much ranges of one level are wider than those of the next.
const branching = 2

// explained is how many standard deviations of one leaf the leaves of a level have to
// hold together to hold anything, where noise is what they may hold: of a score of empty ones
// the projection leaves one or more on average. It asks for more the further out they lie.
func explained(levels int) float64 { return float64(min(levels+1, 3)) }

// weights are the shares of leaves in their bin: less than the estimate, since noise
// put counts where nothing is, and never 0, since a count of 0 is an estimate too.
//
// The narrowest leaves get max(count - .25 sd, 0) + .05 sd. The factors were measured
// behind Haar and Tree as they are here: on eight columns of Adult and Cardio, noise sd
// 15, 60 and 250, their error is up to a fifth below that of .5 and .1, and up to a
// fortieth above on one (hours at noise sd 250).
//
// Leaves of an earlier level of a tree are beside them where a column has a long tail.
// They lie far out, so a few rows that noise put there move the mean by more than all
// others: those of one level count together, as nothing where noise explains their sum,
// else as max(count - .5 sd, 0); and what each gets beside is as much less as its cells
// are more. Log-normal amounts between 0 and 10,000 (median 7.4, 5,000 rows) so have 1.3
// times their mean, where the rule for narrow leaves makes it 8 times; the error of
// marginals is no greater (docs/marginals.md section 5).
func weights(leaves []Leaf) []float64 {
	levels := levelsOf(leaves)
	held, sd := heldBy(leaves, levels)
	w := make([]float64, len(leaves))
	for i, l := range leaves {
		at, own := levels[i], math.Sqrt(l.Var)
		w[i] = .05 * own / bitmath.Pow(branching, float64(at))
		switch {
		case at == 0:
			w[i] += max(l.Count-float64(.25*own), 0)
		case held[at] >= explained(at)*sd[at]:
			w[i] += max(l.Count-float64(.5*own), 0)
		}
	}
	if !(sum(w) > 0) {
		for i, l := range leaves {
			w[i] = float64(l.Hi - l.Lo)
		}
	}
	return w
}

// levelsOf says of each leaf how many levels of a tree it lies above the narrowest one.
func levelsOf(leaves []Leaf) []int {
	narrowest := leaves[0].Hi - leaves[0].Lo
	for _, l := range leaves {
		narrowest = min(narrowest, l.Hi-l.Lo)
	}
	levels := make([]int, len(leaves))
	for i, l := range leaves {
		times := float64(l.Hi-l.Lo) / float64(narrowest)
		levels[i] = int(math.Round(bitmath.Log2(times) / bitmath.Log2(branching)))
	}
	return levels
}

// heldBy is, by level, what its leaves hold together, and the greatest noise of one.
func heldBy(leaves []Leaf, levels []int) (held, sd map[int]float64) {
	held, sd = map[int]float64{}, map[int]float64{}
	for i, l := range leaves {
		held[levels[i]] += l.Count
		sd[levels[i]] = max(sd[levels[i]], math.Sqrt(l.Var))
	}
	return held, sd
}
