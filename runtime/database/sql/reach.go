package sql

import (
	"math"

	"weir/pipeline/relation"
)

// reach is what the values of a real expression can be, whatever the row is: each is 0 or at least tiny in size, and
// lies from low to high. Rounding to the nearest double keeps order, so what follows from the ends holds between them.
type reach struct {
	low, high, tiny float64
	public          bool // low and high are its value in each row, and it is never missing; set where it is asked for
}

// anyReal returns the reach of a number of which nothing is known.
func anyReal() reach {
	return reach{low: math.Inf(-1), high: math.Inf(1), tiny: math.SmallestNonzeroFloat64}
}

// size returns the greatest size of a value.
func (r reach) size() float64 { return max(math.Abs(r.low), math.Abs(r.high)) }

// infinite reports whether a value may be infinite.
func (r reach) infinite() bool { return math.IsInf(r.size(), 0) }

// zero reports whether a value may be 0.
func (r reach) zero() bool { return r.low <= 0 && r.high >= 0 }

// reaching returns the reach of values at bounds that are not NaN; of others nothing is known.
func reaching(low, high, tiny float64) reach {
	if math.IsNaN(low) || math.IsNaN(high) {
		return anyReal()
	}
	switch tiny = max(tiny, math.SmallestNonzeroFloat64); {
	case low > 0:
		tiny = max(tiny, low)
	case high < 0:
		tiny = max(tiny, -high)
	}
	return reach{low: low, high: high, tiny: tiny}
}

// wholeReach returns the reach of a whole number as a real one.
func wholeReach(e relation.Expr) reach {
	least, greatest := e.Span()
	return reaching(float64(least), float64(greatest), 1)
}

// reach returns the reach of an expression. Of columns it knows the reach that the layer below gives.
func (p *printer) reach(e relation.Expr) reach {
	switch e := e.(type) {
	case relation.Column:
		if e.Of == relation.Real {
			return p.below[e.At]
		}
	case relation.Constant:
		if e.Of == relation.Real && !e.Absent {
			return reaching(e.Float, e.Float, 0)
		}
	case relation.Choice:
		if a, b := p.reach(e.Then), p.reach(e.Else); e.Type() == relation.Real {
			return reaching(min(a.low, b.low), max(a.high, b.high), min(a.tiny, b.tiny))
		}
	case relation.AsReal:
		return p.reach(e.E)
	case relation.Floor:
		of := p.reach(e.E)
		return reaching(math.Floor(of.low), math.Floor(of.high), 1)
	case relation.RoundEven:
		of := p.reach(e.E)
		return reaching(math.RoundToEven(of.low), math.RoundToEven(of.high), 1)
	case relation.Within:
		of := p.reach(e.E)
		return reaching(max(of.low, e.Least), min(of.high, e.Greatest), of.tiny)
	case relation.Clip:
		return p.reach(e.E).clipped(e.Least, e.Greatest)
	case relation.Arithmetic:
		if e.Type() == relation.Real {
			return p.reach(e.A).combine(e.Op, p.reach(e.B))
		}
	}
	return wholeReach(e)
}

// clipped returns the reach of numbers that are held to bounds, which are values themselves.
func (r reach) clipped(least, greatest float64) reach {
	tiny := r.tiny
	for _, end := range []float64{least, greatest} {
		if end != 0 {
			tiny = min(tiny, math.Abs(end))
		}
	}
	return reaching(min(max(r.low, least), greatest), min(max(r.high, least), greatest), tiny)
}

// combine returns the reach of the results of an operation.
func (r reach) combine(op string, other reach) reach {
	if op == "/" && other.zero() {
		size := r.size() / other.tiny
		return reaching(-size, size, r.tiny/other.size())
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range []float64{r.low, r.high} {
		for _, y := range []float64{other.low, other.high} {
			z := reckon(op, x, y)
			low, high = min(low, z), max(high, z) // NaN where z is
		}
	}
	switch op {
	case "*":
		return reaching(low, high, r.tiny*other.tiny)
	case "/":
		return reaching(low, high, r.tiny/other.size())
	}
	// Two doubles that differ do so by a part in 2^54 of each at least.
	tiny := 0.0
	for _, one := range []reach{r, other} {
		if one.low == one.high {
			tiny = max(tiny, math.Abs(one.low)*0x1p-54)
		}
	}
	return reaching(low, high, tiny)
}

func reckon(op string, x, y float64) float64 {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	return x / y
}
