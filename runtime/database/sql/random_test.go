package sql

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"weir/pipeline/pipelinetest"
	"weir/pipeline/relation"
)

// generator makes random expressions and the rows that they are computed from, with every number at which an engine is
// known to differ or to raise an error.
type generator struct {
	*rand.Rand
	columns []relation.Expr // of the rows
}

func newDrawn(seed uint64) *generator {
	types := []relation.Type{relation.Real, relation.Real, relation.Real, relation.Whole, relation.Whole, relation.Code,
		relation.Code}
	names := make([]string, len(types))
	return &generator{rand.New(rand.NewPCG(seed, 9)), relation.Stored(names, types).Columns()}
}

// codes is how many categories a column of codes has.
const codes = 5

func realTraps() []float64 {
	list := []float64{0, math.Copysign(0, -1), 5e-324, 1e-323, 1.5e-323, 0x1p-1022, 1e-310, 1e-200, 1e-160, 1.1e-154,
		0x1p-537, 0x1p-538, 0.5, 1, 1.5, 2, 2.5, 3.5,
		0.1, 0.3, 0.49999999999999994, 4503599627370497.5, 4503599627370496.5, 0x1p53, 0x1p53 + 2, 0x1p62, 0x1p63,
		9223372036854774784, 1e18, 1e19, 1e100, 1e155, 1.3e154, 1e200, 1e300,
		0x1p1023, math.MaxFloat64, math.Nextafter(math.MaxFloat64, 0), math.Inf(1)}
	for _, x := range slices.Clone(list) {
		list = append(list, -x)
	}
	return list
}

func wholeTraps() []int64 {
	return []int64{0, 1, -1, 2, 7, -7, 99, 32767, 32768, -32768, -32769, 65535, 65536, 1 << 31, -1 << 31, 1<<53 - 1,
		1 << 53, 1<<53 + 1, -1<<53 - 1, 1 << 62, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1}
}

func (r *generator) row() []any {
	row := make([]any, len(r.columns))
	for i, c := range r.columns {
		switch {
		case r.IntN(8) == 0:
		case c.Type() == relation.Real:
			row[i] = r.real()
		case c.Type() == relation.Whole:
			row[i] = r.whole()
		default:
			row[i] = r.Int64N(codes)
		}
	}
	return row
}

func (r *generator) real() float64 {
	traps := realTraps()
	switch r.IntN(4) {
	case 0:
		return math.Round(r.NormFloat64() * 100)
	case 1:
		return r.NormFloat64() * math.Exp2(float64(r.IntN(2000)-1000))
	}
	return traps[r.IntN(len(traps))]
}

func (r *generator) whole() int64 {
	traps := wholeTraps()
	if n := r.IntN(2 * len(traps)); n < len(traps) {
		return traps[n]
	}
	return r.Int64N(2001) - 1000
}

func (r *generator) pick(kind relation.Type) relation.Expr {
	var list []relation.Expr
	for _, c := range r.columns {
		if c.Type() == kind {
			list = append(list, c)
		}
	}
	return list[r.IntN(len(list))]
}

// expr draws an expression of a type.
func (r *generator) expr(kind relation.Type, depth int) relation.Expr {
	if kind == relation.Flag {
		return r.flag(depth)
	}
	if depth == 0 || r.IntN(6) == 0 {
		return r.leaf(kind)
	}
	if r.IntN(6) == 0 {
		return relation.Choice{If: r.flag(depth - 1), Then: r.expr(kind, depth-1), Else: r.expr(kind, depth-1)}
	}
	switch kind {
	case relation.Real:
		return r.realOf(depth - 1)
	case relation.Whole:
		return r.wholeOf(depth - 1)
	}
	edges := []float64{-math.MaxFloat64, -1, 0, 0.1, 5, 1e300}
	return relation.Bins{E: r.expr(relation.Real, depth-1), Edges: edges[:r.IntN(len(edges)+1)]}
}

func (r *generator) leaf(kind relation.Type) relation.Expr {
	switch r.IntN(8) {
	case 0:
		return relation.Constant{Of: kind, Absent: true}
	case 1, 2:
		return relation.Constant{Of: kind, Float: r.real(), Int: r.Int64N(codes)}
	}
	return r.pick(kind)
}

