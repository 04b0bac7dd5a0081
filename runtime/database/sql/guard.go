package sql

import (
	"math"
	"sort"
)

// Comparisons in place of operations that PostgreSQL raises an error on: a sum, product or quotient of finite numbers
// that is infinite, and a product or quotient that is 0 though no factor or dividend is. Operands are short pieces. A
// missing one makes every comparison unknown, so that the last case, the operation itself, gives NULL.

// leaves reports whether a result of finite numbers may be infinite, or be 0 by being too small.
func (r reach) leaves(op string, other reach) bool {
	x, y := min(r.size(), math.MaxFloat64), min(other.size(), math.MaxFloat64)
	switch op {
	case "*":
		return math.IsInf(x*y, 0) || r.tiny*other.tiny == 0
	case "/":
		return math.IsInf(x/other.tiny, 0) || r.tiny/y == 0 || other.infinite()
	}
	return math.IsInf(x+y, 0)
}

// guardOne guards a product or quotient of a number and a public one: the sizes of the number at which the result is no
// double are found here, with the operation itself. size is the result's for a size of the number, and grows or falls
// with it; negative says that the public one is below 0.
func (p *printer) guardOne(plain, operand piece, r reach, negative bool, size func(float64) float64) piece {
	first := func(is func(float64) bool) uint64 { // bits of the least size with it
		end := math.Float64bits(math.MaxFloat64)
		return uint64(sort.Search(int(end), func(i int) bool { return is(math.Float64frombits(uint64(i) + 1)) })) + 1
	}
	none, endless := func(x float64) bool { return size(x) == 0 }, func(x float64) bool { return math.IsInf(size(x), 0) }
	zero, infinite := literal(p.d.Real(0)), p.infinite(operand, negative)
	lower, higher := zero, infinite
	if size(math.SmallestNonzeroFloat64) > size(math.MaxFloat64) {
		none, endless, lower, higher = endless, none, infinite, zero
	}
	text := "(CASE"
	if low := math.Float64frombits(first(func(x float64) bool { return !none(x) }) - 1); low >= r.tiny {
		text += " WHEN abs(" + operand.sql + ") <= " + p.d.Real(low) + " THEN " + lower.sql
	}
	if high := math.Float64frombits(first(endless)); high <= min(r.size(), math.MaxFloat64) {
		text += " WHEN abs(" + operand.sql + ") >= " + p.d.Real(high) + " THEN " + higher.sql
	}
	if text == "(CASE" {
		return plain
	}
	return piece{sql: text + " ELSE " + plain.sql + " END)", level: max(plain.level, operand.level)}
}

// infinite returns the infinite number of a number's sign, or of the other one.
func (p *printer) infinite(operand piece, other bool) piece {
	sign := 1
	if other {
		sign = -1
	}
	return write("(CASE WHEN %s > %s THEN %s ELSE %s END)", operand, literal(p.d.Real(0)),
		literal(p.d.Real(math.Inf(sign))), literal(p.d.Real(math.Inf(-sign))))
}

// middling is true of numbers without a guard: numbers from 2^-500 to 2^500 in size have products and quotients that
// are doubles. Where one of two is not, the result is told from one of both, scaled by powers of two, which is exact
// and rounds as the result does.
const middling = "abs(%[1]s) BETWEEN %[3]s AND %[4]s AND abs(%[2]s) BETWEEN %[3]s AND %[4]s"

