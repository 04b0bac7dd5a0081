package relation

import (
	"math"
	"slices"
)

// Anything returns the span of a whole number of which nothing is known.
func Anything() (least, greatest int64) { return math.MinInt64, math.MaxInt64 }

// Span implements Expr.
func (e Column) Span() (least, greatest int64) { return e.Least, e.Greatest }

// Span implements Expr. A missing constant has no whole number, so any span holds; the span of 0 joins to others.
func (e Constant) Span() (least, greatest int64) { return e.Int, e.Int }

// Span implements Expr.
func (IsMissing) Span() (least, greatest int64) { return 0, 1 }

// Span implements Expr.
func (Compare) Span() (least, greatest int64) { return 0, 1 }

// Span implements Expr.
func (All) Span() (least, greatest int64) { return 0, 1 }

// Span implements Expr.
func (Any) Span() (least, greatest int64) { return 0, 1 }

// Span implements Expr.
func (Not) Span() (least, greatest int64) { return 0, 1 }

// Span implements Expr.
func (e Choice) Span() (least, greatest int64) {
	a, b := e.Then.Span()
	c, d := e.Else.Span()
	return min(a, c), max(b, d)
}

// Span implements Expr.
func (e Arithmetic) Span() (least, greatest int64) {
	if e.Type() == Whole {
		if least, greatest, ok := e.bounds(); ok {
			return least, greatest
		}
	}
	return Anything()
}

// Span implements Expr.
func (AsReal) Span() (least, greatest int64) { return Anything() }

// Span implements Expr.
func (e Rank) Span() (least, greatest int64) { return 0, int64(max(0, e.Of-1)) }

// Span implements Expr. A number that was held to bounds keeps them.
func (e Truncate) Span() (least, greatest int64) {
	lower, upper := math.Inf(-1), math.Inf(1)
	switch of := e.E.(type) {
	case Within:
		lower, upper = of.Least, of.Greatest
	case Clip:
		lower, upper = of.Least, of.Greatest
	}
	if !telling(lower, upper) {
		return Anything()
	}
	return int64(lower), int64(upper)
}

// Span implements Expr.
func (Floor) Span() (least, greatest int64) { return Anything() }

// Span implements Expr.
func (RoundEven) Span() (least, greatest int64) { return Anything() }

// Span implements Expr.
func (e Quotient) Span() (least, greatest int64) {
	least, greatest = e.E.Span()
	return max(0, least) / e.By, max(0, greatest) / e.By
}

// Span implements Expr.
func (e Remainder) Span() (least, greatest int64) { return 0, e.By - 1 }

// Span implements Expr.
func (e Lookup) Span() (least, greatest int64) { return slices.Min(e.To), slices.Max(e.To) }

// Span implements Expr.
func (e Bins) Span() (least, greatest int64) { return 0, int64(len(e.Edges)) }

// Span implements Expr.
func (e Within) Span() (least, greatest int64) {
	if least, greatest = e.E.Span(); telling(e.Least, e.Greatest) {
		least, greatest = max(least, int64(math.Ceil(e.Least))), min(greatest, int64(math.Floor(e.Greatest)))
	}
	return least, max(least, greatest) // none lies within where they cross
}

// Span implements Expr. A bound that is not whole is held to without its fraction.
func (e Clip) Span() (least, greatest int64) {
	if least, greatest = e.E.Span(); telling(e.Least, e.Greatest) {
		lower, upper := int64(e.Least), int64(e.Greatest)
		least, greatest = min(max(least, lower), upper), max(min(greatest, upper), lower)
	}
	return least, greatest
}

// telling reports whether bounds of real numbers hold whole ones. Beyond Exact several whole numbers are one real
// number, so only bounds within it do.
func telling(lower, upper float64) bool { return lower > -Exact && upper < Exact }
