package learn

import "math"

// best finds the split of a leaf of greatest gain among the groups of tile k.
func (t *histGrower) best(l *leafState, k int) histSplit {
	best := histSplit{tile: k}
	if !t.divisible(l) {
		return best
	}
	for at, g := range t.tiles[k].groups {
		bins := l.hist[g.at : g.at+len(g.edges)+g.width+1]
		if g.width > 0 {
			t.bestOfBlock(l, at, bins[:g.width], &best)
		} else {
			t.bestOfColumn(l, at, bins[:len(g.edges)], &best)
		}
	}
	return best
}

// bestOfColumn sends the rows of bins up to one to the left.
func (t *histGrower) bestOfColumn(l *leafState, at int, bins []histBin, best *histSplit) {
	g, h, n := 0.0, 0.0, 0
	for b, c := range bins {
		g, h, n = g+c.g, h+c.h, n+int(c.n)
		if c.n > 0 {
			t.offer(l, histSplit{0, best.tile, at, uint8(b)}, g, h, n, best)
		}
		if len(l.rows)-n < t.MinRows {
			break
		}
	}
}

// bestOfBlock sends the rows of all bins but one to the left: those with a 0.
func (t *histGrower) bestOfBlock(l *leafState, at int, bins []histBin, best *histSplit) {
	for b, c := range bins {
		if c.n > 0 {
			t.offer(l, histSplit{0, best.tile, at, uint8(b)}, l.g-c.g, l.h-c.h, len(l.rows)-int(c.n), best)
		}
	}
}

// offer keeps a split with the sums g, h and n on its left where its gain
// 0.5 (GL^2/(HL+l) + GR^2/(HR+l) - G^2/(H+l)) - gamma is greater.
func (t *histGrower) offer(l *leafState, s histSplit, g, h float64, n int, best *histSplit) {
	if n < t.MinRows || h < t.MinHessian || len(l.rows)-n < t.MinRows || l.h-h < t.MinHessian {
		return
	}
	right := l.g - g
	sum := g*g/(h+t.Lambda) + right*right/(l.h-h+t.Lambda) - l.g*l.g/(l.h+t.Lambda)
	s.gain = float64(0.5*sum) - t.Gamma
	if s.gain > best.gain && !math.IsInf(s.gain, 0) {
		*best = s
	}
}
