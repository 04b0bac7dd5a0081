// Package sql prints what a database computes for a run: a relation as SELECT statements, and the counts of its rows.
// It writes text and runs nothing. What stands in a statement is public: names of a table and its columns, numbers and
// texts of the spec and the domain, and released codes.
package sql

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// form is SQL with a $ for each place of its operand.
type form string

func (f form) fill(operand string) string { return strings.ReplaceAll(string(f), "$", operand) }

// Dialect is the SQL of an engine. A value of Whole is a 64-bit integer, one of Real a 64-bit floating-point number,
// one of Flag a Boolean, one of Text a string; missing is NULL.
type Dialect struct {
	name  string
	quote string // of identifiers
	text  func(s string) string

	toWhole, toReal form // casts
	bytes           form // text that is compared byte for byte
	nan             form
	finiteTime      form
	days, micros    form
	storing
	small, integer string // types of integers of 16 and 32 bits

	arithmetic
	counting
}

// Postgres returns the SQL of PostgreSQL 12 and later.
func Postgres() Dialect {
	const day, micros = `(($)::date - DATE '1970-01-01')::int8`, `(CASE WHEN isfinite($) THEN ` +
		`(($)::date - DATE '1970-01-01')::int8 * 86400000000 + extract(hour FROM $)::int8 * 3600000000 + ` +
		`extract(minute FROM $)::int8 * 60000000 + extract(microseconds FROM $)::int8 END)`
	return Dialect{
		name: "postgres", quote: `"`,
		text:    numbered,
		toWhole: `($)::int8`, toReal: `($)::float8`,
		bytes: `($)::text COLLATE pg_catalog."C"`, nan: `($) = 'NaN'::float8`, finiteTime: `isfinite($)`,
		days: `(CASE WHEN isfinite($) THEN ` + day + ` END)`, micros: micros,
		small: "int2", integer: "int4", arithmetic: postgresArithmetic(), counting: postgresCounting(),
		storing: postgresStoring(),
	}
}

// DuckDB returns the SQL of DuckDB.
func DuckDB() Dialect {
	return Dialect{
		name: "duckdb", quote: `"`, text: escaped,
		toWhole: `CAST($ AS BIGINT)`, toReal: `CAST($ AS DOUBLE)`,
		bytes: `CAST($ AS VARCHAR) COLLATE "binary"`, nan: `isnan($)`, finiteTime: `isfinite($)`,
		days:   `(CASE WHEN isfinite($) THEN date_diff('day', DATE '1970-01-01', $) END)`,
		micros: `(CASE WHEN isfinite($) THEN epoch_us($) END)`,
		small:  "SMALLINT", integer: "INTEGER", arithmetic: duckdbArithmetic(), counting: duckdbCounting(),
		storing: duckdbStoring(),
	}
}

// Spark returns the SQL of Spark 4.
func Spark() Dialect {
	return Dialect{
		name: "spark", quote: "`",
		text:    func(s string) string { return "CAST(X'" + hex.EncodeToString([]byte(s)) + "' AS STRING)" },
		toWhole: `CAST($ AS BIGINT)`, toReal: `CAST($ AS DOUBLE)`,
		bytes: `CAST($ AS STRING) COLLATE UTF8_BINARY`, nan: `isnan($)`, finiteTime: `true`,
		days: `CAST(unix_date($) AS BIGINT)`, micros: `unix_micros(CAST($ AS TIMESTAMP))`,
		small: "SMALLINT", integer: "INT", arithmetic: sparkArithmetic(), counting: sparkCounting(),
		storing: sparkStoring(),
	}
}

// numbered returns a text of PostgreSQL's, made of the numbers of its characters: a constant, which convert_from would
// compute for every row (PostgreSQL 15, section 4.1.2.3). The session has standard_conforming_strings, and the database
// UTF8.
func numbered(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\+%06X`, r)
	}
	return "U&'" + b.String() + "'::text"
}

// escaped returns a text of DuckDB's, made of the hexadecimal form of each byte.
func escaped(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteString(`\x` + strings.ToUpper(hex.EncodeToString([]byte{c})))
	}
	return "decode('" + b.String() + "'::BLOB)"
}

// Name returns the engine's name, as a spec has it.
func (d Dialect) Name() string { return d.name }

// Ident quotes an identifier. The name is one that the database gave: it holds no NUL.
func (d Dialect) Ident(name string) string {
	return d.quote + strings.ReplaceAll(name, d.quote, d.quote+d.quote) + d.quote
}

// Text writes a text as the hexadecimal form of its bytes, so that none of them means anything to a parser. Holds must
// report true for the text.
func (d Dialect) Text(s string) string { return d.text(s) }

// Holds reports whether a column of text can hold a text at all; no value is equal to one that it cannot hold.
func (d Dialect) Holds(s string) bool {
	return utf8.ValidString(s) && (d.name != "postgres" || !strings.Contains(s, "\x00"))
}

// Real writes a number as the shortest decimal that is read back as the same bits, infinities and NaN among them.
func (d Dialect) Real(x float64) string {
	word := strconv.FormatFloat(x, 'g', -1, 64)
	if math.IsInf(x, 0) {
		word = map[bool]string{true: "Infinity", false: "-Infinity"}[x > 0]
	}
	return d.toReal.fill("'" + word + "'")
}

// Whole writes a 64-bit integer.
func (d Dialect) Whole(n int64) string { return d.toWhole.fill("'" + strconv.FormatInt(n, 10) + "'") }

// Bytes makes of an expression of text one that is compared, ordered and grouped byte for byte, whatever the collation
// of its column.
func (d Dialect) Bytes(e string) string { return "(" + d.bytes.fill(e) + ")" }

// IsNaN tests a real number; the test is NULL or false where the number is.
func (d Dialect) IsNaN(e string) string { return "(" + d.nan.fill(e) + ")" }

// AsReal casts a number of another width, or a decimal, to a real number. A decimal beyond the range of those is an
// error of the engine.
func (d Dialect) AsReal(e string) string { return d.toReal.fill(e) }

// AsWhole casts an integer of another width to one of 64 bits.
func (d Dialect) AsWhole(e string) string { return d.toWhole.fill(e) }

// IsFinite tests a date or a timestamp: PostgreSQL and DuckDB have infinite ones.
func (d Dialect) IsFinite(e string) string { return "(" + d.finiteTime.fill(e) + ")" }

// Days computes the days from 1970-01-01 to a date; NULL where it is infinite.
func (d Dialect) Days(e string) string { return d.days.fill(e) }

// Micros computes the microseconds from 1970-01-01 to a timestamp, in UTC where it has a zone (the session's zone is
// UTC); NULL where it is infinite.
func (d Dialect) Micros(e string) string { return d.micros.fill(e) }
