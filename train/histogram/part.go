package histogram

import "math"

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

// up takes means by precision, from the leaves to the root.
func (p *part) up() {
	sum, weight := p.sum, p.weight
	if p.parts != nil {
		below, variance := 0.0, 0.0
		for i := range p.parts {
			p.parts[i].up()
			below, variance = below+p.parts[i].mean, variance+p.parts[i].variance
		}
		sum, weight = sum+below/variance, weight+1/variance
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
// they sum to that of the estimate above.
func (p *part) leaves(list []Leaf, factor float64) []Leaf {
	if p.parts == nil {
		return append(list, Leaf{Lo: p.lo, Hi: p.hi, Count: p.count, Var: p.variance * factor})
	}
	below := 0.0
	for i := range p.parts {
		below += p.parts[i].variance
	}
	for i := range p.parts {
		list = p.parts[i].leaves(list, factor*p.variance/below)
	}
	return list
}

// Nearest is the point of {x >= 0, sum x = total} that is nearest to y where distances
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

// sd is the standard deviation of a leaf's noise.
func (l Leaf) sd() float64 { return math.Sqrt(l.Var) }
