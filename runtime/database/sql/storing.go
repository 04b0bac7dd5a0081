package sql

import "strings"

// storing is what a dialect knows of the cells of a stored table.
type storing struct {
	anyDigits    bool // decimals may have any number of digits, and be NaN and infinite; they become doubles by their text
	trunc        form // a real number without its fraction
	asText       form // the digits of a whole number or a code
	hex          form // the bytes of a text, in hexadecimal
	md5, sha256  form // of a text, in hexadecimal
	piece        form // a whole number of 15 hexadecimal digits
	numberlike   form // tests that a text consists of what numbers are spelled with
	clock, nanos form // microseconds of a time of day; nanoseconds of a timestamp
	spelled      map[Storage]form
	row          func(cells []string) string // the text of a row, of spelled cells
}

// spell returns one spelling of each stored value: -0 is 0, and every NaN the same one.
func (d Dialect) spell(e string, item Storage) string {
	switch item {
	case Words:
		return d.Bytes(e)
	case Double:
		x := d.AsReal(e)
		e = "CASE WHEN " + x + " = " + d.Real(0) + " THEN " + d.Real(0) + " ELSE " + x + " END"
	}
	if f, ok := d.spelled[item]; ok {
		return f.fill(e)
	}
	return e
}

// postgresStoring: a row as text quotes its cells, so that two rows are never spelled alike (PostgreSQL 15, section
// 8.16.5).
func postgresStoring() storing {
	return storing{
		anyDigits: true, trunc: `trunc($)`, asText: `($)::text`, hex: `encode(convert_to($, 'UTF8'), 'hex')`,
		md5:    `md5($) COLLATE pg_catalog."C"`,
		sha256: `encode(sha256(convert_to($, 'UTF8')), 'hex')`, piece: `('x' || $)::bit(60)::int8`,
		numberlike: `$ !~ '[^-+.0-9eE]'`, clock: `floor(extract(epoch FROM $) * 1000000)::int8`,
		row: func(cells []string) string { return "ROW(" + strings.Join(cells, ", ") + ")::text" },
	}
}

// duckdbStoring: the cells of a row have their lengths in front of them, and a missing one is a dash.
func duckdbStoring() storing {
	whole := form(`CAST($ AS VARCHAR)`)
	return storing{
		trunc: `trunc($)`, asText: whole, hex: `lower(hex(encode($)))`, md5: `md5($)`, sha256: `sha256($)`,
		piece: `CAST('0x' || $ AS BIGINT)`, numberlike: `regexp_full_match($, '[-+.0-9eE]+')`, clock: `epoch_us($)`,
		nanos: `epoch_ns($)`,
		spelled: map[Storage]form{Integer: whole, Decimal: whole, Double: whole, Flag: whole, Day: whole, Clock: whole,
			Stamp: `CASE WHEN isfinite($) THEN CAST(epoch_us($) AS VARCHAR) WHEN $ IS NOT NULL THEN 'infinity' END`,
			Nanos: `CASE WHEN isfinite($) THEN CAST(epoch_ns($) AS VARCHAR) WHEN $ IS NOT NULL THEN 'infinity' END`},
		row: func(cells []string) string { return lengthed("strlen", cells) },
	}
}

// sparkStoring: a row is spelled as DuckDB's is. Sums of pieces are decimals, since 64-bit sums overflow.
func sparkStoring() storing {
	word := form(`CAST($ AS STRING)`)
	return storing{
		trunc: `(CASE WHEN abs($) < 9007199254740992 THEN CAST(CAST($ AS BIGINT) AS DOUBLE) ELSE $ END)`, asText: word,
		hex: `lower(hex(CAST($ AS BINARY)))`, md5: `md5($)`, sha256: `sha2($, 256)`,
		piece:      `CAST(conv($, 16, 10) AS DECIMAL(38, 0))`,
		numberlike: `$ RLIKE '^[-+.0-9eE]+\\z'`,
		spelled:    map[Storage]form{Integer: word, Decimal: word, Double: word, Flag: word, Day: word, Stamp: word},
		row:        func(cells []string) string { return lengthed("octet_length", cells) },
	}
}

// lengthed returns the text of a row whose cells have their lengths in front of them, so that no two rows are spelled
// alike.
func lengthed(length string, cells []string) string {
	list := make([]string, len(cells))
	for i, c := range cells {
		list[i] = "coalesce(" + length + "(" + c + ") || ':' || " + c + ", '-')"
	}
	return strings.Join(list, " || ")
}
