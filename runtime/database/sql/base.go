package sql

import (
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"

	"weir/pipeline/relation"
)

// Table is a stored table and what its columns mean.
type Table struct {
	From    string // an item of FROM, made of identifiers
	Columns []Stored
	Unit    int // place of the column that names privacy units
	MaxRows int // of a unit; 0: all rows stay
}

// Base is the rows of a stored table as a reader of files would have them, in SQL.
type Base struct {
	// Values is a SELECT of the rows that stay, with the columns s0, s1, ... in the types of Stored.Of. A cell that is
	// missing is NULL, and so is one that is a fault.
	Values string
	// Content is a SELECT of one row, which Base.Read takes: what all rows are, and which rules their cells break.
	Content string
	every   string // Values before the cap
	faults  []int  // places of the columns whose cells may be faults, in the order of Content
	columns []Stored
}

// Base prints the reading of a table. The error names each column that the database would not read as a file's reader
// does.
//
// Max rows of each unit stay by the rule of docs/design/units.md. What holds: add, remove or exchange all rows of one
// unit in the stored table, and at most MaxRows of the rows of Values go, and at most MaxRows come. A unit is the rows
// of one value of the column, or of one text that is not a category; what a cell is read as follows from that cell
// alone. The window sees the rows of one unit at a time, and orders them by their own values; rows that it cannot order
// are equal in all columns of Values, so that whichever stays, Values has the same rows. A row that names no unit is
// one of its own, and stays.
func (d Dialect) Base(t Table) (Base, error) {
	var errs []error
	cells := make([]cell, len(t.Columns))
	for i, c := range t.Columns {
		var err error
		if cells[i], err = d.cell(c); err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", c.Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Base{}, err
	}
	b := Base{columns: t.Columns}
	b.Values = d.values(t, cells)
	t.MaxRows = 0
	b.every = d.values(t, cells)
	b.Content, b.faults = d.content(t, cells)
	return b, nil
}

// values returns the SELECT of Base.Values.
func (d Dialect) values(t Table, cells []cell) string {
	list, names := make([]string, len(cells)), make([]string, len(cells))
	for i, c := range cells {
		names[i] = fmt.Sprintf("s%d", i)
		list[i] = c.value + " AS " + names[i]
	}
	if t.MaxRows == 0 {
		return "SELECT " + strings.Join(list, ", ") + " FROM " + t.From
	}
	unit, unlisted := names[t.Unit], cells[t.Unit].name
	unnamed := unit + " IS NULL"
	if parts := unit; unlisted != "" {
		list, unit, unnamed = append(list, unlisted+" AS unlisted"), parts+", unlisted", unnamed+" AND unlisted IS NULL"
	}
	order := append([]string{d.md5.fill(d.codes(t.Columns))}, d.order(t.Columns)...)
	return "SELECT " + strings.Join(names, ", ") + " FROM (SELECT *, row_number() OVER (PARTITION BY " + unit +
		" ORDER BY " + strings.Join(order, ", ") + ") AS place FROM (SELECT " + strings.Join(list, ", ") + " FROM " +
		t.From + d.fence +
		") AS every" + d.fence + ") AS placed WHERE place <= " + strconv.Itoa(t.MaxRows) + " OR " + unnamed
}

// codes returns the text of the codes of a row, whose hash orders the rows of a unit.
func (d Dialect) codes(columns []Stored) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = d.code(i, c.Of)
	}
	return strings.Join(list, " || ',' || ")
}

// code returns the text of the code of a column's value.
func (d Dialect) code(at int, kind relation.Type) string {
	e := fmt.Sprintf("s%d", at)
	code := d.asText.fill(e)
	switch kind {
	case relation.Text:
		code = d.hex.fill(e)
	case relation.Real:
		end := d.Real(relation.Exact)
		clipped := "(CASE WHEN " + e + " > " + end + " THEN " + end + " WHEN " + e + " < -" + end + " THEN -" + end +
			" ELSE " + e + " END)"
		whole := d.trunc.fill(clipped)
		part := d.trunc.fill("((" + clipped + " - " + whole + ") * " + end + ")")
		code = d.asText.fill(d.AsWhole(whole)) + " || ',' || " + d.asText.fill(d.AsWhole(part))
	}
	return "coalesce(" + code + ", '-')"
}

