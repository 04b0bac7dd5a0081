package histogram

import (
	"math"
)

// part is a range of cells of a tree: what was released of it while it was whole, its
// parts since it was divided, and what is estimated from both.
type part struct {
	lo, hi         int
	sum, weight    float64 // of released counts over their variance, and of 1 over it
	parts          []part
	mean, variance float64 // by what was released of it and below it
	count          float64 // by all
}

// whole appends the ranges that are not divided, from left to right.
func (p *part) whole(list []*part) []*part {
	if p.parts == nil {
		return append(list, p)
	}
	for i := range p.parts {
		list = p.parts[i].whole(list)
	}
	return list
}

// up gives each part, from the leaves to the root, the mean of its own noisy counts and of the sum of its parts,
// weighted by precision.
func (p *part) up() {
	sum, weight := p.sum, p.weight
	if p.parts != nil {
		lower, variance := 0.0, 0.0
		for i := range p.parts {
			p.parts[i].up()
			lower, variance = lower+p.parts[i].mean, variance+p.parts[i].variance
		}
		sum, weight = sum+lower/variance, weight+1/variance
	}
	p.mean, p.variance = sum/weight, 1/weight
}

// down shares the count of each range out to its parts.
func (p *part) down() {
	if p.parts == nil {
		return
	}
	y, variances := make([]float64, len(p.parts)), make([]float64, len(p.parts))
	for i := range p.parts {
		y[i], variances[i] = p.parts[i].mean, p.parts[i].variance
	}
	for i, count := range Nearest(y, variances, p.count) {
		p.parts[i].count = count
		p.parts[i].down()
	}
}

// halve divides the ranges of cells that hold at least so many, and tells whether any did.
func (p *part) halve(cells int, least float64) (any bool) {
	for _, leaf := range p.whole(nil) {
		if leaf.hi-leaf.lo > 1 && leaf.hi <= cells && leaf.count >= least {
			middle := leaf.lo + (leaf.hi-leaf.lo)/2
			leaf.parts, any = []part{{lo: leaf.lo, hi: middle}, {lo: middle, hi: leaf.hi}}, true
		}
	}
	return any
}

// linear shares the count of each range out to its parts by their variances alone: least
// squares, which may be below 0 but are off by noise that has no mean.
func (p *part) linear() {
	sum, variance := p.count, 0.0
	for i := range p.parts {
		sum, variance = sum-p.parts[i].mean, variance+p.parts[i].variance
	}
	for i := range p.parts {
		p.parts[i].count = p.parts[i].mean + sum*p.parts[i].variance/variance
		p.parts[i].linear()
	}
}

// leaves appends the ranges that are not divided, their variances times a factor by which
// they sum to the variance of the estimate above.
func (p *part) leaves(list []Leaf, factor float64) []Leaf {
	if p.parts == nil {
		return append(list, Leaf{Lo: p.lo, Hi: p.hi, Count: p.count, Var: p.variance * factor})
	}
	lower := 0.0
	for i := range p.parts {
		lower += p.parts[i].variance
	}
	for i := range p.parts {
		list = p.parts[i].leaves(list, factor*p.variance/lower)
	}
	return list
}

// Nearest returns the point of {x >= 0, sum x = total} that is nearest to y where distances
// are in standard deviations: each y less one number times its variance, and 0 where
// that is negative. All are 0 where total is not positive.
func Nearest(y, variances []float64, total float64) []float64 {
	x := make([]float64, len(y))
	if !(total > 0) {
		return x
	}
	out := make([]bool, len(y)) // at 0
	for {
		sum, variance := -total, 0.0
		for i := range y {
			if !out[i] {
				sum, variance = sum+y[i], variance+variances[i]
			}
		}
		again := false
		for i := range y {
			if x[i] = 0; out[i] {
				continue
			}
			if x[i] = y[i] - float64(sum/variance*variances[i]); x[i] < 0 {
				x[i], out[i], again = 0, true, true
			}
		}
		if !again {
			return x
		}
	}
}

// sd returns the standard deviation of a leaf's noise.
func (l Leaf) sd() float64 { return math.Sqrt(l.Var) }

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

// known is the variance of a count that is settled, in units of the variance of its noise: a tree does not
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
	var retained []int
	whole, _ := p.seen(cells)
	for _, of := range whole {
		groups = append(groups, Leaf{Lo: of.lo, Hi: of.hi, Count: of.count, Var: of.variance})
	}
	for i, g := range groups {
		if g.Count >= keptFrom*g.sd() {
			retained = append(retained, i)
		}
	}
	settled := map[int]bool{}
	if !isBody(groups, retained) {
		return settled
	}
	for _, r := range runs(groups, retained, cells/wideGap) {
		for k, count := range r.settled() {
			leaf := whole[r.places[k]]
			leaf.weight = 1 / float64(known*leaf.variance)
			leaf.sum = count * leaf.weight
			settled[leaf.lo] = true
		}
	}
	return settled
}

// seen returns the ranges that are not divided, from left to right, but instead of the parts of a range of which none
// shows keptFrom standard deviations of its noise, while the range does, the range; and whether any does. Ranges are
// halved for as long as their halves can be told apart, so that most of what is left shows less by itself, though
// together it is the body of the line: without that its tails would be taken for a part of it.
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

// clone returns a tree that may be estimated anew.
func (p *part) clone() *part {
	c := *p
	c.parts = nil
	for i := range p.parts {
		c.parts = append(c.parts, *p.parts[i].clone())
	}
	return &c
}