func (r *generator) realOf(depth int) relation.Expr {
	e := r.expr(relation.Real, depth)
	least, greatest := r.real(), r.real()
	if least > greatest {
		least, greatest = greatest, least
	}
	switch r.IntN(10) {
	case 0:
		return relation.AsReal{E: r.expr([]relation.Type{relation.Whole, relation.Code}[r.IntN(2)], depth)}
	case 1:
		return relation.Floor{E: e}
	case 2:
		return relation.RoundEven{E: e}
	case 3:
		return relation.Within{E: e, Least: least, Greatest: greatest}
	case 4:
		return relation.Clip{E: e, Least: least, Greatest: greatest}
	}
	return relation.Arithmetic{Op: []string{"+", "-", "*", "/"}[r.IntN(4)], A: e, B: r.expr(relation.Real, depth)}
}

func (r *generator) wholeOf(depth int) relation.Expr {
	e := r.expr(relation.Whole, depth)
	clipped := relation.Clip{E: e, Least: float64(-r.IntN(5000)), Greatest: float64(r.IntN(5000))}
	place := relation.Clip{E: e, Least: 0, Greatest: float64(r.IntN(5000))}
	switch r.IntN(10) {
	case 0:
		return relation.Truncate{E: r.expr(relation.Real, depth)}
	case 1:
		return relation.Rank{E: r.pick(relation.Code), Of: codes}
	case 2:
		return relation.Quotient{E: place, By: 1 + r.Int64N(300)}
	case 3:
		return relation.Remainder{E: place, By: 1 + r.Int64N(300)}
	case 4:
		return relation.Lookup{E: place, To: r.list(int(place.Greatest) + 1)}
	case 5:
		return relation.Within{E: e, Least: -1e4, Greatest: float64(r.IntN(5000))}
	case 6:
		return relation.Clip{E: e, Least: -0x1p62, Greatest: 0x1p63}
	case 7:
		return clipped
	}
	return relation.Arithmetic{Op: []string{"+", "-", "*"}[r.IntN(3)], A: clipped,
		B: relation.Clip{E: r.expr(relation.Whole, depth), Least: -7, Greatest: 1e6}}
}

// list draws the values of a lookup, in some runs or in many.
func (r *generator) list(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		if list[i] = r.Int64N(1<<40) - 5; n%2 == 0 && i > 0 && r.IntN(n) > 20 {
			list[i] = list[i-1]
		}
	}
	return list
}

func (r *generator) flag(depth int) relation.Expr {
	if depth <= 0 {
		return relation.Constant{Of: relation.Flag, Int: r.Int64N(2), Absent: r.IntN(3) == 0}
	}
	kind := []relation.Type{relation.Real, relation.Whole, relation.Code}[r.IntN(3)]
	some := func() (list []relation.Expr) {
		for range r.IntN(4) {
			list = append(list, r.flag(depth-1))
		}
		return list
	}
	switch r.IntN(6) {
	case 0:
		return relation.IsMissing{E: r.expr(kind, depth-1)}
	case 1:
		return relation.All{Of: some()}
	case 2:
		return relation.Any{Of: some()}
	case 3:
		return relation.Not{E: r.flag(depth - 1)}
	}
	return relation.Compare{Op: []string{"==", "!=", "<", "<=", ">", ">="}[r.IntN(6)], A: r.expr(kind, depth-1),
		B: r.expr(kind, depth-1)}
}

// TestEnginesComputeExpressions: every engine computes of random rows what the interpreter computes, layer upon layer,
// to the bit but for the sign of 0, and raises no error on any.
func TestEnginesComputeExpressions(t *testing.T) {
	list := engines(t)
	for seed := range uint64(40) {
		r := newDrawn(seed)
		rows := make([][]any, 60)
		for i := range rows {
			rows[i] = r.row()
		}
		var types []relation.Type
		for _, c := range r.columns {
			types = append(types, c.Type())
		}
		computed, want := relation.Stored(make([]string, len(types)), types), rows
		for range 1 + r.IntN(3) {
			computed, want = r.layer(computed, want)
		}
		for _, e := range list {
			if e.Name() == "spark" && seed%13 != 3 { // it takes seconds to plan a statement
				continue
			}
			compareEngine(t, e, fmt.Sprintf("seed %d", seed), computed, rows, want)
		}
	}
}

