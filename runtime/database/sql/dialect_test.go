package sql

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func dialects() []Dialect { return []Dialect{Postgres(), DuckDB(), Spark()} }

// TestLiterals: literals and names as each engine's manual spells them: doubled quotes, hexadecimal texts, typed
// numbers.
func TestLiterals(t *testing.T) {
	for i, want := range [][]string{
		{`"a""b` + "`" + `"`, `U&'\+000027\+0000FC\+000000'::text`, `('-Infinity')::float8`, `('0.1')::float8`,
			`('-9223372036854775808')::int8`},
		{`"a""b` + "`" + `"`, `decode('\x27\xC3\xBC\x00'::BLOB)`, `CAST('-Infinity' AS DOUBLE)`, `CAST('0.1' AS DOUBLE)`,
			`CAST('-9223372036854775808' AS BIGINT)`},
		{"`a\"b```", `CAST(X'27c3bc00' AS STRING)`, `CAST('-Infinity' AS DOUBLE)`, `CAST('0.1' AS DOUBLE)`,
			`CAST('-9223372036854775808' AS BIGINT)`},
	} {
		d := dialects()[i]
		got := []string{d.Ident("a\"b`"), d.Text("'ü\x00"), d.Real(math.Inf(-1)), d.Real(.1), d.Whole(math.MinInt64)}
		for j := range want {
			if got[j] != want[j] {
				t.Errorf("%s: %s, must be %s", d.Name(), got[j], want[j])
			}
		}
	}
}

// TestHolds: texts that no column of an engine holds: NUL in PostgreSQL, and in all of them bytes that are no UTF-8.
func TestHolds(t *testing.T) {
	for _, d := range dialects() {
		if d.Holds("\xff") || !d.Holds("") || !d.Holds("a'b\\;--ü") || d.Holds("a\x00") != (d.Name() != "postgres") {
			t.Errorf("%s", d.Name())
		}
	}
}

// TestEnginesReadLiterals: every number and text comes back from an engine as it went in, whatever stands in it.
func TestEnginesReadLiterals(t *testing.T) {
	numbers := []float64{0, .1, -.1, 1e300, 5e-324, math.MaxFloat64, math.SmallestNonzeroFloat64 * 3,
		1.7976931348623157e308,
		2.2250738585072011e-308, 0x1p53 + 2, math.Inf(1), math.Inf(-1), math.Pi, 1 / 3.}
	texts := []string{"", "a", "O'Hara", `a"b`, `\`, `\x41`, ";--", "/*", "$1", "${a}", "north ", "\u00a0", "u\u0308", "ü",
		"\n\r\t", "日本", "%s", "?"}
	for _, e := range engines(t) {
		var list []string
		for _, x := range numbers {
			list = append(list, e.Real(x))
		}
		for _, s := range texts {
			for _, other := range texts {
				list = append(list, "CASE WHEN "+e.Bytes(e.Text(s))+" = "+e.Text(other)+" THEN 1 ELSE 0 END")
			}
		}
		row := e.run(t, "SELECT "+strings.Join(list, ", "))[0]
		for i, x := range numbers {
			if got, err := strconv.ParseFloat(row[i], 64); err != nil || got != x {
				t.Errorf("%s: %s gives %s, must be %v", e.Name(), e.Real(x), row[i], x)
			}
		}
		for i, got := range row[len(numbers):] {
			a, b := i/len(texts), i%len(texts)
			if want := map[bool]string{true: "1", false: "0"}[a == b]; got != want {
				t.Errorf("%s: %q = %q gives %s", e.Name(), texts[a], texts[b], got)
			}
		}
	}
}

// TestEnginesReadTimes: days and microseconds by hand, from the calendar; an infinite time has none, and NaN is told
// apart.
func TestEnginesReadTimes(t *testing.T) {
	for _, e := range engines(t) {
		for expression, want := range map[string]string{
			e.Days("DATE '1969-12-31'"): "-1",
			// 10,957 days to 2000-01-01, 31 and 29 more
			e.Days("DATE '2000-03-01'"):                                       "11017",
			e.Micros("TIMESTAMP '1969-12-31 23:59:59.500000'"):                "-500000",
			e.Micros("TIMESTAMP '2000-01-01 01:02:03.000004'"):                "946688523000004",
			e.AsWhole("CAST(7 AS smallint)"):                                  "7",
			"CASE WHEN " + e.IsNaN(e.Real(math.NaN())) + " THEN 1 ELSE 0 END": "1",
			"CASE WHEN " + e.IsNaN(e.Real(1)) + " THEN 1 ELSE 0 END":          "0",
		} {
			if rows := e.run(t, "SELECT "+expression); rows[0][0] != want {
				t.Errorf("%s: %s gives %v, must be %s", e.Name(), expression, rows[0], want)
			}
		}
		if e.Name() == "spark" {
			continue // it has no infinite times
		}
		rows := e.run(t, "SELECT "+e.Days("DATE '-infinity'")+", "+e.Micros("TIMESTAMP 'infinity'")+", CASE WHEN "+
			e.IsFinite("DATE 'infinity'")+" THEN 1 ELSE 0 END")
		if rows[0][0] != missing || rows[0][1] != missing || rows[0][2] != "0" {
			t.Errorf("%s: infinite times give %v", e.Name(), rows[0])
		}
	}
}
