package columns

import (
	"math"

	"weir/pipeline/relation"
)

// Stated returns the cell of a value as an expression over the value, by the operations of Cell in their order: exactly
// what ReadCodes makes of it. The value is whole or real as the column's values are, or the code of a category. A
// missing value is in cell Values(), whether the column has that cell or not, and a code outside the categories in cell
// Cells(): a cell of Cells() is a fault.
func (g Grid) Stated(e relation.Expr) relation.Expr {
	return relation.Choice{If: relation.IsMissing{E: e}, Then: whole(int64(g.values)), Else: g.statedValue(e)}
}

func (g Grid) statedValue(e relation.Expr) relation.Expr {
	switch {
	case g.Coded():
		code := func(n int) relation.Expr { return relation.Constant{Of: relation.Code, Int: int64(n)} }
		listed := relation.All{Of: []relation.Expr{
			relation.Compare{Op: ">=", A: e, B: code(0)}, relation.Compare{Op: "<", A: e, B: code(g.values)}}}
		return relation.Choice{If: listed, Then: relation.Rank{E: e, Of: g.values}, Else: whole(int64(g.Cells()))}
	case g.values == 1:
		return whole(0)
	case g.line.whole:
		return g.line.statedWhole(e, g.line.width, int64(g.values))
	case g.line.width > 1:
		return relation.Quotient{E: g.line.statedPlace(e), By: g.line.width}
	}
	return g.line.statedPlace(e)
}

// StatedWithin returns the point that a value is in its cell, as Stated returns the cell; 0 where it is missing. The
// grid is one with HasInnerCounts.
func (g Grid) StatedWithin(e relation.Expr) relation.Expr {
	place := g.line.statedPlace(e)
	if g.line.whole {
		place = g.line.statedWhole(e, 1, g.line.points)
	}
	return relation.Choice{If: relation.IsMissing{E: e}, Then: whole(0),
		Else: relation.Remainder{E: place, By: g.line.width}}
}

func whole(n int64) relation.Expr { return relation.Constant{Of: relation.Whole, Int: n} }

func number(x float64) relation.Expr { return relation.Constant{Of: relation.Real, Float: x} }

// statedPlace states place for real numbers. The number is held to the line first, so that no product overflows: the
// least number at the last point stands for all above it.
func (l *line) statedPlace(e relation.Expr) relation.Expr {
	last := l.points - 1
	upper := leastWith(l.least, func(x float64) bool { return l.place(x) >= last })
	x := relation.Expr(relation.Clip{E: e, Least: l.least, Greatest: upper})
	minus := func(a relation.Expr, b float64) relation.Expr {
		return relation.Arithmetic{Op: "-", A: a, B: number(b)}
	}
	times := func(a relation.Expr, b float64) relation.Expr {
		return relation.Arithmetic{Op: "*", A: a, B: number(b)}
	}
	k := relation.Expr(relation.RoundEven{E: times(minus(x, l.least), l.scale)})
	if l.open {
		half := relation.Arithmetic{Op: "/", A: x, B: number(2)}
		k = relation.Floor{E: times(minus(half, l.least/2), l.scale)}
	}
	return relation.Truncate{E: relation.Clip{E: k, Least: 0, Greatest: float64(last)}}
}

// statedWhole states wholePlace in cells of the given number of points. Dividing by the step and then by the points of
// a cell is dividing by their product, since both quotients are rounded down.
func (l *line) statedWhole(e relation.Expr, width, cells int64) relation.Expr {
	step := int64(l.step)
	least, upper := max(int64(l.least), 1-exactWhole), min(int64(l.upper), exactWhole-1)
	cell := quotient(e, least, upper, step/2-int64(l.least), step*width)
	if _, greatest := cell.Span(); greatest >= cells { // half a step above the last point
		cell = relation.Clip{E: cell, Least: 0, Greatest: float64(cells - 1)}
	}
	// Beyond 2^53 several whole numbers are one real number, so an end there is compared as a whole one.
	if l.upper == exactWhole {
		cell = relation.Choice{If: relation.Compare{Op: ">=", A: e, B: whole(exactWhole)}, Then: whole(cells - 1), Else: cell}
	}
	if l.least == -exactWhole {
		cell = relation.Choice{If: relation.Compare{Op: "<=", A: e, B: whole(-exactWhole)}, Then: whole(0), Else: cell}
	}
	return cell
}

