package sql

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline/relation"
)

// Select prints the rows of a relation. base is a SELECT over the stored table whose columns are named s0, s1, ... in
// the order of the relation's stored columns, each of its type, real numbers never NaN; the result is a SELECT whose
// columns are named c0, c1, ..., whole numbers and codes in the narrowest integers that hold their span. An error says
// which expression an engine cannot compute as weir does, and why.
func (d Dialect) Select(base string, r relation.Relation) (string, error) {
	lower := make([]reach, len(r.Stored))
	for i := range lower {
		lower[i] = anyReal()
	}
	prefix, source := "s", base
	layers := r.Layers
	if len(layers) == 0 {
		layers = []relation.Layer{{Columns: stay(r)}}
	}
	for i, l := range layers {
		p := newPrinter(d, func(at int) string { return prefix + strconv.Itoa(at) }, lower)
		var err error
		if source, lower, err = p.layer(d.nested(source), l, i == len(layers)-1); err != nil {
			return "", err
		}
		prefix = "c"
	}
	return source, nil
}

// stay returns the columns of a relation as they are.
func stay(r relation.Relation) []relation.Named {
	list := make([]relation.Named, len(r.Stored))
	for i, e := range r.Columns() {
		list[i] = relation.Named{Name: r.Stored[i].Name, Expr: e}
	}
	return list
}

// Over prints columns that are computed from the rows of a kept table, which Select or Over made: its columns are named
// c0, c1, ...
func (d Dialect) Over(kept string, columns []relation.Named) (string, error) {
	p := newPrinter(d, d.keptColumn, nil)
	text, _, err := p.layer(kept+" AS x", relation.Layer{Columns: columns}, true)
	return text, err
}

// keptColumn returns a column of a kept table at its full width: an engine adds narrow integers narrowly.
func (d Dialect) keptColumn(at int) string { return d.toWhole.fill("c" + strconv.Itoa(at)) }

