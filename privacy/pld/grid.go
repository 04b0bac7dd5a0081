package pld

import (
	"math"

	"weir/internal/bitmath"
)

// grid is a tilted measure on multiples of h: the point (lo+i)*h has mass
// e^{scale} * mass[i] * e^{-tilt*loss} under P. Masses sum to about 1. A total
// of at most doubt of tilted mass is missing, misplaced or in excess.
type grid struct {
	h     float64
	lo    int
	mass  []float64
	scale float64
	doubt float64
	// cumulant is ln of the mean of e^{s loss} under the masses as they are without
	// rounding and without what a window has left out.
	cumulant func(s float64) float64
}

// ownCumulant returns the cumulant of the masses themselves, for a grid that no transform made.
// Weights fall from 1 away from the end that weighs most. Masses are at most 1: once a weight is below half a unit in
// the last place of the sum, no term behind it changes the sum.
func (g *grid) ownCumulant(s float64) float64 {
	n := len(g.mass)
	sum, w, r, end := 0.0, 1.0, bitmath.Exp(-math.Abs(s)*g.h), g.lo
	if s >= 0 {
		end = g.lo + n - 1
		for i := n - 1; i >= 0 && matters(w, sum); i-- {
			sum += float64(g.mass[i] * w)
			w *= r
		}
	} else {
		for i := 0; i < n && matters(w, sum); i++ {
			sum += float64(g.mass[i] * w)
			w *= r
		}
	}
	return float64(s*float64(end)*g.h) + bitmath.Log(sum)
}

// matters reports whether a term of at most w may change a sum.
func matters(w, sum float64) bool { return w > 0 && (w > sum*0x1p-54 || sum < 1e-200) }

// maxPoints bounds the memory of a grid; a longer one is made coarser.
const maxPoints = 1 << 21

// maxIndex bounds the places on a grid: there the rounding of a loss, a part 2^-53 of
// it, is still far below the step, and an int holds the place.
const maxIndex = 1 << 40

// nudge is the part of h within which a loss counts as a grid point, so that
// rounding of aligned losses does not split them. The composition adds it back.
const nudge = 1e-10

// trim returns the range [i, j) of the tilted masses w outside of which at most
// drop lies on each side, and what is dropped.
func trim(w []float64, drop float64) (i, j int, lost float64) {
	j = len(w)
	var a, b float64
	for i < j && a+w[i] <= drop {
		a += w[i]
		i++
	}
	for j > i && b+w[j-1] <= drop {
		j--
		b += w[j]
	}
	return i, j, a + b
}

// project puts tilted atoms (losses ascending, tilted masses w) on the grid.
func project(loss, w []float64, h, tilt float64, lower bool) *grid {
	g := &grid{h: h, lo: int(math.Floor(loss[0]/h)) - 1}
	g.mass = make([]float64, int(math.Ceil(loss[len(loss)-1]/h))+2-g.lo)
	if lower {
		g.gather(loss, w, tilt)
	} else {
		g.spread(loss, w, tilt)
	}
	return g
}

// spread splits each atom over its two grid neighbours with the same mass under
// P and Q, which raises the divergence (see merge).
func (g *grid) spread(loss, w []float64, tilt float64) {
	width := -bitmath.Expm1(-g.h)
	for i, l := range loss {
		if w[i] == 0 {
			continue
		}
		j := int(math.Floor(l / g.h))
		d := math.Min(math.Max(l-float64(float64(j)*g.h), 0), g.h)
		up := -bitmath.Expm1(-d) / width
		if d < nudge*g.h || d > (1-nudge)*g.h { // on a grid point but for rounding
			j, up = int(math.Round(l/g.h)), 0
			g.mass[j-g.lo] += w[i]
			continue
		}
		g.mass[j-g.lo] += float64(w[i] * (1 - up) * bitmath.Exp(-tilt*d))
		g.mass[j+1-g.lo] += float64(w[i] * up * bitmath.Exp(tilt*(g.h-d)))
	}
}

// gather joins atoms so that the joint loss is a grid point, taking as much from
// above the point as balances what lies below: post-processing, which lowers the
// divergence. What cannot be balanced moves down to a grid point.
func (g *grid) gather(loss, w []float64, tilt float64) {
	left := append([]float64(nil), w...)
	for i := 0; i < len(loss); {
		if left[i] == 0 {
			i++
			continue
		}
		j := int(math.Ceil(loss[i]/g.h - nudge))
		point := float64(float64(j) * g.h)
		var mass, enabled, deficit float64
		for ; i < len(loss) && loss[i] <= point+float64(nudge*g.h); i++ {
			p := float64(left[i] * bitmath.Exp(-tilt*(loss[i]-point)))
			if loss[i] >= point-float64(nudge*g.h) {
				enabled += p
				continue
			}
			mass += p
			deficit += float64(p * bitmath.Expm1(point-loss[i]))
		}
		k := i
		for ; k < len(loss) && deficit > 0; k++ {
			p := float64(left[k] * bitmath.Exp(-tilt*(loss[k]-point)))
			s := float64(-p * bitmath.Expm1(point-loss[k]))
			if s > deficit {
				mass += p * deficit / s
				left[k] *= 1 - deficit/s
				deficit = 0
				break
			}
			mass, deficit, left[k] = mass+p, deficit-s, 0
		}
		if deficit > nudge*g.h*mass { // moved to the next point below
			g.mass[j-1-g.lo] += float64(mass * bitmath.Exp(-tilt*g.h))
			mass = 0
		}
		g.mass[j-g.lo] += mass + enabled
	}
}

