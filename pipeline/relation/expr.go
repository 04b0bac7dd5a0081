// Package relation describes what is computed from a table row by row, as data: a tree of typed expressions over the
// columns of a row. Whoever holds the rows can compute it, weir or a database; a preparation stage states it beside the
// function that computes the same from Arrow records, and a test holds both equal.
//
// Every expression is total: for each row it has a value of its type or is missing, and no row is an error. A real
// number is never NaN: an operation that would give it is missing. Infinities and -0 are numbers.
package relation

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Type is what the values of an expression are.
type Type string

// The types.
const (
	Whole Type = "whole" // 64-bit integers; dates and times are counts of days and seconds
	Real  Type = "real"  // 64-bit floating point, IEEE 754
	Code  Type = "code"  // places of categories, from 0
	Flag  Type = "flag"  // true or false, or missing
	Text  Type = "text"  // bytes
)

// Exact bounds the whole numbers that arithmetic may reach: a real number holds each of them, and no database
// overflows.
const Exact = 1 << 53

// Expr is an expression over a row. Its types are the structs of this package.
type Expr interface {
	// Type returns the type of its values.
	Type() Type
	// Span returns bounds of its whole numbers that hold whatever the row is.
	Span() (least, greatest int64)
}

// Column is column At of the row that goes in. Its whole numbers lie from Least to Greatest.
type Column struct {
	At              int
	Of              Type
	Least, Greatest int64
}

// Constant is the same value in each row: Int of the types Whole, Code and Flag (0 or 1), Float of Real. Absent says
// that it is missing.
type Constant struct {
	Of     Type
	Int    int64
	Float  float64
	Absent bool
}

// IsMissing is whether E is missing; it never is itself.
type IsMissing struct{ E Expr }

// Compare is missing where an operand is. The operands are of one type; texts are not compared. Op is one of == != < <=
// > and >=.
type Compare struct {
	Op   string
	A, B Expr
}

// All is the conjunction of flags by three-valued logic: false where one is false, else missing where one is missing.
type All struct{ Of []Expr }

// Any is the disjunction of flags by three-valued logic: true where one is true, else missing where one is missing.
type Any struct{ Of []Expr }

// Not is missing where E is.
type Not struct{ E Expr }

// Choice is Then where If is true, and Else where it is false or missing.
type Choice struct{ If, Then, Else Expr }

// Arithmetic is a sum, difference, product or quotient (Op is one of + - * /) of two real numbers, rounded to the
// nearest double, or of two whole numbers whose result lies within Exact (see Arithmetical); whole numbers are not
// divided. It is missing where an operand is, where a divisor is 0 and where the result would be NaN.
type Arithmetic struct {
	Op   string
	A, B Expr
}

// AsReal is the real number nearest to a whole one, or the place of a category.
type AsReal struct{ E Expr }

// Rank is the place of a category as a whole number; there are Of categories.
type Rank struct {
	E  Expr
	Of int
}

// Truncate is a real number without its fraction; beyond the 64-bit integers it is the nearest of them.
type Truncate struct{ E Expr }

// Floor is the greatest whole number that is not above a real one, as a real number.
type Floor struct{ E Expr }

// RoundEven is the whole number nearest to a real one, the even one of two, as a real number.
type RoundEven struct{ E Expr }

// Quotient is a whole number that is not negative, divided by By, without the remainder.
type Quotient struct {
	E  Expr
	By int64 // 1 or more
}

// Remainder is what the division of a whole number that is not negative by By leaves.
type Remainder struct {
	E  Expr
	By int64 // 1 or more
}

// Lookup is a public list's whole number at place E, which lies in the list.
type Lookup struct {
	E  Expr // whole numbers or codes
	To []int64
}

// Bins is how many of Edges, which ascend, are at or below a real number.
type Bins struct {
	E     Expr
	Edges []float64
}

// Within is the whole or real number E where it lies from Least to Greatest, as a real number, and missing elsewhere.
type Within struct {
	E               Expr
	Least, Greatest float64
}

