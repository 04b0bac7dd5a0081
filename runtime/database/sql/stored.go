package sql

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/pipeline/relation"
)

// Storage is how a database stores the cells of a column.
type Storage string

// The storages. A type that is none of them is not computed with.
const (
	Integer Storage = "integer"                  // of up to 64 bits, with a sign
	Decimal Storage = "decimal"                  // a decimal number, of Digits digits
	Double  Storage = "double"                   // a floating-point number of 64 bits, or of 32
	Flag    Storage = "boolean"                  // true or false
	Words   Storage = "text"                     // text, or what has one spelling
	Day     Storage = "date"                     // a date
	Stamp   Storage = "timestamp"                // a timestamp, in UTC where it has a zone
	Nanos   Storage = "timestamp of nanoseconds" // a timestamp of DuckDB
	Clock   Storage = "time"                     // a time of day
)

// Stored is a column of a table, and what its cells mean: plain data that a domain says of them. Lists hold
// values of the storage that is compared.
type Stored struct {
	Name    string // as the catalogue spells it
	Storage Storage
	Digits  int           // of Decimal; 0: any number of them
	Of      relation.Type // what cells become

	// Step is the seconds of which dates and times become multiples, at or before them, from Least to Greatest; 0
	// leaves a date as days.
	Step, Least, Greatest int64

	Names        []string          // of Code: the category of each code
	Codes        map[string]int32  // of Code, stored as Words; Flag has the spellings false and true
	WholeCodes   map[int64]int32   // of Code, stored as Integer
	RealCodes    map[float64]int32 // of Code, stored as Double
	Numbered     bool              // categories are numbers, which may be spelled otherwise
	Missing      []string          // texts that mean a missing cell, beside the empty one
	MissingWhole []int64           // whole numbers that do
	MissingReal  []float64         // real numbers that do; NaN by MissingNaN
	MissingNaN   bool
	MayMiss      bool // else a missing cell is a fault
	UnknownMiss  bool // a value that is not a category is missing, else a fault
}

// Rule is what a cell of a table that may not be read can break.
type Rule int

// The rules.
const (
	NotMissing Rule = iota + 1 // the cell is missing, and must not be
	Finite                     // it is NaN or infinite
	NotWhole                   // it is not a whole number
	Range                      // it is a whole number beyond 64 bits
	Magnitude                  // it is a number too far from 0, or too near to it, for a double
	Rounded                    // it is a double of 2^53 or more, where whole numbers are one
	Wide                       // it is a whole number beyond 2^53, which a double rounds
	Category                   // it is not a category
	Unknown                    // it is not a category, and cannot be missing
	Spelling                   // it spells a number as no category is spelled
	Span                       // it lies outside of the years 0 to 9999, or of its day
	Endless                    // it is an infinite date or timestamp
)

// cell is how one column is computed.
type cell struct {
	value string // NULL where the cell is missing or a fault
	arms  []arm  // the first whose test holds says what the cell is; none: a value
	name  string // of a unit whose value has no code, as text; "" where there is no such value
}

// arm is a test of a cell. What it finds is a fault by the rule; 0: a value, or missing where it may be.
type arm struct {
	test string
	rule Rule
}

// missing returns the arm of cells that are missing.
func (c Stored) missing(test string) arm {
	if c.MayMiss {
		return arm{test, 0}
	}
	return arm{test, NotMissing}
}

