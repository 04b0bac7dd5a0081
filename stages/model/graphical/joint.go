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
	even       *law
	tilts      []*tilt // by cell and the other's stretch; nil: not needed yet
}

// tilt is what one place of the other number says of where this one lies.
type tilt struct {
	densities [stretches]float32 // the greatest 1
	whole     float64            // the mass that the even law has under them
}

func newJoint(r relation, all []*scores, even *law) *joint {
	own, other := all[r.column], all[r.by]
	room := len(own.mean) * len(other.mean) * stretches
	return &joint{relation: r, own: own, other: other, even: even, tilts: make([]*tilt, room)}
}

// Stretches of ranks inside a bin, in which the normal score is taken for one: halved again and
// again towards both ends, where scores of a first or last bin run away.
const (
	stretches = 32
	evenPart  = 9 // stretches of a half that are equally wide
	outer     = 1. / 16
)

// stretch returns from where to where in [0, 1] one lies.
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

// stretchOf returns the stretch that a rank in [0, 1) lies in.
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

// tiltOf returns the tilt in a cell where the other number lies in a stretch.
func (j *joint) tiltOf(step, code, pos int) *tilt {
	known := &j.tilts[(step*len(j.own.mean)+code)*stretches+pos]
	if *known == nil {
		*known = j.tilt(step, code, pos)
	}
	return *known
}

func (j *joint) tilt(by, code, at int) *tilt {
	r, y := j.relation.cells[by][code], j.other.at[by][at]
	var logs [stretches]float64
	for k, x := range j.own.at[code] {
		off := x - float64(r*y)
		logs[k] = (float64(x*x) - float64(off*off)/(1-float64(r*r))) / 2
	}
	most := slices.Max(logs[:])
	t := &tilt{}
	for k, l := range logs {
		t.densities[k] = float32(bitmath.Exp(l - most))
	}
	alone := *j.even
	alone.tilt(t)
	t.whole = alone.whole
	return t
}

// law is how much of the ranks lies in each stretch.
type law struct {
	masses [stretches]float64
	whole  float64 // their sum
}

// evenly returns the law of a number that is tied to none.
func evenly() *law {
	l := &law{}
	for k := range l.masses {
		low, high := stretch(k)
		l.masses[k] = high - low
		l.whole += l.masses[k]
	}
	return l
}

// tilt puts the law under one tilt more.
func (l *law) tilt(t *tilt) {
	whole := 0.0
	for k, d := range &t.densities {
		x := float64(l.masses[k] * float64(d))
		l.masses[k] = x
		whole += x
	}
	l.whole = whole
}

// quantile returns the rank in [0, 1] that has u of the mass below under tilts; u itself where nothing has mass.
func (l *law) quantile(keys []*tilt, u float64) float64 {
	switch len(keys) {
	case 0:
		return l.rank(u)
	case 1:
		return l.rankUnder(keys[0], u)
	}
	conditioned := *l
	for _, t := range keys {
		conditioned.tilt(t)
	}
	return conditioned.rank(u)
}

func (l *law) rank(u float64) float64 {
	left := float64(u * l.whole)
	for k, x := range &l.masses {
		if x > 0 && left <= x {
			return rankIn(k, left, x)
		}
		left -= x
	}
	return u
}

// rankUnder returns rank of the law under one tilt, whose masses are found on the way.
func (l *law) rankUnder(t *tilt, u float64) float64 {
	left := float64(u * t.whole)
	for k, d := range &t.densities {
		x := float64(l.masses[k] * float64(d))
		if x > 0 && left <= x {
			return rankIn(k, left, x)
		}
		left -= x
	}
	return u
}

// rankIn returns the rank in a stretch of mass x that has so much of it below.
func rankIn(k int, below, x float64) float64 {
	low, high := stretch(k)
	return low + float64((high-low)*below/x)
}

// alikeCells is the weight of the correlation of all rows in the correlation of a cell: what is expected
// of a cell before its corners are seen is that correlation, with the variance 1/alikeCells.
const alikeCells = 30