// layer prints a layer over what it reads, and returns the reach of its columns.
func (p *printer) layer(source string, l relation.Layer, last bool) (string, []reach, error) {
	list, reaches := make([]string, len(l.Columns)), make([]reach, len(l.Columns))
	for i, c := range l.Columns {
		list[i] = p.expr(c.Expr).sql
		if p.err != nil {
			return "", nil, fmt.Errorf("column %s: %w", c.Name, p.err)
		}
		if last {
			list[i] = p.d.narrowed(c.Expr, list[i])
		}
		reaches[i] = p.reach(c.Expr)
	}
	if len(list) == 0 {
		list = []string{"1 AS none"}
	}
	where := ""
	if l.Where != nil {
		if where = " WHERE " + p.expr(l.Where).sql; p.err != nil {
			return "", nil, fmt.Errorf("the rows that stay: %w", p.err)
		}
	}
	source = p.fromClause(source, strings.Join(list, " ")+where)
	for i := range l.Columns {
		list[i] += " AS c" + strconv.Itoa(i)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + source + where, reaches, nil
}

// narrowed casts whole numbers to the narrowest integers that hold their span.
func (d Dialect) narrowed(e relation.Expr, sql string) string {
	if e.Type() != relation.Whole && e.Type() != relation.Code {
		return sql
	}
	switch least, greatest := e.Span(); {
	case least >= math.MinInt16 && greatest <= math.MaxInt16:
		return "CAST(" + sql + " AS " + d.small + ")"
	case least >= math.MinInt32 && greatest <= math.MaxInt32:
		return "CAST(" + sql + " AS " + d.integer + ")"
	}
	return sql
}

// fromClause returns the source of rows with all that the printer has named. Each level hands on the columns that SQL
// above it names, and those that are always: PostgreSQL takes 1,664 columns in a SELECT.
func (p *printer) fromClause(source, above string, always ...string) string {
	needed, passed := columnsIn(above), make([][]string, len(p.levels))
	for i, l := range slices.Backward(p.levels) {
		for _, name := range l.names {
			delete(needed, name)
		}
		passed[i] = append(slices.Sorted(maps.Keys(needed)), always...)
		maps.Copy(needed, columnsIn(strings.Join(l.sql, " ")))
	}
	for i, l := range p.levels {
		columns := passed[i]
		for j, sql := range l.sql {
			columns = append(columns, sql+" AS "+l.names[j])
		}
		source = p.d.nested("SELECT " + strings.Join(columns, ", ") + " FROM " + source)
	}
	return source
}

// columnsIn returns the names of columns in SQL of expressions, in which no text stands that could look like one.
func columnsIn(sql string) map[string]bool {
	names := map[string]bool{}
	for _, name := range regexp.MustCompile(`\b[cgst][0-9]+\b`).FindAllString(sql, -1) {
		names[name] = true
	}
	return names
}

// nested returns a statement as the source of rows of another, behind a fence where an engine would copy SQL across.
func (d Dialect) nested(statement string) string { return "(" + statement + d.fence + ") AS x" }

// Try prints a SELECT that computes expressions over one column, the given public numbers. It answers rows of a place
// in values and, for each expression, a whole number; flags are 1 and 0.
func (d Dialect) Try(kind relation.Type, values []float64, list []relation.Expr) (string, error) {
	literals := make([]string, len(values))
	for i, x := range values {
		if literals[i] = d.Real(x); kind != relation.Real {
			literals[i] = d.Whole(truncated(x))
		}
	}
	p := newPrinter(d, func(int) string { return "s0" }, []reach{anyReal()})
	columns := []string{"p"}
	for i, e := range list {
		one := p.expr(e)
		if e.Type() == relation.Flag {
			one = p.apply("(CASE WHEN $ THEN 1 WHEN NOT $ THEN 0 END)", one)
		}
		columns = append(columns, one.sql+" AS e"+strconv.Itoa(i))
	}
	selected := strings.Join(columns, ", ")
	return "SELECT " + selected + " FROM " + p.fromClause(d.nested(d.rows(literals)), selected, "p"), p.err
}

// Sample prints a SELECT of the given number of rows of a base, or all where there are fewer: those whose hash is
// least, of the codes of the row (docs/design/units.md) and how many rows of these codes come before it. So a row that
// is there a thousand times is drawn as often as a thousand rows, and the same rows are drawn again from the same
// table, whatever their order. Base.Cells takes the rows of the answer: in front of the cells stands a 0, and in front
// of each value a v.
func (d Dialect) Sample(b Base, rows int64) string {
	names, texts := make([]string, len(b.columns)), make([]string, len(b.columns))
	for i, c := range b.columns {
		names[i] = fmt.Sprintf("s%d", i)
		text := d.asText.fill(names[i])
		if c.Of == relation.Text {
			text = names[i]
		}
		texts[i] = "coalesce('v' || " + text + ", '')"
	}
	coded := "SELECT " + strings.Join(names, ", ") + ", " + d.codes(b.columns) + " AS code FROM (" + b.Values + d.fence +
		") AS base" + d.fence
	turns := "SELECT *, row_number() OVER (PARTITION BY code ORDER BY code) AS turn FROM (" + coded + ") AS coded" +
		d.fence
	return "SELECT 0, " + strings.Join(texts, ", ") + " FROM (" + turns + ") AS turns ORDER BY " +
		d.md5.fill("(code || '/' || "+d.asText.fill("turn")+")") + " LIMIT " + strconv.FormatInt(rows, 10)
}

// Cells returns the cells of a row of Sample, nil where one is missing.
func (b Base) Cells(row []string) ([]*string, error) {
	if len(row) != b.Sampled() {
		return nil, errAnswer
	}
	list := make([]*string, len(b.columns))
	for i, cell := range row[1:] {
		if value, there := strings.CutPrefix(cell, "v"); there {
			list[i] = &value
		} else if cell != "" {
			return nil, errAnswer
		}
	}
	return list, nil
}

// Sampled returns how many cells a row of Sample has.
func (b Base) Sampled() int { return 1 + len(b.columns) }
