package pld

import (
	"math"

	"weir/internal/bitmath"
)

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
