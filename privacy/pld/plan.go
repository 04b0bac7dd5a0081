package pld

import "math"

// layout says on which grids the parts are composed.
//
// Putting a loss of step h on a grid adds at most h^2/4, on average h^2/6, to its
// variance, and n such losses raise epsilon by about n h^2 (t+1)/12 at the order t
// of the tilt (the log moments grow by n h^2 t(t+1)/12). That is kept at the part
// fineness of epsilon. One grid for n steps would need about sqrt(n) points per
// point of one step; two levels need sqrt(sqrt(n)): groups of about sqrt(n) uses
// on a fine grid, then the groups on a coarse one. Each change of grid is rigorous.
type layout struct {
	h      float64   // of the last grid
	fine   []float64 // of each part's own grid; h over an integer
	groups []int64   // uses of each part that are composed on its own grid
}

// planGrids lays out the parts for an answer near epsilon eps at order t.
func planGrids(parts []part, t, eps, fineness float64) layout {
	total, counts := 0.0, 0.0
	for _, p := range parts {
		_, _, v := p.pair.moments(t)
		total += float64(p.count * v)
		counts += p.count
	}
	sd := math.Sqrt(total)
	budget := 12 * fineness * math.Max(eps, 0.2*sd) / (t + 1) // for the sum of h^2
	lay := layout{groups: make([]int64, len(parts)), fine: make([]float64, len(parts))}
	two := 16*sd*math.Sqrt(counts/budget) > 1<<15
	groups := 0.0
	for i, p := range parts {
		lay.groups[i] = 1
		if two {
			lay.groups[i] = groupSize(int64(p.count))
		}
		groups += math.Ceil(p.count / float64(lay.groups[i]))
	}
	lay.h = align(parts, math.Sqrt(budget/groups))
	for i := range parts {
		lay.fine[i] = lay.h
		if lay.groups[i] > 1 {
			lay.fine[i] = lay.h / math.Ceil(lay.h/math.Sqrt(budget/counts))
		}
	}
	return lay
}

// groupSize returns a number near sqrt(n), a divisor of n if there is one nearby.
func groupSize(n int64) int64 {
	m := int64(math.Sqrt(float64(n)))
	for d := m; d > m/2 && d > 1; d-- {
		if n%d == 0 {
			return d
		}
	}
	return max(m, 1)
}

// align makes h divide the lattice of the part with the widest one, if any.
func align(parts []part, h float64) float64 {
	wide := 0.0
	for _, p := range parts {
		wide = math.Max(wide, p.pair.lattice)
	}
	switch {
	case wide < h:
		return h
	case len(parts) == 1 && parts[0].pair.exact:
		return wide
	}
	return wide / math.Ceil(wide/h)
}

// sum is the composition of all parts at one order.
type sum struct {
	*grid
	t     float64
	shift float64 // loss that rounding to grid points may have hidden
}

// compose returns the composition of the parts tilted by t, for an answer near
// eps, or nil where no grid of maxPoints holds it; the moment bound then remains.
func compose(parts []part, t, eps, fineness float64, lower bool) *sum {
	lay := planGrids(parts, t, eps, fineness)
	uses := 0.0
	for _, p := range parts {
		uses += p.count
	}
	for range 12 {
		g, excess := lay.try(parts, t, uses, lower)
		if g != nil && !g.sound() {
			return nil
		}
		if g != nil {
			// 1e-13 a use covers quadrature and the rounding of masses, which
			// are relative to each mass and so to each product of masses
			if lower {
				g.scale -= float64(1e-13 * uses)
			} else {
				g.scale += float64(1e-13 * uses)
			}
			return &sum{grid: g, t: t, shift: nudge * uses * lay.h}
		}
		lay.coarsen(excess)
	}
	return nil
}

// coarsen multiplies the steps by at least f.
func (lay *layout) coarsen(f float64) {
	f = math.Ceil(1.1 * f)
	lay.h *= f
	for i := range lay.fine {
		lay.fine[i] *= f
	}
}

// try composes, or returns nil and by how much a grid would be too long.
func (lay *layout) try(parts []part, t, uses float64, lower bool) (*grid, float64) {
	powers := make([]power, 0, len(parts)+1)
	for i, p := range parts {
		more, excess := lay.powers(i, p, t, uses, lower)
		if more == nil {
			return nil, excess
		}
		powers = append(powers, more...)
	}
	return convolve(powers, t, lay.h, tailDoubt)
}

// powers returns part i on the last grid: its groups and what is left over.
func (lay *layout) powers(i int, p part, t, uses float64, lower bool) ([]power, float64) {
	m, n, h := lay.groups[i], int64(p.count), lay.fine[i]
	step, excess := p.pair.onGrid(t, h, tailDoubt/uses, lower)
	switch {
	case step == nil:
		return nil, excess
	case m == 1:
		return []power{{step, n, p.pair, 1}}, 0
	}
	var out []power
	for _, part := range []power{{step, m, p.pair, 1}, {step, n % m, p.pair, 1}} {
		if part.count == 0 {
			continue
		}
		g, excess := convolve([]power{part}, t, h, tailDoubt/float64(n/m+1))
		if g == nil {
			return nil, excess
		}
		out = append(out, power{g.coarse(t, lay.h, lower), 1, p.pair, float64(part.count)})
	}
	out[0].count = n / m
	return out, 0
}
