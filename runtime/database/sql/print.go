package sql

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"weir/pipeline/relation"
)

// printer prints expressions over the columns of a row. SQL that stands in a statement more than once is computed
// below it and named, level upon level, so that statements do not grow by copies and an engine computes it once.
type printer struct {
	d      Dialect
	column func(at int) string // SQL of a column of the row
	below  []reach             // of the columns
	levels []level
	names  map[string]piece // by SQL
	known  map[string]piece // expressions, as Go writes them, that are columns already
	err    error            // the first part that cannot be computed alike
}

// level is SQL that is computed and named together.
type level struct{ sql, names []string }

// piece is SQL of an expression.
type piece struct {
	sql   string
	level int  // of the names in it: it stands above so many levels
	short bool // a name or a literal, which may stand anywhere any number of times
}

func newPrinter(d Dialect, column func(at int) string, below []reach) *printer {
	return &printer{d: d, column: column, below: below, names: map[string]piece{}}
}

// write puts SQL together: %[1]s is the first piece.
func write(format string, terms ...piece) piece {
	var args []any
	level := 0
	for _, one := range terms {
		args, level = append(args, one.sql), max(level, one.level)
	}
	return piece{sql: fmt.Sprintf(format, args...), level: level}
}

// bind returns a piece that may stand more than once.
func (p *printer) bind(operand piece) piece {
	if operand.short {
		return operand
	}
	if name, is := p.names[operand.sql]; is {
		return name
	}
	if operand.level == len(p.levels) {
		p.levels = append(p.levels, level{})
	}
	name := piece{"t" + strconv.Itoa(len(p.names)), operand.level + 1, true}
	at := &p.levels[operand.level]
	at.sql, at.names = append(at.sql, operand.sql), append(at.names, name.sql)
	p.names[operand.sql] = name
	return name
}

// apply puts a piece into a form, under a name where it stands there more than once.
func (p *printer) apply(f form, operand piece) piece {
	if strings.Count(string(f), "$") > 1 {
		operand = p.bind(operand)
	}
	return piece{sql: f.fill(operand.sql), level: operand.level}
}

func literal(sql string) piece { return piece{sql: sql, short: true} }

func (p *printer) refuse(format string, args ...any) piece {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
	return literal("NULL")
}

// expr prints an expression.
func (p *printer) expr(e relation.Expr) piece {
	if len(p.known) > 0 {
		if one, is := p.known[identity(e)]; is {
			return one
		}
	}
	switch e := e.(type) {
	case relation.Column:
		return literal(p.column(e.At))
	case relation.Constant:
		return p.constant(e)
	case relation.IsMissing:
		return write("(%s IS NULL)", p.expr(e.E))
	case relation.Compare:
		return p.compare(e)
	case relation.All:
		return p.connect(e.Of, " AND ", "(1 = 1)")
	case relation.Any:
		return p.connect(e.Of, " OR ", "(1 = 0)")
	case relation.Not:
		return write("(NOT %s)", p.expr(e.E))
	case relation.Choice:
		return write("(CASE WHEN %s THEN %s ELSE %s END)", p.expr(e.If), p.expr(e.Then), p.expr(e.Else))
	case relation.Arithmetic:
		return p.arithmetic(e)
	case relation.Within:
		return p.hold(e.E, e.Least, e.Greatest, "(CASE WHEN %[1]s >= %[3]s AND %[1]s <= %[4]s THEN %[2]s END)")
	case relation.Clip:
		return p.hold(e.E, e.Least, e.Greatest,
			"(CASE WHEN %[1]s < %[3]s THEN %[5]s WHEN %[1]s > %[4]s THEN %[6]s ELSE %[2]s END)")
	}
	return p.number(e)
}

// number prints what makes a number of another one.
func (p *printer) number(e relation.Expr) piece {
	switch e := e.(type) {
	case relation.AsReal:
		return p.asReal(e.E)
	case relation.Rank:
		return p.expr(e.E)
	case relation.Truncate:
		return p.truncate(e)
	case relation.Floor:
		if p.reach(e.E).size() < relation.Exact {
			return p.apply(p.d.floor, p.expr(e.E))
		}
		return p.apply(p.d.floorAny, p.expr(e.E))
	case relation.RoundEven:
		if p.reach(e.E).size() < 0x1p40 {
			return p.apply(p.d.even, p.expr(e.E))
		}
		return p.apply(p.d.evenAny, p.expr(e.E))
	case relation.Quotient:
		return p.divide(e.E, p.d.quotient, e.By)
	case relation.Remainder:
		return p.divide(e.E, "%", e.By)
	case relation.Lookup:
		return p.lookup(e)
	case relation.Bins:
		return p.bins(e)
	}
	return p.refuse("is a %T, must be an expression that databases compute", e)
}

func (p *printer) constant(e relation.Constant) piece {
	switch {
	case e.Absent:
		return literal(p.d.absent(e.Of))
	case e.Of == relation.Real && math.IsNaN(e.Float):
		return p.refuse("has a constant that is not a number, must be a finite one")
	case e.Of == relation.Real:
		return literal(p.d.Real(e.Float))
	case e.Of == relation.Flag:
		return literal(map[bool]string{true: "(1 = 1)", false: "(1 = 0)"}[e.Int == 1])
	}
	return literal(p.d.Whole(e.Int))
}

// absent returns a missing value of a type.
func (d Dialect) absent(of relation.Type) string {
	switch of {
	case relation.Real:
		return d.toReal.fill("NULL")
	case relation.Flag:
		return "CAST(NULL AS boolean)"
	case relation.Text:
		return d.Bytes("NULL")
	}
	return d.toWhole.fill("NULL")
}