// guardProduct guards a*b. It is infinite where (a/2^512)(b/2^512) is 1 or more. It is 0 where (a*2^537)(b*2^537) is
// below 1/2, half of the least double so scaled, or is 1/2 exactly, and is so where a is a power of two: the product of
// two odd numbers is one only of 1 and 1. The sum a + a/2^52 differs from a by a/2^52 then alone.
func (p *printer) guardProduct(plain, a, b piece) piece {
	const x, y = "abs(%[1]s) * %[9]s", "abs(%[2]s) * %[9]s"
	return p.guardTwo("(CASE WHEN "+middling+" THEN %[5]s"+
		" WHEN abs(%[1]s) > 1 AND abs(%[2]s) > 1 AND abs(%[1]s) <= %[6]s AND abs(%[2]s) <= %[6]s THEN"+
		" CASE WHEN (abs(%[1]s) * %[7]s) * (abs(%[2]s) * %[7]s) >= 1 THEN"+
		" CASE WHEN (%[1]s > 0) = (%[2]s > 0) THEN %[8]s ELSE -%[8]s END ELSE %[5]s END"+
		" WHEN %[1]s <> 0 AND %[2]s <> 0 AND abs(%[1]s) < 1 AND abs(%[2]s) < 1 THEN"+
		" CASE WHEN ("+x+") * ("+y+") < 0.5 THEN %[10]s"+
		" WHEN ("+x+") * ("+y+") = 0.5 AND ("+x+") * %[11]s - "+x+" = ("+x+") * %[12]s THEN %[10]s ELSE %[5]s END"+
		" ELSE %[5]s END)", a, b, plain, math.MaxFloat64, 0x1p-512, math.Inf(1), 0x1p537, 0, 1+0x1p-52, 0x1p-52)
}

// guardQuotient guards a/b, for b other than 0. It is infinite where (a/2^600)/(b*2^537) is 2^-113 or more, or, for a
// below 1, where a/(b*2^537) is 2^487 or more. It is 0 where a*2^537 is at most b/2^538, half of the least double so
// scaled.
func (p *printer) guardQuotient(plain, a, b piece) piece {
	const sign = "CASE WHEN (%[1]s > 0) = (%[2]s > 0) THEN %[11]s ELSE -%[11]s END"
	return p.guardTwo("(CASE WHEN "+middling+" THEN %[5]s"+
		" WHEN abs(%[2]s) > %[6]s THEN CASE WHEN abs(%[1]s) <= %[6]s THEN %[7]s END"+
		" WHEN abs(%[1]s) >= 1 AND abs(%[2]s) < 1 AND abs(%[1]s) <= %[6]s THEN"+
		" CASE WHEN (abs(%[1]s) * %[8]s) / (abs(%[2]s) * %[9]s) >= %[10]s THEN "+sign+" ELSE %[5]s END"+
		" WHEN abs(%[1]s) < 1 AND abs(%[2]s) < %[13]s THEN"+
		" CASE WHEN abs(%[1]s) / (abs(%[2]s) * %[9]s) >= %[14]s THEN "+sign+" ELSE %[5]s END"+
		" WHEN abs(%[1]s) < 1 AND abs(%[2]s) > 1 AND abs(%[1]s) * %[9]s <= abs(%[2]s) * %[12]s THEN %[7]s"+
		" ELSE %[5]s END)", a, b, plain,
		math.MaxFloat64, 0, 0x1p-600, 0x1p537, 0x1p-113, math.Inf(1), 0x1p-538, 0x1p-1000, 0x1p487)
}

// guardSum guards a+b and a-b. It is infinite where a/2 and b/2 come to 2^1023 or more.
func (p *printer) guardSum(op string, plain, a, b piece) piece {
	return p.guardTwo("(CASE WHEN abs(%[1]s) > 1 AND abs(%[2]s) > 1 AND abs(%[1]s) <= %[6]s AND abs(%[2]s) <= %[6]s THEN"+
		" CASE WHEN abs(%[1]s * 0.5 "+op+" %[2]s * 0.5) >= %[7]s THEN"+
		" CASE WHEN %[1]s > 0 THEN %[8]s ELSE -%[8]s END ELSE %[5]s END"+
		" ELSE %[5]s END)%.0[3]s%.0[4]s", a, b, plain, math.MaxFloat64, 0x1p1023, math.Inf(1))
}

// guardTwo writes two operands, the ends of what is middling, the operation, and numbers.
func (p *printer) guardTwo(format string, a, b, plain piece, numbers ...float64) piece {
	list := []piece{a, b, literal(p.d.Real(0x1p-500)), literal(p.d.Real(0x1p500)), plain}
	for _, x := range numbers {
		list = append(list, literal(p.d.Real(x)))
	}
	return write(format, list...)
}
