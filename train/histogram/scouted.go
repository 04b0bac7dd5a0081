package histogram

import (
	"math"

	"weir/internal/bitmath"
)

// Scouted is a line of cells as releases counted it: groups of neighbouring cells, from left
// to right, with an estimate of each by least squares over all releases.
type Scouted struct {
	groups  []group
	missing *group // values that are no cell of the line; nil: the line has none
}

// group is neighbouring cells that one release counted together.
type group struct {
	Leaf               // Var is scaled so that groups sum to what is known of them together
	variance float64   // of the estimate of this group by itself
	cells    []float64 // counts of its cells, of a release that told them apart; nil: none did
	noise    float64   // variance of those
}

// Leaves estimates the counts of the line, none below 0, where all rows are total, missing values
// included; total 0 is what was counted. Groups are settled (settle), then shared out to their
// cells, where these were counted, by Haar's steps. Leaves come from left to right and
// cover all cells. A range of several cells whose count was settled has no variance: it is
// known from what lies around it, not from its own noise.
func (c Scouted) Leaves(total float64) []Leaf {
	groups, missing := c.shared(total)
	plain, present := make([]Leaf, len(groups)), -missing
	for i, g := range groups {
		plain[i] = Leaf{Lo: g.Lo, Hi: g.Hi, Count: g.Count, Var: g.variance}
		present += g.Count
	}
	if total > 0 {
		present = total - missing
	}
	counts := settle(plain, max(present, 0))
	var leaves []Leaf
	for from, i := 0, 0; i < len(groups); i++ {
		if groups[i].cells == nil {
			leaf := groups[i].Leaf
			if leaf.Count = counts[i]; leaf.Hi-leaf.Lo > 1 && plain[i].Count < keptFrom*plain[i].sd() {
				leaf.Var = 0
			}
			leaves, from = append(leaves, leaf), i+1
		} else if i+1 == len(groups) || groups[i+1].cells == nil {
			leaves = body(leaves, groups[from:i+1], counts[from:i+1])
		}
	}
	return leaves
}

// shared returns the groups, and the missing values, such that their counts sum to total:
// what they lack is shared by variance.
func (c Scouted) shared(total float64) (groups []group, missing float64) {
	groups = append(groups, c.groups...)
	if c.missing != nil {
		groups = append(groups, *c.missing)
	}
	lack, variance := total, 0.0
	for _, g := range groups {
		lack, variance = lack-g.Count, variance+g.variance
	}
	for i := range groups {
		if total > 0 {
			groups[i].Count += lack * groups[i].variance / variance
		}
	}
	if last := len(groups) - 1; c.missing != nil {
		return groups[:last], max(groups[last].Count, 0)
	}
	return groups, 0
}

// body appends the cells of neighbouring groups, each of which gets its count: what noise
// explains of the steps between cells is levelled (Haar) over all of them.
func body(leaves []Leaf, groups []group, counts []float64) []Leaf {
	var fine []float64
	for i, g := range groups {
		more := (counts[i] - sum(g.cells)) / float64(len(g.cells))
		for _, y := range g.cells {
			fine = append(fine, y+more)
		}
	}
	n := float64(len(fine))
	fine = levelled(fine, min(haarLevels, int(bitmath.Log2(n))), 1, haarStep*math.Sqrt(float64(2*groups[0].noise*bitmath.Log(n))))
	for i, g := range groups {
		k := len(g.cells)
		for at, count := range Simplex(fine[:k], counts[i]) {
			leaves = append(leaves, Leaf{Lo: g.Lo + at, Hi: g.Lo + at + 1, Count: count, Var: g.Var / float64(k)})
		}
		fine = fine[k:]
	}
	return leaves
}
