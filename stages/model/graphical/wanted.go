package graphical

import "weir/train/graphical"

// wanted says how much families of a network matter, from public settings alone: by pair,
// over the largest weight, so that a weighted score moves no further than the score.
type wanted map[[2]int]float64

func wantedOf(pairs []graphical.Set, weights []float64) wanted {
	w := wanted{}
	for i, pair := range pairs {
		w[[2]int{pair[0], pair[1]}] = weights[i] / largest(weights)
	}
	return w
}

// of is the weight of a family: the largest of its column's pairs with a parent; 0 without
// parents, since such a family tells of no pair.
func (w wanted) of(f family) (most float64) {
	for _, p := range f.parents {
		most = max(most, w[[2]int{min(p, f.column), max(p, f.column)}])
	}
	return most
}

// even tells whether all pairs of so many columns matter alike, as in the paper.
func (w wanted) even(columns int) bool {
	for _, x := range w {
		if x < 1 {
			return false
		}
	}
	return len(w) == columns*(columns-1)/2
}
