package columns

import (
	"math"
	"math/rand/v2"
	"sort"

	"weir/pipeline/domain"
)

// line is equally spaced points, or equal stretches where the column has no step.
type line struct {
	points       int64 // points or stretches
	width        int64 // of them in a cell
	least, upper float64
	step         float64 // between points; length of a stretch
	scale        float64 // points in 1 (in 2 where there is no step)
	per, first   float64 // per > 0: point k is (first+k)/per, the nearest decimal
	open         bool    // no step
	whole        bool    // whole numbers, computed as such
}

// exactWhole bounds whole numbers: float64 holds every one up to 2^53.
const exactWhole = 1 << 53

// finest is the most steps between 0 and a bound: beyond it float64 does not tell
// neighbours apart, and the column is one without a step.
const finest = 1 << 50

// lineOf returns the points of a bounded column: those that sampled values are rounded to
// (stages/prep/invert.go), so that no value of the grid is changed afterwards.
func lineOf(c domain.Column) line {
	l := line{least: c.Bounds[0], upper: c.Bounds[1], step: c.Step}
	if c.Type != domain.Numeric {
		l.least, l.upper = math.Ceil(max(l.least, -exactWhole)), math.Floor(min(l.upper, exactWhole))
		if !(l.step >= 1) || l.step != math.Trunc(l.step) || l.step > exactWhole {
			l.step = 1
		}
		l.whole, l.points = true, (int64(l.upper)-int64(l.least))/int64(l.step)+1
		if l.upper < l.least {
			l.points = 0
		}
		return l
	}
	if !(l.step > 0) || !(max(math.Abs(l.least), math.Abs(l.upper))/l.step < finest) {
		return l.stretches()
	}
	if per := math.Round(1 / l.step); l.step <= 1 && math.Abs(float64(per*l.step)-1) < 1e-9 &&
		math.Abs(float64(l.least*per)-math.Round(l.least*per)) < 1e-6 {
		return l.decimals(per)
	}
	l.scale, l.points = 1/l.step, int64(math.RoundToEven((l.upper-l.least)/l.step))+1
	if l.least+float64(float64(l.points-1)*l.step) > l.upper {
		l.points--
	}
	return l
}

// stretches cuts the line where there is no step, or one that is finer than float64.
func (l line) stretches() line {
	l.open, l.points = true, lineCells
	half := float64(l.upper/2) - float64(l.least/2) // finite for any two bounds
	l.scale, l.step = lineCells/half, half*(2./lineCells)
	if math.IsInf(l.scale, 0) {
		l.points, l.scale, l.step = 1, 0, 2*half
	}
	return l
}

// decimals returns the multiples of 1/per, for steps such as 0.1: dividing whole numbers
// gives the nearest decimal.
func (l line) decimals(count float64) line {
	l.per, l.scale, l.first = count, count, math.Round(l.least*count)
	last := math.Round(l.upper * count)
	if l.first/count < l.least {
		l.first++
	}
	if last/count > l.upper {
		last--
	}
	l.least, l.points = l.first/count, int64(last-l.first)+1
	return l
}

// cell returns the cell nearest to x, which is a number.
func (l *line) cell(x float64) int {
	pos := l.place(x)
	if l.width > 1 {
		pos /= l.width
	}
	return int(pos)
}

// place returns the point or stretch nearest to x, which is a number. Products are rounded
// on their own, so that all machines agree.
func (l *line) place(x float64) int64 {
	var k float64
	switch {
	case l.whole:
		return l.wholePlace(int64(math.RoundToEven(min(max(x, l.least), l.upper))))
	case l.open:
		k = math.Floor((float64(x/2) - float64(l.least/2)) * l.scale)
	default:
		k = math.RoundToEven((x - l.least) * l.scale)
	}
	if !(k > 0) {
		return 0
	}
	pos := l.points - 1
	if k < float64(pos) {
		pos = int64(k)
	}
	return pos
}

// wholeCell returns the cell nearest to a whole number.
func (l *line) wholeCell(v int64) int {
	pos := l.wholePlace(v)
	if l.width > 1 {
		pos /= l.width
	}
	return int(pos)
}

func (l *line) wholePlace(v int64) int64 {
	pos := min(max(v, int64(l.least)), int64(l.upper)) - int64(l.least)
	if step := int64(l.step); step > 1 {
		pos = min((pos+step/2)/step, l.points-1)
	}
	return pos
}

// draw returns a value of a cell: each of its points by its share where those are known,
// else alike, or anywhere in its stretch.
func (g *Grid) draw(cell int, rng *rand.Rand) float64 {
	l := &g.line
	pos := int64(cell) * l.width
	if upTo := g.shares[cell]; upTo != nil {
		u := rng.Float64() * upTo[len(upTo)-1]
		pos += int64(sort.Search(len(upTo)-1, func(i int) bool { return upTo[i] > u }))
	} else if n := min(l.width, l.points-pos); n > 1 {
		pos += rng.Int64N(n)
	}
	if l.open {
		return l.along(float64(pos) + float64(rng.Float64()))
	}
	return l.point(pos)
}

// along returns the number k stretches above the least.
func (l *line) along(k float64) float64 {
	half := float64(l.least/2) + float64(k*(l.step/2)) // finite for any two bounds
	return min(max(2*half, l.least), l.upper)
}

// point returns the value of point k, or the lower end of stretch k.
func (l *line) point(k int64) float64 {
	switch {
	case l.open:
		return l.along(float64(k))
	case l.whole:
		return float64(int64(l.least) + k*int64(l.step))
	case l.per > 0:
		return (l.first + float64(k)) / l.per
	}
	return min(l.least+float64(float64(k)*l.step), l.upper)
}