// cell returns how the cells of a column are computed. It is an error where they are not read alike.
func (d Dialect) cell(c Stored) (cell, error) {
	e := d.Ident(c.Name)
	null := c.missing(e + " IS NULL")
	switch {
	case c.Of == relation.Code && c.Storage == Words:
		return d.textCode(c), nil
	case c.Of == relation.Code && (c.Storage == Integer || c.Storage == Flag || c.Storage == Double && c.Numbered):
		return d.numberCode(c), nil
	case c.Of == relation.Text && c.Storage == Words:
		text := d.Bytes(e)
		return cellOf(text, null, c.missing(text+" IN ("+d.texts(append([]string{""}, c.Missing...))+")")), nil
	case c.Of == relation.Whole && (c.Step > 0 || c.Storage == Day):
		return d.time(c)
	case c.Of == relation.Whole && c.Storage == Integer:
		return cellOf(d.AsWhole(e), null, c.missing(d.anyWhole(e, c.MissingWhole))), nil
	case c.Of == relation.Real && c.Storage == Integer:
		wide := arm{"NOT " + lies(e, d.Whole(-relation.Exact), d.Whole(relation.Exact)), Wide}
		return cellOf(d.AsReal(e), null, wide, c.missing(d.anyReal(d.AsReal(e), c.MissingReal))), nil
	case (c.Of == relation.Real || c.Of == relation.Whole) && c.Storage == Double:
		return d.double(c), nil
	case (c.Of == relation.Real || c.Of == relation.Whole) && c.Storage == Decimal &&
		c.Digits <= exactDigits(c.Of) && (c.Digits > 0 || d.anyDigits):
		return d.decimal(c), nil
	}
	return cell{}, fmt.Errorf("is stored as %s, which the database cannot turn into %s exactly as weir reads a file, "+
		"must be stored as %s; or set rows: may_leave", c.stored(), c.becomes(), d.better(c))
}

// becomes words what cells become.
func (c Stored) becomes() string {
	return map[relation.Type]string{relation.Real: "a number", relation.Whole: "a whole number",
		relation.Code: "a category", relation.Text: "text"}[c.Of]
}

// stored words the storage.
func (c Stored) stored() string {
	if c.Storage == Decimal && c.Digits > 0 {
		return fmt.Sprintf("decimal of %d digits", c.Digits)
	}
	return string(c.Storage)
}

// better words a storage that is read alike.
func (d Dialect) better(c Stored) string {
	switch {
	case c.Step > 0:
		return "a timestamp, or as a time of day"
	case c.Of == relation.Code:
		return "text or an integer"
	case c.Of == relation.Text:
		return "text"
	case c.Storage == Decimal:
		return fmt.Sprintf("double precision, an integer or a decimal of up to %d digits", exactDigits(c.Of))
	}
	return "a number"
}

// exactDigits returns the most digits of a decimal that become the nearest double (15 are exact over a power of ten
// that is exact too; Clinger 1990), or a whole number of 64 bits. PostgreSQL reads a decimal as text, which is exact
// whatever its digits are; such a decimal has 0.
func exactDigits(of relation.Type) int {
	if of == relation.Real {
		return 15
	}
	return 18
}

// cellOf returns a value where no arm finds the cell to be anything else.
func cellOf(value string, arms ...arm) cell {
	arms = slices.DeleteFunc(arms, func(a arm) bool { return a.test == "" })
	var b strings.Builder
	b.WriteString("CASE")
	for _, a := range arms {
		b.WriteString(" WHEN " + a.test + " THEN NULL")
	}
	return cell{value: b.String() + " ELSE " + value + " END", arms: arms}
}

// textCode finds the code of a text. A cell that spells a number as no category does would be that category to a reader
// of files, which a database does not compare.
func (d Dialect) textCode(c Stored) cell {
	e := d.Ident(c.Name)
	text := d.Bytes(e)
	known := slices.DeleteFunc(slices.Sorted(maps.Keys(c.Codes)), func(s string) bool { return !d.Holds(s) })
	cases := make([]string, len(known))
	for i, s := range known {
		cases[i] = d.caseOf(d.Text(s), c.Codes[s])
	}
	missing := append([]string{""}, c.Missing...)
	out := cell{value: matched(text, cases), name: d.unlisted(e, text, known, missing)}
	out.arms = []arm{c.missing(e + " IS NULL")}
	if len(known) > 0 {
		out.arms = append(out.arms, arm{text + " IN (" + d.texts(known) + ")", 0})
	}
	out.arms = append(out.arms, c.missing(text+" IN ("+d.texts(missing)+")"))
	if c.Numbered {
		out.arms = append(out.arms, arm{d.numberlike.fill(text), Spelling})
	}
	out.arms = append(out.arms, c.unknown())
	return out
}

// unlisted returns the text of a cell that is not a category and not missing.
func (d Dialect) unlisted(e, text string, known, gone []string) string {
	listed := text + " IN (" + d.texts(append(known, gone...)) + ")"
	return "CASE WHEN " + e + " IS NULL OR " + listed + " THEN NULL ELSE " + text + " END"
}

