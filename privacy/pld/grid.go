package pld

import "math"

// grid is a tilted measure on multiples of h: the point (lo+i)*h has mass
// e^{scale} * mass[i] * e^{-tilt*loss} under P. Masses sum to about 1. A total
// of at most doubt of tilted mass is missing, misplaced or in excess.
type grid struct {
	h     float64
	lo    int
	mass  []float64
	scale float64
	doubt float64
}

// maxPoints bounds the memory of a grid; a longer one is made coarser.
const maxPoints = 1 << 21

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
	width := -math.Expm1(-g.h)
	for i, l := range loss {
		if w[i] == 0 {
			continue
		}
		j := int(math.Floor(l / g.h))
		d := math.Min(math.Max(l-float64(j)*g.h, 0), g.h)
		up := -math.Expm1(-d) / width
		if d < nudge*g.h || d > (1-nudge)*g.h { // on a grid point but for rounding
			j, up = int(math.Round(l/g.h)), 0
			g.mass[j-g.lo] += w[i]
			continue
		}
		g.mass[j-g.lo] += w[i] * (1 - up) * math.Exp(-tilt*d)
		g.mass[j+1-g.lo] += w[i] * up * math.Exp(tilt*(g.h-d))
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
		at := float64(j) * g.h
		var mass, on, deficit float64
		for ; i < len(loss) && loss[i] <= at+nudge*g.h; i++ {
			p := left[i] * math.Exp(-tilt*(loss[i]-at))
			if loss[i] >= at-nudge*g.h {
				on += p
				continue
			}
			mass += p
			deficit += p * math.Expm1(at-loss[i])
		}
		k := i
		for ; k < len(loss) && deficit > 0; k++ {
			p := left[k] * math.Exp(-tilt*(loss[k]-at))
			s := -p * math.Expm1(at-loss[k])
			if s > deficit {
				mass += p * deficit / s
				left[k] *= 1 - deficit/s
				deficit = 0
				break
			}
			mass, deficit, left[k] = mass+p, deficit-s, 0
		}
		if deficit > nudge*g.h*mass { // moved to the next point below
			g.mass[j-1-g.lo] += mass * math.Exp(-tilt*g.h)
			mass = 0
		}
		g.mass[j-g.lo] += mass + on
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
	g.scale += math.Log(sum)
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
	if reach := (loss[j-1] - loss[i]) / h; !(reach < maxPoints) {
		return nil, math.Max(2, math.Min(reach/maxPoints, 1e6))
	}
	g := project(loss[i:j], w[i:j], h, t, lower)
	g.scale, g.doubt = k, lost
	return g.normalise(), 0
}

// coarse puts g on multiples of h.
func (g *grid) coarse(t, h float64, lower bool) *grid {
	if h == g.h {
		return g
	}
	i, j, lost := trim(g.mass, 1e-18)
	loss := make([]float64, j-i)
	for n := range loss {
		loss[n] = float64(g.lo+i+n) * g.h
	}
	c := project(loss, g.mass[i:j], h, t, lower)
	c.scale, c.doubt = g.scale, g.doubt+lost
	return c.normalise()
}

// logM returns the logarithm of the moment generating function of the tilted mass.
func (g *grid) logM(s float64) float64 {
	r, sum := math.Exp(s*g.h), 0.0
	base := float64(g.lo) * g.h * s
	if s > 0 {
		base = float64(g.lo+len(g.mass)-1) * g.h * s
		for _, m := range g.mass {
			sum = sum/r + m
		}
	} else {
		for i := len(g.mass) - 1; i >= 0; i-- {
			sum = sum*r + g.mass[i]
		}
	}
	if sum > 1e-250 {
		return base + math.Log(sum)
	}
	return g.logMFar(s)
}

// logMFar is logM where the far end has no mass worth its weight.
func (g *grid) logMFar(s float64) float64 {
	top, sum := math.Inf(-1), 0.0
	for i, m := range g.mass {
		if m > 0 {
			top = math.Max(top, math.Log(m)+s*float64(g.lo+i)*g.h)
		}
	}
	for i, m := range g.mass {
		if m > 0 {
			sum += math.Exp(math.Log(m) + s*float64(g.lo+i)*g.h - top)
		}
	}
	return top + math.Log(sum)
}

func (g *grid) variance() float64 {
	var a, b float64
	for i, m := range g.mass {
		a += m * float64(i)
		b += m * float64(i) * float64(i)
	}
	return math.Max(b-a*a, 0) * g.h * g.h
}
