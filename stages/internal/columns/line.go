package columns

import (
	"math"
	"math/rand/v2"

	"weir/pipeline"
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
}

// exactWhole bounds whole numbers: float64 holds every one up to 2^53.
const exactWhole = 1 << 53

// lineOf is the points of a bounded column: those that sampled values are rounded to
// (stages/prep/restore.go), so that no value of the grid is changed afterwards.
func lineOf(c pipeline.Column) line {
	l := line{least: c.Bounds[0], upper: c.Bounds[1], step: c.Step}
	if c.Type != pipeline.Numeric {
		l.least, l.upper = math.Ceil(max(l.least, -exactWhole)), math.Floor(min(l.upper, exactWhole))
		if !(l.step >= 1) || l.step != math.Trunc(l.step) || l.step > exactWhole {
			l.step = 1
		}
		l.points, l.scale = int64(math.Floor((l.upper-l.least)/l.step))+1, 1/l.step
		return l
	}
	if !(l.step > 0) || !((l.upper-l.least)/l.step < exactWhole) {
		return l.stretches()
	}
	if per := math.Round(1 / l.step); l.step <= 1 && math.Abs(per*l.step-1) < 1e-9 && math.Abs(l.least*per-math.Round(l.least*per)) < 1e-6 {
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
	half := l.upper/2 - l.least/2 // finite for any two bounds
	l.scale, l.step = lineCells/half, half*(2./lineCells)
	if math.IsInf(l.scale, 0) {
		l.points, l.scale, l.step = 1, 0, 2*half
	}
	return l
}

// decimals are the multiples of 1/per, for steps such as 0.1: dividing whole numbers
// gives the nearest decimal.
func (l line) decimals(per float64) line {
	l.per, l.scale, l.first = per, per, math.Round(l.least*per)
	last := math.Round(l.upper * per)
	if l.first/per < l.least {
		l.first++
	}
	if last/per > l.upper {
		last--
	}
	l.least, l.points = l.first/per, int64(last-l.first)+1
	return l
}

// cell is the cell nearest to x, which is a number. Products are rounded on their own,
// so that all machines agree.
func (l *line) cell(x float64) int {
	var k float64
	if l.open {
		k = math.Floor((x/2 - l.least/2) * l.scale)
	} else {
		k = math.RoundToEven((x - l.least) * l.scale)
	}
	if !(k > 0) {
		return 0
	}
	at := l.points - 1
	if k < float64(at) {
		at = int64(k)
	}
	if l.width > 1 {
		at /= l.width
	}
	return int(at)
}

// draw is a value of a cell: each of its points alike, or anywhere in its stretch.
func (l *line) draw(cell int, rng *rand.Rand) float64 {
	at := int64(cell) * l.width
	if n := min(l.width, l.points-at); n > 1 {
		at += rng.Int64N(n)
	}
	if l.open {
		return min(max(l.least+float64((float64(at)+rng.Float64())*l.step), l.least), l.upper)
	}
	return l.point(at)
}

// point is the value of point k.
func (l *line) point(k int64) float64 {
	if l.per > 0 {
		return (l.first + float64(k)) / l.per
	}
	return min(l.least+float64(float64(k)*l.step), l.upper)
}