// unknown returns the arm of cells that are not a category.
func (c Stored) unknown() arm {
	switch {
	case !c.UnknownMiss:
		return arm{"true", Category}
	case !c.MayMiss:
		return arm{"true", Unknown}
	}
	return arm{"true", 0}
}

// numberCode finds the code of a number or a flag.
func (d Dialect) numberCode(c Stored) cell {
	switch c.Storage {
	case Integer:
		return d.wholeCode(c)
	case Double:
		return d.realCode(c)
	}
	return d.flagCode(c)
}

func (d Dialect) wholeCode(c Stored) cell {
	e, known := d.Ident(c.Name), slices.Sorted(maps.Keys(c.WholeCodes))
	cases := make([]string, len(known))
	for i, n := range known {
		cases[i] = d.caseOf(d.Whole(n), c.WholeCodes[n])
	}
	return c.coded(d, matched(d.AsWhole(e), cases), d.anyWhole(e, known), d.anyWhole(e, c.MissingWhole))
}

func (d Dialect) realCode(c Stored) cell {
	e, known := d.AsReal(d.Ident(c.Name)), slices.Sorted(maps.Keys(c.RealCodes))
	cases := make([]string, len(known))
	for i, x := range known {
		cases[i] = d.caseOf(d.Real(x), c.RealCodes[x])
	}
	missing := d.anyReal(e, c.MissingReal)
	if c.MissingNaN {
		missing = either(missing, d.IsNaN(e))
	}
	return c.coded(d, matched(e, cases), d.anyReal(e, known), missing)
}

func (d Dialect) flagCode(c Stored) cell {
	e := d.Ident(c.Name)
	var cases []string
	var known, missing string
	for _, word := range []string{"false", "true"} {
		test := map[string]string{"false": "NOT " + e, "true": e}[word]
		if code, ok := c.Codes[word]; ok {
			cases, known = append(cases, d.caseOf(word, code)), either(known, test)
		} else if slices.Contains(c.Missing, word) {
			missing = either(missing, test)
		}
	}
	return c.coded(d, matched(e, cases), known, missing)
}

// coded returns a cell of a category that is not text; known and gone test for listed and for missing ones, and may be
// "".
func (c Stored) coded(d Dialect, value, known, missing string) cell {
	e := d.Ident(c.Name)
	out := cell{value: value, arms: []arm{c.missing(e + " IS NULL")}}
	if known != "" {
		out.arms = append(out.arms, arm{known, 0})
	}
	if missing != "" {
		out.arms = append(out.arms, c.missing(missing))
	}
	out.arms = append(out.arms, c.unknown())
	listed := either(either(e+" IS NULL", known), missing)
	out.name = "CASE WHEN " + listed + " THEN NULL ELSE " + d.asText.fill(e) + " END"
	return out
}

// double reads a floating-point number.
func (d Dialect) double(c Stored) cell {
	e := d.AsReal(d.Ident(c.Name))
	nan := arm{d.IsNaN(e), Finite}
	if c.MissingNaN {
		nan = c.missing(nan.test)
	}
	arms := []arm{c.missing(e + " IS NULL"), nan, {e + " IN (" + d.Real(math.Inf(1)) + ", " + d.Real(math.Inf(-1)) + ")",
		Finite}}
	if c.Of == relation.Real {
		return cellOf(e, append(arms, c.missing(d.anyReal(e, c.MissingReal)))...)
	}
	arms = append(arms, arm{e + " <> " + d.trunc.fill(e), NotWhole},
		arm{"NOT " + lies(e, d.Real(1-relation.Exact), d.Real(relation.Exact-1)), Rounded},
		c.missing(d.anyReal(e, reals(c.MissingWhole))))
	return cellOf(d.AsWhole(e), arms...)
}

// reals returns the whole numbers that a double holds exactly and is read from.
func reals(list []int64) (terms []float64) {
	for _, n := range list {
		if n > -relation.Exact && n < relation.Exact {
			terms = append(terms, float64(n))
		}
	}
	return terms
}