// normalise scales the masses to sum 1.
func (g *grid) normalise() *grid {
	sum := 0.0
	for _, m := range g.mass {
		sum += m
	}
	for i := range g.mass {
		g.mass[i] /= sum
	}
	g.scale += bitmath.Log(sum)
	return g
}

// onGrid tilts the pair by t and puts it on multiples of h, dropping at most drop
// of the tilted mass on either side.
// It returns nil, and by how much, where the grid is longer than maxPoints.
func (p *pair) onGrid(t, h, drop float64, lower bool) (*grid, float64) {
	k := p.logM(t)
	loss, w := make([]float64, len(p.atoms)), make([]float64, len(p.atoms))
	for i, a := range p.atoms {
		loss[i], w[i] = a.loss, weight(a, t, k)
	}
	i, j, lost := trim(w, drop)
	if i == j {
		return nil, 2 // weights that are not weights
	}
	if reach := farthest(loss[i], loss[j-1]) / h; !(reach < 1) {
		return nil, math.Max(2, math.Min(reach, 1e6))
	}
	g := project(loss[i:j], w[i:j], h, t, lower)
	g.scale, g.doubt = k, lost
	g.normalise()
	g.cumulant = g.ownCumulant
	return g, 0
}

// farthest returns the least step of a grid for losses from a to b: with it the grid has about
// maxPoints points, none beyond maxIndex.
func farthest(a, b float64) float64 {
	return math.Max((b-a)/maxPoints, math.Max(math.Abs(a), math.Abs(b))/maxIndex)
}

