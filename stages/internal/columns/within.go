package columns

import (
	"maps"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// mostWithin is the most points of a cell that are told apart.
const mostWithin = 1 << 8

// Points returns how many points of the column a cell has: more than 1 only where a cell
// each would be too many.
func (g Grid) Points() int {
	if g.Coded() {
		return 1
	}
	return int(g.line.width)
}

// HasInnerCounts reports whether ReadCodes says which point of its cell a value is.
func (g Grid) HasInnerCounts() bool { return g.Points() > 1 && g.Points() <= mostWithin }

// PointsIn returns how many points a cell has; the last has fewer.
func (g Grid) PointsIn(cell int) int {
	return int(min(g.line.width, g.line.points-int64(cell)*g.line.width))
}

// Point returns the value of a point of a cell of numbers, counted from 0.
func (g Grid) Point(cell, point int) float64 {
	return g.line.point(int64(cell)*g.line.width + int64(point))
}

// PointOf returns the point nearest to a number in its cell; 0 where cells have one.
func (g Grid) PointOf(x float64) int {
	if g.Points() == 1 || math.IsNaN(x) {
		return 0
	}
	return int(g.line.place(x) % g.line.width)
}

// Shared returns the grid with known shares of the points of some cells, by which Value and
// Append choose among them. Shares are not negative, one a point, and not all 0.
func (g Grid) Shared(shares map[int][]float64) Grid {
	g.shares = maps.Clone(shares)
	for cell, of := range g.shares {
		prefix, sum := make([]float64, len(of)), 0.0
		for i, x := range of {
			sum += x
			prefix[i] = sum
		}
		g.shares[cell] = prefix
	}
	return g
}

// appendWithin adds the place of each value in its cell; 0 where it is missing.
func (g *Grid) appendWithin(dst []uint8, a arrow.Array) []uint8 {
	switch a := a.(type) {
	case *array.Int64:
		for _, v := range a.Int64Values() {
			dst = append(dst, uint8(g.line.wholePlace(v)%g.line.width))
		}
	case *array.Float64:
		for _, x := range a.Float64Values() {
			pos := int64(0)
			if !math.IsNaN(x) {
				pos = g.line.place(x) % g.line.width
			}
			dst = append(dst, uint8(pos))
		}
	}
	return dst
}