// couplings returns the correlations of normal scores in the cells of the model's table of a number
// and the one it is placed by, by code of the other and by code: the mean of the tetrachoric
// correlations (Pearson 1900) at the corners that the cell has inside the table, and of the
// correlation of all rows, each weighed by how well its four counts tell it. A table of normal
// scores has the same in all cells; of rows that are tied in their tails alone, the corner has
// more.
func (r relation) couplings(table []float64, all []*scores) [][]float64 {
	single, other := all[r.column], all[r.by]
	lower := r.lowerRows(table, all)
	sums, weights := grid(len(other.mean), len(single.mean)), grid(len(other.mean), len(single.mean))
	for a := 1; a < len(other.mean); a++ {
		for b := 1; b < len(single.mean); b++ {
			found, weight := r.corner(lower, a, b)
			for _, cell := range [][2]int{{a - 1, b - 1}, {a - 1, b}, {a, b - 1}, {a, b}} {
				sums[cell[0]][cell[1]] += float64(weight * found)
				weights[cell[0]][cell[1]] += weight
			}
		}
	}
	for a := range sums {
		for b := range sums[a] {
			sums[a][b] = (sums[a][b] + float64(alikeCells*r.strength)) / (weights[a][b] + alikeCells)
		}
	}
	return sums
}

// lowerRows returns the rows with lower codes of the other number and of this one, of rows where
// neither is missing.
func (r relation) lowerRows(table []float64, all []*scores) [][]float64 {
	single, other := len(all[r.column].mean), len(all[r.by].mean)
	wide := all[max(r.column, r.by)].codes
	sums := grid(other+1, single+1)
	for a := range other {
		for b := range single {
			pos := b*wide + a
			if r.by < r.column {
				pos = a*wide + b
			}
			sums[a+1][b+1] = max(table[pos], 0) + sums[a][b+1] + (sums[a+1][b] - sums[a][b])
		}
	}
	return sums
}

// corner returns the correlation that the four parts of a table show, split below two codes, and the
// inverse of its variance: rows times the sum of the inverse shares, the inverse variance of a part
// whose sides are known, times the square of how fast the part grows with the correlation. The
// shares follow from the correlation of all rows, so that no noise weighs itself.
func (r relation) corner(lower [][]float64, a, b int) (found, weight float64) {
	other, single := len(lower)-1, len(lower[0])-1
	rows := lower[other][single]
	if !(rows > 0) {
		return r.strength, 0
	}
	p, q := lower[a][single]/rows, lower[other][b]/rows
	if !(min(p, q) > 0 && max(p, q) < 1) {
		return r.strength, 0
	}
	x, y := bitmath.NormalQuantile(p), bitmath.NormalQuantile(q)
	both := quadrant(x, y, float64(p*q), r.strength)
	inverse := 0.0
	for _, share := range []float64{both, p - both, q - both, 1 - p - q + both} {
		inverse += 1 / max(share, 1/rows)
	}
	speed := density(x, y, r.strength)
	return tetrachoric(x, y, float64(p*q), lower[a][b]/rows), float64(rows * inverse * speed * speed)
}

// strengthSteps is in how many steps of the correlation the share of a quadrant is summed.
const strengthSteps = 64

// density returns the density of two normal numbers of correlation r at x and y, and how fast the share that
// lies below both grows with r (Plackett 1954, equation 3).
func density(x, y, r float64) float64 {
	rest := 1 - float64(r*r)
	square := float64(x*x) - float64(2*r*x*y) + float64(y*y)
	return bitmath.Exp(-square/(2*rest)) / (2 * math.Pi * math.Sqrt(rest))
}

// quadrant returns the share below x and y at a correlation; independent is the share for independent numbers.
func quadrant(x, y, independent, r float64) float64 {
	share, step := independent, r/strengthSteps
	for k := range strengthSteps {
		share += float64(step * density(x, y, float64(step*(float64(k)+.5))))
	}
	return share
}

// tetrachoric returns the correlation at which a share lies below x and y, at most mostRelation.
func tetrachoric(x, y, independent, share float64) float64 {
	step := mostRelation / float64(strengthSteps)
	left := share - independent
	if left < 0 {
		step = -step
	}
	for k := range strengthSteps {
		more := float64(step * density(x, y, float64(step*(float64(k)+.5))))
		if math.Abs(more) >= math.Abs(left) {
			return float64(step * (float64(k) + left/nonzero(more)))
		}
		left -= more
	}
	return math.Copysign(mostRelation, step)
}

// nonzero returns a number to divide by where 0/0 is 0.
func nonzero(x float64) float64 {
	if x == 0 {
		return 1
	}
	return x
}

func grid(rows, columns int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, columns)
	}
	return out
}