// sound says whether g holds numbers throughout: sums that overflowed prove nothing,
// and comparisons with them would find no loss at all.
func (g *grid) sound() bool {
	sum := g.scale + g.doubt
	for _, m := range g.mass {
		sum += m
	}
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// coarse puts g on multiples of h.
func (g *grid) coarse(t, h float64, lower bool) *grid {
	if h == g.h {
		return g
	}
	i, j, lost := trim(g.mass, 1e-18)
	if i == j {
		return g // nothing to move: all of it is in doubt
	}
	var c *grid
	// lower: joining outcomes lowers every moment of order above 0, and no outcome
	// moves down by more than h
	move := func(s float64) float64 { return math.Max(0, -s*h) }
	if lower {
		loss := make([]float64, j-i)
		for n := range loss {
			loss[n] = float64(g.lo+i+n) * g.h
		}
		c = project(loss, g.mass[i:j], h, t, lower)
		c.scale = g.scale
	} else {
		c, move = g.fold(i, j, t, int(math.Round(h/g.h)))
	}
	c.doubt = g.doubt + lost
	c.normalise()
	raised := c.scale - g.scale
	c.cumulant = func(s float64) float64 { return g.cumulant(s) + move(s) - raised }
	return c
}

// fold spreads the points i to j of g on a grid that is ratio times coarser,
// where only ratio distances occur. move(s) is the most by which ln of the mean of
// e^{s loss} can rise with it.
func (g *grid) fold(i, j int, t float64, ratio int) (c *grid, move func(s float64) float64) {
	h := float64(g.h * float64(ratio))
	stay, up := make([]float64, ratio), make([]float64, ratio)
	for r := range stay {
		d := float64(float64(r) * g.h)
		share := bitmath.Expm1(-d) / bitmath.Expm1(-h)
		stay[r], up[r] = (1-share)*bitmath.Exp(-t*d), share*bitmath.Exp(t*(h-d))
	}
	first := g.lo + i - modulo(g.lo+i, ratio)
	c = &grid{h: h, lo: first / ratio, scale: g.scale, mass: make([]float64, (j-i)/ratio+3)}
	r, pos := g.lo+i-first, 0
	for _, m := range g.mass[i:j] {
		c.mass[pos] += float64(m * stay[r])
		c.mass[pos+1] += float64(m * up[r])
		if r++; r == ratio {
			r, pos = 0, pos+1
		}
	}
	return c, func(s float64) float64 {
		most := 0.0
		for r := range stay {
			d := float64(float64(r) * g.h)
			most = math.Max(most, float64(stay[r]*bitmath.Exp(-s*d))+float64(up[r]*bitmath.Exp(s*(h-d))))
		}
		return bitmath.Log(most)
	}
}

// node is a point of a cell: mass p and q and the loss there.
type node = atom

// merge replaces the nodes of a cell, whose losses lie in [l, u], by atoms.
//
// Upper: two atoms at l and u with the same mass under P and under Q as the
// cell (connect the dots: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022):
// the divergence as a function of e^eps is replaced by its chord, which lies
// above. Lower: one atom with both masses; joining outcomes is post-processing.
// The sums run over the larger of the two measures, so that neither the far tail
// nor losses much smaller than 1 cancel.
func merge(dst []atom, cell []node, l, u float64, lower bool) []atom {
	width, mass, share := -bitmath.Expm1(l-u), 0.0, 0.0
	heavy := l+u >= 0
	for _, n := range cell {
		if heavy {
			mass += n.p
			share -= float64(n.p * bitmath.Expm1(l-n.loss))
		} else {
			mass += n.q
			share -= float64(n.q * bitmath.Expm1(n.loss-u))
		}
	}
	if mass == 0 {
		return dst
	}
	switch {
	case lower && heavy:
		return push(dst, mass, 0, l-bitmath.Log1p(-share/mass), true)
	case lower:
		return push(dst, 0, mass, u+bitmath.Log1p(-share/mass), false)
	case width <= 0 && heavy:
		return push(dst, mass, 0, u, true)
	case width <= 0:
		return push(dst, 0, mass, u, false)
	}
	share = math.Min(math.Max(share/width, 0), mass)
	if heavy {
		return push(push(dst, mass-share, 0, l, true), share, 0, u, true)
	}
	return push(push(dst, 0, share, l, false), 0, mass-share, u, false)
}

// push adds an atom of which one mass is known, joining it to the last atom
// where the loss is the same.
func push(dst []atom, p, q, loss float64, knowP bool) []atom {
	if knowP {
		q = float64(p * bitmath.Exp(-loss))
	} else {
		p = float64(q * bitmath.Exp(loss))
	}
	if n := len(dst) - 1; n >= 0 && dst[n].loss == loss {
		dst[n].p += p
		dst[n].q += q
		return dst
	}
	return append(dst, atom{p, q, loss})
}

// density is a pair of densities on the line whose loss increases with x.
type density struct {
	at   func(x float64) (p, q float64)
	loss func(x float64) float64
}

// discretise turns the density between lo and lo+n*step into atoms, cell by cell
// with three-point Gauss-Legendre quadrature. For cells of a hundredth of the
// scale of the density its error is below 1e-14 of a cell's mass; slack covers it.
func discretise(d density, lo, step float64, n int, lower bool) []atom {
	off := float64(math.Sqrt(0.6) / 2)
	x := [3]float64{0.5 - off, 0.5, 0.5 + off}
	w := [3]float64{5. / 18, 8. / 18, 5. / 18}
	atoms := make([]atom, 0, n+4)
	l := d.loss(lo)
	var cell [3]node
	for i := range n {
		a := lo + float64(float64(i)*step)
		u := d.loss(lo + float64(float64(i+1)*step))
		for j := range cell {
			p, q := d.at(a + float64(x[j]*step))
			cell[j] = node{p * w[j] * step, q * w[j] * step, d.loss(a + float64(x[j]*step))}
		}
		atoms = merge(atoms, cell[:], l, u, lower)
		l = u
	}
	return atoms
}

// coarsen joins runs of atoms whose losses span at most width.
func coarsen(atoms []atom, width float64, lower bool) []atom {
	var out []atom
	for i := 0; i < len(atoms); {
		j := i + 1
		for j < len(atoms) && atoms[j].loss-atoms[i].loss <= width {
			j++
		}
		out = merge(out, atoms[i:j], atoms[i].loss, atoms[j-1].loss, lower)
		i = j
	}
	return out
}

// hull returns the atoms of the lower convex hull, as a function of e^eps, of the
// points (eps, delta), and the mass at infinite loss, which is the last delta.
// Any true divergence below the points is convex, hence below the hull too.
func hull(eps, delta []float64) (atoms []atom, inf float64) {
	inf = delta[len(delta)-1]
	x := func(i int) float64 { return bitmath.Exp(eps[i]) }
	slope := func(i, j int) float64 {
		return (delta[j] - delta[i]) / (x(i) * bitmath.Expm1(eps[j]-eps[i]))
	}
	var keep []int
	for i := range eps {
		for len(keep) > 1 && slope(keep[len(keep)-2], keep[len(keep)-1]) >= slope(keep[len(keep)-1], i) {
			keep = keep[:len(keep)-1]
		}
		keep = append(keep, i)
	}
	before := (delta[keep[0]] - 1) / x(keep[0])
	for n, i := range keep {
		after := 0.0
		if n+1 < len(keep) {
			after = slope(i, keep[n+1])
		}
		if q := after - before; q > 0 {
			atoms = append(atoms, atom{x(i) * q, q, eps[i]})
		}
		before = after
	}
	return atoms, inf
}
