package graphical

import (
	"math"
	"slices"

	"weir/internal/bitmath"
)

// joint is the law of where a number lies inside its bin, given its code and where another one
// lies: the normal scores x and y of both are jointly normal with the correlation r of the
// cell, so that x's rank has the density of N(r y, 1 - r^2) over the density of N(0, 1).
//
// One correlation for all cells would lose tails: two normal numbers are independent far out
// (Sibuya 1960), and a table of heavy tails has more rows in its corner than their correlation
// explains. So each cell has the correlation that its corners show (couplings).
type joint struct {
	relation   relation
	own, other *scores
	densities  []*[stretches]float32 // by cell and the other's stretch, the greatest 1; nil: not needed yet
}

func newJoint(r relation, all []*scores) *joint {
	own, other := all[r.column], all[r.by]
	room := len(own.mean) * len(other.mean) * stretches
	return &joint{relation: r, own: own, other: other, densities: make([]*[stretches]float32, room)}
}

// Stretches of ranks inside a bin, in which the normal score is taken for one: halved again and
// again towards both ends, where scores of a first or last bin run away.
const (
	stretches = 32
	evenPart  = 9 // stretches of a half that are equally wide
	outer     = 1. / 16
)

// stretch is from where to where in [0, 1] one lies.
func stretch(k int) (low, high float64) {
	if k >= stretches/2 {
		low, high = stretch(stretches - 1 - k)
		return 1 - high, 1 - low
	}
	end := func(k int) float64 {
		if at := k - (stretches/2 - evenPart); at >= 0 {
			return outer + float64((.5-outer)*float64(at)/evenPart)
		}
		return math.Ldexp(outer, k-(stretches/2-evenPart))
	}
	if k == 0 {
		return 0, end(1)
	}
	return end(k), end(k + 1)
}

// stretchOf is the stretch that a rank in [0, 1) lies in.
func stretchOf(rank float64) int {
	if rank >= .5 {
		return stretches - 1 - stretchOf(math.Nextafter(1-rank, 0))
	}
	if rank >= outer {
		return stretches/2 - evenPart + min(int((rank-outer)/(.5-outer)*evenPart), evenPart-1)
	}
	_, e := math.Frexp(rank / outer) // rank/outer in [2^(e-1), 2^e)
	return max(stretches/2-evenPart-1+e, 0)
}

// of are the densities in a cell where the other number lies in a stretch.
func (j *joint) of(by, code, at int) *[stretches]float32 {
	known := &j.densities[(by*len(j.own.mean)+code)*stretches+at]
	if *known != nil {
		return *known
	}
	r, y := j.relation.cells[by][code], j.other.at[by][at]
	var logs [stretches]float64
	for k, x := range j.own.at[code] {
		off := x - float64(r*y)
		logs[k] = (float64(x*x) - float64(off*off)/(1-float64(r*r))) / 2
	}
	most := slices.Max(logs[:])
	*known = new([stretches]float32)
	for k, l := range logs {
		(*known)[k] = float32(bitmath.Exp(l - most))
	}
	return *known
}

// masses are how much of a law of ranks lies in each stretch.
type masses [stretches]float64

// evenly is the law of a number that is tied to none.
func evenly() (m masses) {
	for k := range m {
		low, high := stretch(k)
		m[k] = high - low
	}
	return m
}

func (m *masses) tilt(densities *[stretches]float32) {
	for k, d := range densities {
		m[k] = float64(m[k] * float64(d))
	}
}

// quantile is the rank in [0, 1] that has u of the mass below; u itself where nothing has mass.
func (m *masses) quantile(u float64) float64 {
	whole := 0.0
	for _, x := range m {
		whole += x
	}
	left := float64(u * whole)
	for k, x := range m {
		if x > 0 && left <= x {
			low, high := stretch(k)
			return low + float64((high-low)*left/x)
		}
		left -= x
	}
	return u
}
