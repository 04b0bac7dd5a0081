package sql

import (
	"math"
	"strings"

	"weir/pipeline/relation"
)

// arithmetic is how an engine computes numbers.
type arithmetic struct {
	floor, floorAny form   // of numbers below 2^53 in size, and of any
	even, evenAny   form   // the nearest whole number, the even one of two; of numbers below 2^40 in size, and of any
	integral        form   // without the fraction, of numbers that 64-bit integers hold
	quotient        string // operator of whole numbers
	raises          bool   // an error where a result is too large or too small for a double
	steps           int    // most runs of equal values of a list that comparisons tell apart; one of more is an array
	pick            func(list []string, at string) string
	fence           string // ends a subquery that is computed before what is around it
}

func postgresArithmetic() arithmetic {
	return arithmetic{
		floor: "floor($)", floorAny: "floor($)", even: "round($)", evenAny: "round($)", integral: "(trunc($))::int8",
		quotient: "/", raises: true, fence: " OFFSET 0", steps: 2, // an array takes a third of the time, measured
		pick: func(list []string, at string) string {
			return "(ARRAY[" + strings.Join(list, ", ") + "]::int8[])[(" + at + ")::int4 + 1]"
		},
	}
}

// duckdbArithmetic rounds halves above 2^49 by what a sum with 2^52 rounds away: round_even gives the odd neighbour of
// some of them (version 1.5.6).
func duckdbArithmetic() arithmetic {
	const most = "CAST('4503599627370496' AS DOUBLE)"
	return arithmetic{
		floor: "floor($)", floorAny: "floor($)", even: "round_even($, 0)", integral: "CAST(trunc($) AS BIGINT)",
		evenAny: "(CASE WHEN $ >= 0 AND $ < " + most + " THEN ($ + " + most + ") - " + most +
			" WHEN $ < 0 AND $ > -" + most + " THEN ($ - " + most + ") + " + most + " ELSE $ END)",
		quotient: "//", steps: 64,
		pick: func(list []string, at string) string {
			return "([" + strings.Join(list, ", ") + "])[" + at + " + 1]"
		},
	}
}

// sparkArithmetic has a floor that gives a 64-bit integer: beyond 2^53 all numbers are whole.
func sparkArithmetic() arithmetic {
	return arithmetic{
		floor: "CAST(floor($) AS DOUBLE)", even: "rint($)", evenAny: "rint($)", integral: "CAST($ AS BIGINT)",
		floorAny: "(CASE WHEN abs($) < CAST('9007199254740992' AS DOUBLE) THEN CAST(floor($) AS DOUBLE) ELSE $ END)",
		quotient: "DIV", steps: 64,
		pick: func(list []string, at string) string {
			return "element_at(array(" + strings.Join(list, ", ") + "), CAST(" + at + " + 1 AS INT))"
		},
	}
}

// arithmetic prints a sum, difference, product or quotient. A result that is not a number is missing, and so is a
// quotient by 0. Where an engine raises an error on overflow, comparisons first find whether the result is a double;
// the operation is computed only then.
func (p *printer) arithmetic(e relation.Arithmetic) piece {
	if e.Type() != relation.Real {
		if err := relation.Arithmetical(e); err != nil {
			return p.refuse("%w", err)
		}
		return write("(%s "+e.Op+" %s)", p.expr(e.A), p.expr(e.B))
	}
	x, y := p.reach(e.A), p.reach(e.B)
	x.public, y.public = fixed(e.A) && x.low == x.high, fixed(e.B) && y.low == y.high
	if x.public && y.public { // engines compute constants before any row, where no comparison guards them
		return p.folded(reckon(e.Op, x.low, y.low), e.Op == "/" && y.low == 0)
	}
	a, b := p.expr(e.A), p.expr(e.B)
	if e.Op == "/" && y.zero() {
		b = p.bind(b)
	}
	out := p.guarded(e.Op, a, b, x, y)
	if x.infinite() && (y.infinite() || e.Op == "*") || y.infinite() && e.Op == "*" {
		out = write("NULLIF(%s, %s)", out, literal(p.d.Real(math.NaN())))
	}
	if e.Op == "/" && y.zero() {
		out = write("(CASE WHEN %s <> %s THEN %s END)", b, literal(p.d.Real(0)), out)
	}
	return out
}

// fixed reports whether an expression is the same number in each row.
func fixed(e relation.Expr) bool {
	switch e := e.(type) {
	case relation.Constant:
		return !e.Absent
	case relation.AsReal:
		return fixed(e.E)
	case relation.Arithmetic:
		return fixed(e.A) && fixed(e.B)
	}
	return false
}

// folded returns a result that is the same in each row.
func (p *printer) folded(x float64, absent bool) piece {
	return p.constant(relation.Constant{Of: relation.Real, Float: x, Absent: absent || math.IsNaN(x)})
}

// guarded prints an operation so that no engine raises an error on it.
func (p *printer) guarded(op string, a, b piece, x, y reach) piece {
	plain := func() piece { return write("(%s "+op+" %s)", a, b) }
	if !p.d.raises || !x.leaves(op, y) {
		return plain()
	}
	switch sum := op == "+" || op == "-"; {
	case x.public && !sum && !x.infinite() && (op == "*" || !y.infinite()):
		if x.low == 0 {
			return plain()
		}
		b = p.bind(b)
		return p.guardOne(plain(), b, y, x.low < 0, func(size float64) float64 { return math.Abs(reckon(op, x.low, size)) })
	case y.public && !sum && !y.infinite():
		if y.low == 0 {
			return plain()
		}
		a = p.bind(a)
		return p.guardOne(plain(), a, x, y.low < 0, func(size float64) float64 { return math.Abs(reckon(op, size, y.low)) })
	}
	a, b = p.bind(a), p.bind(b)
	switch op {
	case "*":
		return p.guardProduct(plain(), a, b)
	case "/":
		return p.guardQuotient(plain(), a, b)
	}
	return p.guardSum(op, plain(), a, b)
}
