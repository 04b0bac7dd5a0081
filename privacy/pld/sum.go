package pld

import (
	"math"
	"sync"

	"weir/internal/bitmath"
)

// level returns the index-wise sums that give delta at the grid points: at point
// j, tail[j] = sum over i >= j of mass_i e^{-(t+1)(L_i-L_j)} and over[j] = sum
// over i > j of mass_i e^{-t(L_i-L_j)} (1-e^{-(L_i-L_j)}). The recursions add
// terms of one sign only.
func (s *sum) level() (tail, upper []float64) {
	n := len(s.mass)
	tail, upper = make([]float64, n), make([]float64, n)
	r0, r1, gap := bitmath.Exp(-s.t*s.h), bitmath.Exp(-(s.t+1)*s.h), -bitmath.Expm1(-s.h)
	a, d := 0.0, 0.0
	for j := n - 1; j >= 0; j-- {
		d = float64(r0 * (d + float64(gap*a)))
		a = s.mass[j] + float64(r1*a)
		tail[j], upper[j] = a, d
	}
	return tail, upper
}

// peak returns the largest effect of the doubtful mass on delta(eps), divided by
// e^{scale - t eps}.
func (s *sum) peak() float64 { return s.doubt * bitmath.Exp(logPeak(s.t)) }

func (s *sum) logDoubt() float64 { return bitmath.Log(s.doubt) + logPeak(s.t) }

// delta returns the bound on delta(eps) of the finite losses.
func (s *sum) delta(eps float64, lower bool) float64 {
	if !lower {
		eps -= s.shift
	} else {
		eps += s.shift
	}
	var tail, upper float64
	r0, r1, gap := bitmath.Exp(-s.t*s.h), bitmath.Exp(-(s.t+1)*s.h), -bitmath.Expm1(-s.h)
	point := eps
	for j := len(s.mass) - 1; j >= 0; j-- {
		l := float64(s.lo+j) * s.h
		if l <= eps {
			break
		}
		upper = float64(r0 * (upper + float64(gap*tail)))
		tail = s.mass[j] + float64(r1*tail)
		point = l
	}
	y := point - eps
	value := float64(bitmath.Exp(-s.t*y) * (upper - float64(tail*bitmath.Expm1(-y))))
	if lower {
		return math.Max(0, bitmath.Exp(s.scale-float64(s.t*eps))*(value-s.peak()))
	}
	return bitmath.Exp(s.scale-float64(s.t*eps)) * (value + s.peak())
}

// epsilon returns the bound on the least eps at which the finite losses have at
// most the given delta, never below 0.
func (s *sum) epsilon(delta float64, lower bool) float64 {
	tail, upper := s.level()
	target := bitmath.Log(delta) - s.scale
	sign, shift := 1.0, s.shift
	if lower {
		sign, shift = -1, -s.shift
	}
	// above the window only the doubt is left, which falls by t
	if top, end := (s.logDoubt()-target)/s.t, float64(s.lo+len(tail)-1)*s.h; !lower && top > end {
		return math.Max(0, top+shift)
	}
	for j := len(tail) - 1; j >= 0; j-- {
		l, reach := float64(float64(s.lo+j)*s.h), s.h
		if j == 0 {
			reach = math.Max(reach, l) // below the window delta still rises
		}
		c := cell{over: upper[j], tail: tail[j], doubt: sign * s.peak(), t: s.t, target: bitmath.Exp(target + float64(s.t*l)),
			log: target + float64(s.t*l)}
		y, found := c.cross(reach, lower)
		if found {
			return math.Max(0, l-y+shift)
		}
		if l <= 0 {
			break
		}
	}
	return math.Max(0, shift)
}

// cell is delta(l-y) for y >= 0, times e^{tl-scale}, and the target on that scale.
type cell struct{ over, tail, doubt, t, target, log float64 }

func (c cell) exceeds(y float64) bool {
	known := c.over - float64(c.tail*bitmath.Expm1(-y))
	if c.log < 600 && c.t*y < 600 {
		return known+float64(c.doubt*bitmath.Exp(c.t*y)) > c.target
	}
	if c.doubt < 0 {
		// half of it is sure
		return bitmath.Log(known) > c.log && bitmath.Log(known)-bitmath.Log(-c.doubt)-float64(c.t*y) > math.Ln2
	}
	// one of the two is at least half
	return math.Max(bitmath.Log(known), bitmath.Log(c.doubt)+float64(c.t*y)) > c.log-math.Ln2
}

// cross returns where delta exceeds the target in the cell: for the upper bound
// the largest y up to which it does not, for the lower one a y at which it does.
func (c cell) cross(h float64, lower bool) (y float64, found bool) {
	lo, hi := 0.0, h
	if lower {
		nominal := math.Max(0, -bitmath.Log1p(-math.Min((c.target-c.over)/c.tail, 1)))
		for _, f := range []float64{0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1, 1} {
			if hi = nominal + float64(f*(h-nominal)); nominal <= h && c.exceeds(hi) {
				found = true
				break
			}
		}
	}
	if !lower {
		found = c.exceeds(hi)
	}
	for i := 0; found && i < 60; i++ {
		if y = (lo + hi) / 2; c.exceeds(y) {
			hi = y
		} else {
			lo = y
		}
	}
	if lower {
		return hi, found
	}
	return lo, found
}

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
	groups := []power{{step, m, p.pair, 1}, {step, n % m, p.pair, 1}}
	if n%m == 0 {
		groups = groups[:1]
	}
	out, excesses := make([]power, len(groups)), make([]float64, len(groups))
	var wait sync.WaitGroup
	for i, group := range groups { // side by side: most of the time of a long composition
		wait.Add(1)
		go func() {
			defer wait.Done()
			g, excess := convolve([]power{group}, t, h, tailDoubt/float64(n/m+1))
			if excesses[i] = excess; g != nil {
				out[i] = power{g.coarse(t, lay.h, lower), 1, p.pair, float64(group.count)}
			}
		}()
	}
	wait.Wait()
	for i := range out {
		if out[i].grid == nil {
			return nil, excesses[i]
		}
	}
	out[0].count = n / m
	return out, 0
}