// layer adds a random layer, and computes its rows.
func (r *generator) layer(rel relation.Relation, rows [][]any) (relation.Relation, [][]any) {
	r.columns = rel.Columns()
	l := relation.Layer{}
	if r.IntN(3) == 0 {
		l.Where = r.flag(3)
	}
	for i, of := range []relation.Type{relation.Real, relation.Real, relation.Real, relation.Whole, relation.Whole,
		relation.Code, relation.Code} {
		l.Columns = append(l.Columns, relation.Named{Name: strconv.Itoa(i), Expr: r.expr(of, 4)})
	}
	var out [][]any
	for _, row := range rows {
		if l.Where != nil && pipelinetest.Interpret(l.Where, row...) != any(int64(1)) {
			continue
		}
		next := make([]any, len(l.Columns))
		for i, c := range l.Columns {
			next[i] = pipelinetest.Interpret(c.Expr, row...)
		}
		out = append(out, next)
	}
	return rel.With(l), out
}

func compareEngine(t *testing.T, e engine, what string, r relation.Relation, rows, want [][]any) {
	t.Helper()
	got, err := e.at.Compute(e, r, rows)
	if err != nil {
		t.Errorf("%s, %s: %v", e.Name(), what, err)
		return
	}
	if len(got) != len(want) {
		t.Errorf("%s, %s: %d rows, must be %d", e.Name(), what, len(got), len(want))
		return
	}
	for i, row := range got {
		for j, v := range row {
			if v != want[i][j] { // -0 is 0
				t.Errorf("%s, %s: row %d, column %d is %v, must be %v", e.Name(), what, i, j, v, want[i][j])
				return
			}
		}
	}
}

// TestEnginesComputePairs: the four operations on every pair of traps, and on each with a public one, are the
// operations of IEEE 754, in an engine that raises an error beyond doubles too; halves are rounded to the even
// neighbour.
func TestEnginesComputePairs(t *testing.T) {
	r := relation.Stored([]string{"a", "b"}, []relation.Type{relation.Real, relation.Real})
	in := r.Columns()
	var rows [][]any
	for _, a := range realTraps() {
		for _, b := range realTraps() {
			rows = append(rows, []any{a, b})
		}
	}
	list := []relation.Expr{relation.RoundEven{E: relation.Clip{E: in[0], Least: -1e9, Greatest: 1e9}},
		relation.RoundEven{E: in[0]}}
	for _, op := range []string{"+", "-", "*", "/"} {
		list = append(list, relation.Arithmetic{Op: op, A: in[0], B: in[1]})
		for _, x := range []float64{5e-324, 0x1p-1022, 1e-200, -0x1p-537, 0.5, -3, 1e200, -math.MaxFloat64, 0, math.Inf(-1)} {
			c := relation.Constant{Of: relation.Real, Float: x}
			list = append(list, relation.Arithmetic{Op: op, A: in[0], B: c}, relation.Arithmetic{Op: op, A: c, B: in[0]})
		}
	}
	var l relation.Layer
	for _, e := range list {
		l.Columns = append(l.Columns, relation.Named{Expr: e})
	}
	want := make([][]any, len(rows))
	for i, row := range rows {
		for _, c := range l.Columns {
			want[i] = append(want[i], pipelinetest.Interpret(c.Expr, row...))
		}
	}
	for _, e := range engines(t) {
		compareEngine(t, e, "pairs", r.With(l), rows, want)
	}
}

// TestEnginesComputeWideTables: a table of 900 numbers is computed, though each takes three levels: PostgreSQL takes
// 1,664 columns in a SELECT.
func TestEnginesComputeWideTables(t *testing.T) {
	types, row := make([]relation.Type, 900), make([]any, 900)
	for i := range types {
		types[i], row[i] = relation.Real, float64(i)
	}
	r := relation.Stored(make([]string, len(types)), types)
	var l relation.Layer
	var want []any
	for _, e := range r.Columns() {
		place := relation.Arithmetic{Op: "*", A: relation.Clip{E: e, Least: 0, Greatest: 5000},
			B: relation.Constant{Of: relation.Real, Float: 0.1}}
		cell := relation.Truncate{E: relation.Clip{E: relation.Floor{E: place}, Least: 0, Greatest: 49}}
		l.Columns = append(l.Columns, relation.Named{Expr: cell})
		want = append(want, pipelinetest.Interpret(cell, row...))
	}
	for _, e := range engines(t) {
		compareEngine(t, e, "900 columns", r.With(l), [][]any{row}, [][]any{want})
	}
}
