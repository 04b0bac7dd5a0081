package histogram

import "math"

// Divided is a line of cells as a tree counted it.
type Divided struct {
	root  *part
	cells int
}

// Leaves estimates the counts of the line, none below 0, where all rows are total, missing values
// included; total 0 is what was counted. What lies far from all ranges that show keptFrom
// standard deviations of their noise is settled, as what falls away from them; all
// other ranges share what is left as Tree says. Leaves come from left to right and cover all
// cells. A range of several cells whose count was settled has no variance: it is known from
// what lies around it, not from its own noise.
func (d Divided) Leaves(total float64) []Leaf {
	root := d.root.clone()
	root.up()
	if root.count = total; total <= 0 {
		root.count = max(root.mean, 0)
	}
	root.linear()
	settled := root.settle(d.cells)
	root.up()
	if total <= 0 {
		root.count = max(root.mean, 0)
	}
	root.down()
	var leaves []Leaf
	for i := range root.parts {
		if root.parts[i].lo < d.cells {
			leaves = root.parts[i].leaves(leaves, 1)
		}
	}
	for i := range leaves {
		if settled[leaves[i].Lo] && leaves[i].Hi-leaves[i].Lo > 1 {
			leaves[i].Var = 0
		}
	}
	return leaves
}

// known is the variance of a count that is settled, in that of its noise: a tree does not
// move it.
const known = 1e-9

// wideGap is the part of a line that ranges between two dense ones have to be wide to be taken
// for tails of them. In lesser gaps, such as between the values of a comb, ranges share
// what the tree knows of their sum.
const wideGap = 8

// settle puts estimates for the counts of ranges at the ends of the line and in wide gaps, and
// returns where these begin.
func (p *part) settle(cells int) map[int]bool {
	var groups []Leaf
	var kept []int
	whole, _ := p.seen(cells)
	for _, of := range whole {
		groups = append(groups, Leaf{Lo: of.lo, Hi: of.hi, Count: of.count, Var: of.variance})
	}
	for i, g := range groups {
		if g.Count >= keptFrom*g.sd() {
			kept = append(kept, i)
		}
	}
	settled := map[int]bool{}
	if !told(groups, kept) {
		return settled
	}
	for _, r := range runs(groups, kept, cells/wideGap) {
		for k, count := range r.settled() {
			leaf := whole[r.places[k]]
			leaf.weight = 1 / float64(known*leaf.variance)
			leaf.sum = count * leaf.weight
			settled[leaf.lo] = true
		}
	}
	return settled
}

// seen returns the ranges that are not divided, from left to right, but instead of those of a range of which none shows
// keptFrom standard deviations of its noise, while the range does, the range; and whether any does. Ranges are halved for
// as long as their halves can be told apart, so that most of what is left shows less by itself, though together it is
// the body of the line: without that its tails would be taken for a part of it.
func (p *part) seen(cells int) (list []*part, any bool) {
	for i := range p.parts {
		if p.parts[i].lo < cells {
			below, shows := p.parts[i].seen(cells)
			list, any = append(list, below...), any || shows
		}
	}
	if any {
		return list, true
	}
	if shows := p.count >= keptFrom*math.Sqrt(p.variance); shows || p.parts == nil {
		return []*part{p}, shows
	}
	return list, false
}

// clone is a tree that may be estimated anew.
func (p *part) clone() *part {
	c := *p
	c.parts = nil
	for i := range p.parts {
		c.parts = append(c.parts, *p.parts[i].clone())
	}
	return &c
}