// quotient returns (e + plus)/by for a whole number that is held to bounds. Sums beyond 2^53 are none of an expression:
// the line is then cut at a multiple of the divisor.
func quotient(e relation.Expr, least, upper, plus, other int64) relation.Expr {
	sum := func(upper int64) relation.Expr {
		sum := relation.Expr(relation.Clip{E: e, Least: float64(least), Greatest: float64(upper)})
		if plus != 0 {
			sum = relation.Arithmetic{Op: "+", A: sum, B: whole(plus)}
		}
		if other > 1 {
			sum = relation.Quotient{E: sum, By: other}
		}
		return sum
	}
	if upper+plus <= exactWhole {
		return sum(upper)
	}
	n := max(1, exactWhole/other)
	cut := n*other - plus
	return relation.Choice{If: relation.Compare{Op: "<", A: e, B: whole(cut)}, Then: sum(cut - 1),
		Else: relation.Arithmetic{Op: "+", A: whole(n), B: quotient(e, cut, upper, -cut, other)}}
}

// mostBorders is the most borders between cells that Borders goes to.
const mostBorders = 900

// Borders returns public numbers of the column's type at which something changes: at and next to borders between
// cells, both ends, zeros, tiny, huge and, for real numbers, infinite ones; at most some 3,000. Categories have none.
func (g Grid) Borders() []float64 {
	if g.Coded() {
		return nil
	}
	l := &g.line
	var list []float64
	for i, n := 0, min(g.values-1, mostBorders); i < n; i++ {
		cell := 1
		if n > 1 {
			cell += int(float64(i) * float64(g.values-2) / float64(n-1))
		}
		list = append(list, l.around(func(x float64) bool { return l.cell(x) >= cell })...)
	}
	if l.whole {
		for _, x := range []float64{l.least, l.upper} {
			list = append(list, x-1, x, x+1)
		}
		return append(list, 0, 1, -1, exactWhole, -exactWhole, 0x1p62, -0x1p63)
	}
	for _, x := range []float64{g.column.Bounds[0], g.column.Bounds[1], l.least, 0} {
		list = append(list, math.Nextafter(x, math.Inf(-1)), x, math.Nextafter(x, math.Inf(1)))
	}
	for _, x := range []float64{math.Copysign(0, -1), 0x1p-1022, 1e-200, 1, exactWhole, 1e300, math.MaxFloat64,
		math.Inf(1)} {
		list = append(list, x, -x)
	}
	return list
}

// around returns the least number of a cell and its neighbours.
func (l *line) around(in func(float64) bool) []float64 {
	if !l.whole {
		x := leastWith(l.least, in)
		return []float64{math.Nextafter(x, math.Inf(-1)), x, math.Nextafter(x, math.Inf(1))}
	}
	low, high := int64(l.least), int64(l.upper)
	for low < high { // in holds at high
		if mid := low + (high-low)/2; in(float64(mid)) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return []float64{float64(low - 1), float64(low), float64(low + 1)}
}

// leastWith returns the least number from least on for which a property holds that holds for the greatest, and for all
// above one that has it.
func leastWith(least float64, has func(float64) bool) float64 {
	low, high := order(least), order(math.MaxFloat64)
	for low < high {
		if mid := low + int64((uint64(high)-uint64(low))/2); has(ordered(mid)) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return ordered(low)
}

// order numbers all numbers as they ascend, from 0 for both zeros.
func order(x float64) int64 {
	if x < 0 {
		return -int64(math.Float64bits(-x))
	}
	return int64(math.Float64bits(x) &^ (1 << 63))
}

// ordered returns the number of an order.
func ordered(n int64) float64 {
	if n < 0 {
		return -math.Float64frombits(uint64(-n))
	}
	return math.Float64frombits(uint64(n))
}