// order lists what the rows of a unit are ordered by behind their hash: real numbers, then all other columns.
func (d Dialect) order(columns []Stored) (list []string) {
	for _, reals := range []bool{true, false} {
		for i, c := range columns {
			if e := fmt.Sprintf("s%d", i); (c.Of == relation.Real) == reals {
				if c.Of == relation.Text {
					e = d.Bytes(e)
				}
				list = append(list, e+" ASC NULLS LAST")
			}
		}
	}
	return list
}

// pieces is how many pieces of 60 bits of a row's hash are summed up.
const pieces = 4

// content returns the SELECT of Base.Content, and the places of the columns with faults.
//
// What a table is, is the number of its rows and, for each of four pieces of 60 bits of a row's SHA-256, the sum over
// all rows: a hash of the rows without their order (Bellare and Micciancio, "A new paradigm for collision-free
// hashing", EUROCRYPT 1997, AdHash). It is public and without a key, since it is computed in SQL.
func (d Dialect) content(t Table, cells []cell) (statement string, faults []int) {
	var inner, outer, spelled []string
	for i, c := range cells {
		spelled = append(spelled, d.spell(d.Ident(t.Columns[i].Name), t.Columns[i].Storage))
		if test := faultOf(c); test != "" {
			name := fmt.Sprintf("f%d", i)
			faults, inner = append(faults, i), append(inner, test+" AS "+name)
			outer = append(outer, "coalesce(bit_or("+name+"), 0)")
		}
	}
	inner = append(inner, d.sha256.fill(d.row(spelled))+" AS h")
	for i := range pieces {
		piece := d.piece.fill("substr(h, " + strconv.Itoa(1+15*i) + ", 15)")
		outer = append(outer, "coalesce(sum("+piece+"), 0)")
	}
	every := "(SELECT " + strings.Join(inner, ", ") + " FROM " + t.From + d.fence + ") AS every"
	return "SELECT count(*), " + strings.Join(outer, ", ") + " FROM " + every, faults
}

// faultOf computes the bit of the rule that a cell breaks, 0 for none; "" where no cell can break one.
func faultOf(c cell) string {
	last := len(c.arms)
	for last > 0 && c.arms[last-1].rule == 0 {
		last--
	}
	if last == 0 {
		return ""
	}
	var b strings.Builder
	for _, a := range c.arms[:last] {
		bit := 0
		if a.rule > 0 {
			bit = 1 << a.rule
		}
		fmt.Fprintf(&b, " WHEN %s THEN %d", a.test, bit)
	}
	return "CASE" + b.String() + " ELSE 0 END"
}

// Fault is a rule that cells of a column break.
type Fault struct {
	Column string
	Rule   Rule
}

// Counted returns how many cells the row of Content has.
func (b Base) Counted() int { return 1 + len(b.faults) + pieces }

// errAnswer is an answer of another form than the one asked for.
var errAnswer = errors.New("the database's answer: has other cells than were asked for, must be whole numbers")

// stored lists how the columns are stored. It is a part of what a table is, since values of two storages may be spelled
// alike and mean something else, such as microseconds and nanoseconds.
func (b Base) stored() string {
	var list strings.Builder
	for _, c := range b.columns {
		fmt.Fprintf(&list, "%s, ", c.Storage)
	}
	return list.String()
}

// Read takes the row of Content: what tells the table's rows from all others, and which rules cells break, in the order
// of the columns.
func (b Base) Read(row []string) (content string, faults []Fault, err error) {
	if len(row) != b.Counted() || !regexp.MustCompile(`^[0-9]+( [0-9]+)*$`).MatchString(strings.Join(row, " ")) {
		return "", nil, errAnswer
	}
	for i, pos := range b.faults {
		broken, err := strconv.ParseUint(row[1+i], 10, 32)
		if err != nil || broken>>(Endless+1) != 0 {
			return "", nil, errAnswer
		}
		for ; broken != 0; broken &= broken - 1 {
			faults = append(faults, Fault{b.columns[pos].Name, Rule(bits.TrailingZeros64(broken))})
		}
	}
	return b.stored() + row[0] + " " + strings.Join(row[1+len(b.faults):], " "), faults, nil
}
