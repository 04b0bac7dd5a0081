package pipelinetest

import (
	"fmt"
	"math"

	"weir/pipeline/relation"
)

// value is what an expression is for a row: nil where it is missing, else int64 (whole numbers, codes and flags),
// float64 or string.
type value any

// Interpret returns what an expression is for a row: nil where it is missing, else int64 (whole numbers, codes and
// flags), float64 or string, as the values of the row are.
func Interpret(e relation.Expr, row ...any) any {
	values := make([]value, len(row))
	for i, v := range row {
		values[i] = v
	}
	return compute(e, values)
}

// interpret computes the rows of a relation from stored rows: the meaning of its expressions, against which the makers
// of stages and the SQL of databases are held.
func interpret(r relation.Relation, rows [][]value) [][]value {
	for _, l := range r.Layers {
		var out [][]value
		for _, row := range rows {
			if l.Where != nil && compute(l.Where, row) != value(int64(1)) {
				continue
			}
			next := make([]value, len(l.Columns))
			for i, c := range l.Columns {
				next[i] = compute(c.Expr, row)
			}
			out = append(out, next)
		}
		rows = out
	}
	return rows
}

// compute returns the value of an expression for a row.
func compute(e relation.Expr, row []value) value {
	switch e := e.(type) {
	case relation.Column:
		return row[e.At]
	case relation.Constant:
		return constant(e)
	case relation.IsMissing:
		return flag(compute(e.E, row) == nil)
	case relation.Compare:
		return compared(e.Op, compute(e.A, row), compute(e.B, row))
	case relation.All:
		return connected(e.Of, row, 0)
	case relation.Any:
		return connected(e.Of, row, 1)
	case relation.Choice:
		if compute(e.If, row) == value(int64(1)) {
			return compute(e.Then, row)
		}
		return compute(e.Else, row)
	case relation.Arithmetic:
		return reckoned(e.Op, compute(e.A, row), compute(e.B, row))
	}
	return ofOne(e, row)
}

// ofOne computes an expression of one value, which is missing where that value is.
func ofOne(e relation.Expr, row []value) value {
	var subject relation.Expr
	var f func(value) value
	switch e := e.(type) {
	case relation.Not:
		subject, f = e.E, func(v value) value { return 1 - v.(int64) }
	case relation.AsReal:
		subject, f = e.E, func(v value) value { return asReal(v) }
	case relation.Rank:
		subject, f = e.E, func(v value) value { return v }
	case relation.Truncate:
		subject, f = e.E, func(v value) value { return truncated(v.(float64)) }
	case relation.Floor:
		subject, f = e.E, func(v value) value { return math.Floor(v.(float64)) }
	case relation.RoundEven:
		subject, f = e.E, func(v value) value { return math.RoundToEven(v.(float64)) }
	case relation.Quotient:
		subject, f = e.E, func(v value) value { return v.(int64) / e.By }
	case relation.Remainder:
		subject, f = e.E, func(v value) value { return v.(int64) % e.By }
	case relation.Lookup:
		subject, f = e.E, func(v value) value { return e.To[v.(int64)] }
	case relation.Bins:
		subject, f = e.E, func(v value) value { return binned(e.Edges, v.(float64)) }
	case relation.Within:
		subject, f = e.E, func(v value) value { return within(v, e.Least, e.Greatest) }
	case relation.Clip:
		subject, f = e.E, func(v value) value { return nearestIn(v, e.Least, e.Greatest) }
	default:
		panic(fmt.Sprintf("pipelinetest: %T is not an expression that has a meaning", e))
	}
	if v := compute(subject, row); v != nil {
		return f(v)
	}
	return nil
}

func constant(e relation.Constant) value {
	switch {
	case e.Absent:
		return nil
	case e.Of == relation.Real:
		return e.Float
	}
	return e.Int
}

func flag(is bool) value {
	if is {
		return int64(1)
	}
	return int64(0)
}

func asReal(v value) float64 {
	if whole, ok := v.(int64); ok {
		return float64(whole)
	}
	return v.(float64)
}

func compared(op string, a, b value) value {
	if a == nil || b == nil {
		return nil
	}
	less, equal := false, false
	if x, ok := a.(int64); ok {
		less, equal = x < b.(int64), x == b.(int64)
	} else {
		less, equal = a.(float64) < b.(float64), a.(float64) == b.(float64)
	}
	return flag(map[string]bool{"==": equal, "!=": !equal, "<": less, "<=": less || equal,
		">": !less && !equal, ">=": !less}[op])
}

// connected returns the conjunction of flags where decides is 0, and the disjunction where it is 1.
func connected(of []relation.Expr, row []value, decides int64) value {
	missing := false
	for _, e := range of {
		switch v := compute(e, row); v {
		case value(decides):
			return decides
		case nil:
			missing = true
		}
	}
	if missing {
		return nil
	}
	return 1 - decides
}

func reckoned(op string, a, b value) value {
	if a == nil || b == nil {
		return nil
	}
	if x, ok := a.(int64); ok {
		y := b.(int64)
		return map[string]int64{"+": x + y, "-": x - y, "*": x * y}[op]
	}
	x, y := a.(float64), b.(float64)
	if op == "/" && y == 0 {
		return nil
	}
	z := map[string]float64{"+": x + y, "-": x - y, "*": x * y, "/": x / y}[op]
	if math.IsNaN(z) {
		return nil
	}
	return z
}

// truncated returns x without its fraction, as a 64-bit integer or the nearest one.
func truncated(x float64) int64 {
	switch {
	case x >= 0x1p63:
		return math.MaxInt64
	case x < -0x1p63:
		return math.MinInt64
	}
	return int64(x)
}

func binned(edges []float64, x float64) value {
	n := int64(0)
	for _, edge := range edges {
		if edge <= x {
			n++
		}
	}
	return n
}

func within(v value, least, greatest float64) value {
	if x := asReal(v); x >= least && x <= greatest {
		return v
	}
	return nil
}

func nearestIn(v value, least, greatest float64) value {
	x := asReal(v)
	if x >= least && x <= greatest {
		return v
	}
	x = min(max(x, least), greatest)
	if _, whole := v.(int64); whole {
		return truncated(x)
	}
	return x
}