// decimal reads a decimal number. PostgreSQL's may be NaN, infinite, or beyond a double, which a cast would raise.
func (d Dialect) decimal(c Stored) cell {
	e := d.Ident(c.Name)
	arms := []arm{c.missing(e + " IS NULL")}
	if c.Digits == 0 {
		nan := arm{e + " = 'NaN'::numeric", Finite}
		if c.MissingNaN {
			nan = c.missing(nan.test)
		}
		arms = append(arms, nan)
	}
	if c.Of == relation.Real {
		if c.Digits == 0 {
			near := "(" + e + " = 0 OR NOT " + lies(e, "-1e-300", "1e-300") + ")"
			arms = append(arms, arm{"NOT (" + lies(e, "-1e300", "1e300") + " AND " + near + ")", Magnitude})
		}
		return cellOf(d.AsReal(e), append(arms, c.missing(d.anyReal(d.AsReal(e), c.MissingReal)))...)
	}
	if c.Digits == 0 {
		arms = append(arms, arm{"NOT " + lies(e, "-9223372036854775808", "9223372036854775807"), Range})
	}
	arms = append(arms, arm{e + " <> floor(" + e + ")", NotWhole}, c.missing(d.anyWhole(e, c.MissingWhole)))
	return cellOf(d.AsWhole(e), arms...)
}

// time reads a date as days, and a timestamp or a time as seconds.
func (d Dialect) time(c Stored) (cell, error) {
	e := d.Ident(c.Name)
	arms := []arm{c.missing(e + " IS NULL")}
	if c.Storage != Clock {
		arms = append(arms, arm{"NOT " + d.IsFinite(e), Endless})
	}
	if c.Step == 0 {
		return cellOf(d.Days(e), arms...), nil
	}
	unit, micros := int64(1_000_000), d.Micros(e)
	switch c.Storage {
	case Day:
		unit, micros = 1, "("+d.Days(e)+" * "+d.Whole(secondsOfDay)+")"
	case Clock:
		micros = d.clock.fill(e)
	case Nanos:
		unit, micros = 1_000_000_000, d.nanos.fill(e)
	case Stamp:
	default:
		return cell{}, fmt.Errorf("is stored as %s, which the database cannot turn into a time, must be stored as %s; "+
			"or set rows: may_leave", c.stored(), d.better(c))
	}
	if c.Storage == Day || c.Storage == Stamp { // microseconds of a year further off may be none of 64 bits
		arms = append(arms, arm{"NOT " + lies("extract(YEAR FROM "+e+")", "-2", "10000"), Span})
	}
	if c.Storage != Nanos { // which reach from 1677 to 2262
		arms = append(arms, arm{"NOT " + lies(micros, d.Whole(c.Least*unit), d.Whole((c.Greatest+1)*unit-1)), Span})
	}
	by := d.Whole(c.Step * unit)
	divided := " " + d.quotient + " " + by
	floored := "CASE WHEN " + micros + " >= 0 THEN " + micros + divided + " ELSE -((" + by + " - 1 - " + micros + ")" +
		divided +
		") END"
	return cellOf("("+floored+") * "+d.Whole(c.Step), arms...), nil
}

const secondsOfDay = 24 * 60 * 60

// lies tests that e lies from a to b.
func lies(e, a, b string) string { return "(" + e + " >= " + a + " AND " + e + " <= " + b + ")" }

// either returns the disjunction of two tests, of which one may be "".
func either(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return "(" + a + " OR " + b + ")"
}

// matched finds the one of some cases that an expression is equal to; NULL where it is none.
func matched(e string, cases []string) string {
	if len(cases) == 0 {
		return "NULL"
	}
	return "CASE " + e + " " + strings.Join(cases, " ") + " END"
}

func (d Dialect) caseOf(value string, code int32) string {
	return fmt.Sprintf("WHEN %s THEN %d", value, code)
}

// texts lists texts that a column can hold.
func (d Dialect) texts(list []string) string {
	var terms []string
	for _, s := range list {
		if d.Holds(s) {
			terms = append(terms, d.Text(s))
		}
	}
	return strings.Join(terms, ", ")
}

// anyWhole tests that a whole number is one of a list; "" of an empty one.
func (d Dialect) anyWhole(e string, list []int64) string {
	var terms []string
	for _, n := range list {
		terms = append(terms, d.Whole(n))
	}
	return among(e, terms)
}

// anyReal tests that a real number is one of a list; "" of an empty one.
func (d Dialect) anyReal(e string, list []float64) string {
	var terms []string
	for _, x := range list {
		terms = append(terms, d.Real(x))
	}
	return among(e, terms)
}

func among(e string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return e + " IN (" + strings.Join(list, ", ") + ")"
}