// Clip is the whole or real number E, or the nearer of Least and Greatest where it lies beyond, as a real number.
type Clip struct {
	E               Expr
	Least, Greatest float64
}

// Type implements Expr.
func (e Column) Type() Type { return e.Of }

// Type implements Expr.
func (e Constant) Type() Type { return e.Of }

// Type implements Expr.
func (IsMissing) Type() Type { return Flag }

// Type implements Expr.
func (Compare) Type() Type { return Flag }

// Type implements Expr.
func (All) Type() Type { return Flag }

// Type implements Expr.
func (Any) Type() Type { return Flag }

// Type implements Expr.
func (Not) Type() Type { return Flag }

// Type implements Expr.
func (e Choice) Type() Type { return e.Then.Type() }

// Type implements Expr.
func (e Arithmetic) Type() Type { return e.A.Type() }

// Type implements Expr.
func (AsReal) Type() Type { return Real }

// Type implements Expr.
func (Rank) Type() Type { return Whole }

// Type implements Expr.
func (Truncate) Type() Type { return Whole }

// Type implements Expr.
func (Floor) Type() Type { return Real }

// Type implements Expr.
func (RoundEven) Type() Type { return Real }

// Type implements Expr.
func (Quotient) Type() Type { return Whole }

// Type implements Expr.
func (Remainder) Type() Type { return Whole }

// Type implements Expr.
func (Lookup) Type() Type { return Whole }

// Type implements Expr.
func (Bins) Type() Type { return Code }

// Type implements Expr.
func (e Within) Type() Type { return e.E.Type() }

// Type implements Expr.
func (e Clip) Type() Type { return e.E.Type() }

// Operands returns the expressions that an expression is computed from, in their order.
func Operands(e Expr) []Expr {
	switch e := e.(type) {
	case IsMissing:
		return []Expr{e.E}
	case Compare:
		return []Expr{e.A, e.B}
	case All:
		return e.Of
	case Any:
		return e.Of
	case Not:
		return []Expr{e.E}
	case Choice:
		return []Expr{e.If, e.Then, e.Else}
	case Arithmetic:
		return []Expr{e.A, e.B}
	case AsReal:
		return []Expr{e.E}
	case Rank:
		return []Expr{e.E}
	case Truncate:
		return []Expr{e.E}
	case Floor:
		return []Expr{e.E}
	case RoundEven:
		return []Expr{e.E}
	case Quotient:
		return []Expr{e.E}
	case Remainder:
		return []Expr{e.E}
	case Lookup:
		return []Expr{e.E}
	case Bins:
		return []Expr{e.E}
	case Within:
		return []Expr{e.E}
	case Clip:
		return []Expr{e.E}
	}
	return nil
}

// Arithmetical reports why two whole numbers cannot be added, subtracted or multiplied: nothing bounds them, or their
// result may lie beyond Exact. It is nil for real numbers.
func Arithmetical(e Arithmetic) error {
	if e.Type() != Whole {
		return nil
	}
	if _, _, ok := e.bounds(); !ok {
		return fmt.Errorf("computes %s of whole numbers that no stage before it holds to bounds", e.Op)
	}
	return nil
}

// bounds returns the bounds of a result of whole numbers, and whether they lie within Exact.
func (e Arithmetic) bounds() (least, greatest int64, ok bool) {
	var list []*big.Int
	for _, x := range ends(e.A) {
		for _, y := range ends(e.B) {
			z := new(big.Int)
			switch e.Op {
			case "+":
				z.Add(x, y)
			case "-":
				z.Sub(x, y)
			default:
				z.Mul(x, y)
			}
			list = append(list, z)
		}
	}
	low, high := slices.MinFunc(list, (*big.Int).Cmp), slices.MaxFunc(list, (*big.Int).Cmp)
	exact := big.NewInt(Exact)
	return low.Int64(), high.Int64(), low.CmpAbs(exact) <= 0 && high.CmpAbs(exact) <= 0
}

func ends(e Expr) [2]*big.Int {
	least, greatest := e.Span()
	return [2]*big.Int{big.NewInt(least), big.NewInt(greatest)}
}

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