func (p *printer) compare(e relation.Compare) piece {
	op := map[string]string{"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}[e.Op]
	a, b := e.A.Type(), e.B.Type()
	if op == "" || a == relation.Text || b == relation.Text || (a == relation.Real) != (b == relation.Real) {
		return p.refuse("is %s of %s and %s, must be an operation that all databases compute alike", e.Op, a, b)
	}
	return write("(%s "+op+" %s)", p.expr(e.A), p.expr(e.B))
}

// connect prints a conjunction or disjunction; empty is the one of no flags.
func (p *printer) connect(terms []relation.Expr, operator, empty string) piece {
	if len(terms) == 0 {
		return literal(empty)
	}
	var list []piece
	for _, e := range terms {
		list = append(list, p.expr(e))
	}
	return write("(%s"+strings.Repeat(operator+"%s", len(list)-1)+")", list...)
}

// hold prints a number as bounds see it and itself, the bounds as real numbers, and then as values of its type.
func (p *printer) hold(e relation.Expr, least, greatest float64, format string) piece {
	if math.IsNaN(least) || math.IsNaN(greatest) {
		return p.refuse("has a bound that is not a number, must be a finite one")
	}
	value := p.bind(p.expr(e))
	seen, ends := value, [2]piece{literal(p.d.Real(least)), literal(p.d.Real(greatest))}
	bounds := ends
	if e.Type() != relation.Real {
		seen = piece{sql: p.d.toReal.fill(value.sql), level: value.level}
		bounds = [2]piece{literal(p.d.Whole(truncated(least))), literal(p.d.Whole(truncated(greatest)))}
	}
	return write(format+"%.0[5]s%.0[6]s", seen, value, ends[0], ends[1], bounds[0], bounds[1])
}

// truncated returns a number without its fraction, as a 64-bit integer or the nearest one.
func truncated(x float64) int64 {
	switch {
	case x >= 0x1p63:
		return math.MaxInt64
	case x < -0x1p63:
		return math.MinInt64
	}
	return int64(x)
}

func (p *printer) asReal(e relation.Expr) piece {
	if e.Type() == relation.Real {
		return p.expr(e)
	}
	return p.apply(p.d.toReal, p.expr(e))
}

func (p *printer) truncate(e relation.Truncate) piece {
	operand := p.expr(e.E)
	if p.reach(e.E).size() < 0x1p63 {
		return p.apply(p.d.integral, operand)
	}
	operand = p.bind(operand)
	return write("(CASE WHEN %[1]s >= %[2]s THEN %[3]s WHEN %[1]s < %[4]s THEN %[5]s ELSE %[6]s END)", operand,
		literal(p.d.Real(0x1p63)), literal(p.d.Whole(math.MaxInt64)),
		literal(p.d.Real(-0x1p63)), literal(p.d.Whole(math.MinInt64)), p.apply(p.d.integral, operand))
}

func (p *printer) divide(e relation.Expr, op string, divisor int64) piece {
	if divisor < 1 {
		return p.refuse("has a divisor below 1, must be at least 1")
	}
	return write("(%s "+strings.ReplaceAll(op, "%", "%%")+" %s)", p.expr(e), literal(p.d.Whole(divisor)))
}

// lookup prints a list by the places at which its value changes, or as an array.
func (p *printer) lookup(e relation.Lookup) piece {
	if len(e.To) == 0 {
		return p.refuse("has an empty list of values, must hold at least one")
	}
	operand := p.bind(p.expr(e.E))
	cuts, values := []string(nil), []string{short(e.To[0])}
	for i := 1; i < len(e.To); i++ {
		if e.To[i] != e.To[i-1] {
			cuts, values = append(cuts, strconv.Itoa(i)), append(values, short(e.To[i]))
		}
	}
	if len(values) > p.d.steps {
		list := make([]string, len(e.To))
		for i, n := range e.To {
			list[i] = short(n)
		}
		return p.present(operand, p.d.pick(list, operand.sql))
	}
	return p.present(operand, halved(operand.sql, cuts, values))
}

// short returns a whole number as a literal of whichever width the engine takes for it.
func short(n int64) string {
	if n < 0 {
		return "(" + strconv.FormatInt(n, 10) + ")"
	}
	return strconv.FormatInt(n, 10)
}

func (p *printer) bins(e relation.Bins) piece {
	cuts, values := make([]string, len(e.Edges)), []string{"0"}
	for i, edge := range e.Edges {
		if math.IsNaN(edge) || i > 0 && edge < e.Edges[i-1] {
			return p.refuse("has edges that do not ascend, must ascend")
		}
		cuts[i], values = p.d.Real(edge), append(values, strconv.Itoa(i+1))
	}
	of := p.bind(p.expr(e.E))
	return p.present(of, halved(of.sql, cuts, values))
}

// present prints a whole number that follows from a piece which is not missing. Spark's element_at needs it too: at a
// missing place it gives 0 (version 4.0.1).
func (p *printer) present(of piece, sql string) piece {
	return write("(CASE WHEN %s IS NOT NULL THEN %s END)", of, p.apply(p.d.toWhole, piece{sql: sql, level: of.level}))
}

// halved prints values between cuts, which ascend, by halving.
func halved(schema string, cuts, values []string) string {
	if len(cuts) == 0 {
		return values[0]
	}
	mid := len(cuts) / 2
	return "CASE WHEN " + schema + " < " + cuts[mid] + " THEN " + halved(schema, cuts[:mid], values[:mid+1]) +
		" ELSE " + halved(schema, cuts[mid+1:], values[mid+1:]) + " END"
}
