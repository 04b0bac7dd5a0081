package sql

import (
	"cmp"
	"crypto/md5"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weir/pipeline/relation"
)

// storedCase is a cell, what it is read as (missing: NULL), and the rule that it breaks.
type storedCase struct {
	cell, want string
	rule       Rule
}

// storedColumn is a column and cells of it. Types are spelled as each engine has them.
type storedColumn struct {
	Stored
	postgres, duckdb string
	cases            []storedCase
}

// storedColumns returns the cells at which something changes, for each storage and what it becomes; what they are read
// as is docs/databases.md, "What a cell means". 2^53 = 9007199254740992.
func storedColumns() []storedColumn {
	gaps := Stored{MayMiss: true}
	column := func(c Stored, change func(*Stored)) Stored { change(&c); return c }
	return []storedColumn{
		{column(gaps, func(c *Stored) { c.Storage, c.Of, c.MissingWhole = Integer, relation.Whole, []int64{99, -1} }), "int8",
			"BIGINT",
			[]storedCase{{"9007199254740993", "9007199254740993", 0}, {"NULL", missing, 0}, {"99", missing, 0},
				{"-1", missing, 0}, {"-9223372036854775808", "-9223372036854775808", 0}}},
		{Stored{Storage: Integer, Of: relation.Whole}, "int2", "SMALLINT", []storedCase{{"-7", "-7", 0},
			{"NULL", missing, NotMissing}}},
		{column(gaps, func(c *Stored) { c.Storage, c.Of, c.MissingReal = Integer, relation.Real, []float64{99} }), "int8",
			"BIGINT",
			[]storedCase{{"9007199254740992", "9007199254740992", 0}, {"9007199254740993", missing, Wide},
				{"-9007199254740993", missing, Wide}, {"99", missing, 0}}},
		{column(gaps, func(c *Stored) {
			c.Storage, c.Of, c.WholeCodes, c.MissingWhole = Integer, relation.Code, map[int64]int32{1: 0, 5: 1}, []int64{9}
		}), "int4", "INTEGER", []storedCase{{"1", "0", 0}, {"5", "1", 0}, {"9", missing, 0}, {"2", missing, Category},
			{"NULL", missing, 0}}},
		{column(gaps, func(c *Stored) {
			c.Storage, c.Of, c.MissingReal, c.MissingNaN = Double, relation.Real, []float64{-1}, true
		}), "float8", "DOUBLE",
			[]storedCase{{"'0.1'", "0.1", 0}, {"'NaN'", missing, 0}, {"'Infinity'", missing, Finite},
				{"'-Infinity'", missing, Finite}, {"'-1'", missing, 0}, {"'5e-324'", "5e-324", 0}}},
		{Stored{Storage: Double, Of: relation.Real}, "float4", "FLOAT", []storedCase{{"'NaN'", missing, Finite},
			{"'0.1'", "0.10000000149011612", 0}, {"NULL", missing, NotMissing}}},
		{column(gaps, func(c *Stored) { c.Storage, c.Of, c.MissingWhole = Double, relation.Whole, []int64{9} }), "float8",
			"DOUBLE",
			[]storedCase{{"'4'", "4", 0}, {"'4.5'", missing, NotWhole}, {"'9007199254740991'", "9007199254740991", 0},
				{"'9007199254740992'", missing, Rounded}, {"'-9007199254740992'", missing, Rounded},
				{"'-9007199254740991'", "-9007199254740991", 0}, {"'9'", missing, 0}, {"'NaN'", missing, Finite}}},
		{column(gaps, func(c *Stored) {
			c.Storage, c.Of, c.RealCodes, c.Numbered, c.UnknownMiss = Double, relation.Code, map[float64]int32{0: 0, 1.5: 1},
				true, true
		}), "float8", "DOUBLE", []storedCase{{"'-0'", "0", 0}, {"'1.5'", "1", 0}, {"'2'", missing, 0},
			{"'NaN'", missing, 0}}},
		{column(gaps, func(c *Stored) { c.Storage, c.Of, c.MissingReal = Decimal, relation.Real, []float64{99} }), "numeric",
			"",
			[]storedCase{{"0.1", "0.1", 0}, {"123456789012345678901234567890.5", "1.2345678901234568e+29", 0},
				{"99.00", missing, 0}, {"'NaN'", missing, Finite}, {"1e301", missing, Magnitude}, {"1e-301", missing, Magnitude},
				{"0", "0", 0}}},
		{column(gaps, func(c *Stored) {
			c.Storage, c.Of, c.Digits, c.MissingReal = Decimal, relation.Real, 9,
				[]float64{99}
		}), "", "DECIMAL(9,2)",
			[]storedCase{{"0.10", "0.1", 0}, {"1234567.89", "1234567.89", 0}, {"99.00", missing, 0}, {"NULL", missing, 0}}},
		{Stored{Storage: Decimal, Of: relation.Whole}, "numeric", "", []storedCase{{"4.00", "4", 0},
			{"4.50", missing, NotWhole}, {"9223372036854775807", "9223372036854775807", 0}, {"9223372036854775808", missing,
				Range}, {"'NaN'", missing, Finite}}},
		{Stored{Storage: Decimal, Of: relation.Whole, Digits: 18}, "", "DECIMAL(18,2)", []storedCase{{"4.00", "4", 0},
			{"-4.50", missing, NotWhole}, {"9999999999999999.00", "9999999999999999", 0}}},
		{column(gaps, func(c *Stored) {
			c.Storage, c.Of, c.Codes, c.Missing = Flag, relation.Code, map[string]int32{"false": 1, "true": 0}, nil
		}), "bool", "BOOLEAN", []storedCase{{"true", "0", 0}, {"false", "1", 0}, {"NULL", missing, 0}}},
		{Stored{Storage: Flag, Of: relation.Code, Codes: map[string]int32{"true": 0}, Missing: []string{"false"},
			MayMiss: true}, "bool", "BOOLEAN", []storedCase{{"true", "0", 0}, {"false", missing, 0}}},
		{Stored{Storage: Flag, Of: relation.Code, Codes: map[string]int32{"yes": 0}}, "bool", "BOOLEAN",
			[]storedCase{{"true", missing, Category}}},
		{Stored{Storage: Words, Of: relation.Code, Codes: map[string]int32{"O'Hara; --": 0, `a"b`: 1, "ü\u00a0": 2,
			"north ": 3}, Missing: []string{"?"}, MayMiss: true}, "text", "VARCHAR",
			[]storedCase{{"'O''Hara; --'", "0", 0}, {`'a"b'`, "1", 0}, {"'ü\u00a0'", "2", 0}, {"'north '", "3", 0},
				{"'north'", missing, Category}, {"'North '", missing, Category}, {"'?'", missing, 0}, {"''", missing, 0},
				{"NULL", missing, 0}}},
		{Stored{Storage: Words, Of: relation.Code, Codes: map[string]int32{"1": 0, "2": 1}, Numbered: true, MayMiss: true,
			UnknownMiss: true, Missing: []string{"9"}}, "text", "VARCHAR COLLATE NOCASE",
			[]storedCase{{"'1'", "0", 0}, {"'01'", missing, Spelling}, {"'1e0'", missing, Spelling}, {"'one'", missing, 0},
				{"'9'", missing, 0}}},
		{Stored{Storage: Words, Of: relation.Code, Codes: map[string]int32{"a": 0}, UnknownMiss: true}, "varchar(3)",
			"VARCHAR", []storedCase{{"'b'", missing, Unknown}, {"''", missing, NotMissing}}},
		{Stored{Storage: Words, Of: relation.Code, Codes: map[string]int32{"north": 0}}, "text", "VARCHAR COLLATE NOCASE",
			[]storedCase{{"'north'", "0", 0}, {"'North'", missing, Category}}},
		{column(gaps, func(c *Stored) { c.Storage, c.Of, c.Missing = Words, relation.Text, []string{"NA"} }), "text",
			"VARCHAR", []storedCase{{"'x; --'", "x; --", 0}, {"'NA'", missing, 0}, {"''", missing, 0},
				{"'north '", "north ", 0}}},
		{column(gaps, func(c *Stored) { c.Storage, c.Of = Day, relation.Whole }), "date", "DATE",
			[]storedCase{{"'1969-12-31'", "-1", 0}, {"'infinity'", missing, Endless}, {"NULL", missing, 0}}},
		{Stored{Storage: Day, Of: relation.Whole, Step: 86400, Least: -62167219200, Greatest: 253402300799}, "date", "DATE",
			[]storedCase{{"'1970-01-02'", "86400", 0}, {"'12000-01-01'", missing, Span}}},
		{Stored{Storage: Stamp, Of: relation.Whole, Step: 60, Least: -62167219200, Greatest: 253402300799}, "timestamp",
			"TIMESTAMP",
			[]storedCase{{"'1969-12-31 23:59:59.5'", "-60", 0}, {"'1970-01-01 00:01:59.999999'", "60", 0},
				{"'-infinity'", missing, Endless}, {"'9999-12-31 23:59:59.999999'", "253402300740", 0}, {"'10000-01-01 00:00:00'",
					missing, Span}, {"'290000-01-01 00:00:00'", missing, Span}}},
		{Stored{Storage: Stamp, Of: relation.Whole, Step: 1, Least: -62167219200, Greatest: 253402300799}, "timestamptz",
			"TIMESTAMPTZ",
			[]storedCase{{"'1970-01-01 01:00:01+01'", "1", 0}, {"'1969-12-31 23:59:59.25+00'", "-1", 0}}},
		{Stored{Storage: Nanos, Of: relation.Whole, Step: 1, Least: -62167219200, Greatest: 253402300799}, "", "TIMESTAMP_NS",
			[]storedCase{{"'1969-12-31 23:59:59.999999999'", "-1", 0}, {"'1970-01-01 00:00:00.999999999'", "0", 0}}},
		{Stored{Storage: Clock, Of: relation.Whole, Step: 3600, Least: 0, Greatest: 86399}, "time", "TIME",
			[]storedCase{{"'23:59:59.999999'", "82800", 0}, {"'00:00:00'", "0", 0}, {"'24:00:00'", missing, Span}}},
	}
}

// TestStoredCellsInEngines: each cell is the value, missing, or a fault by a rule, as a reader of files has it. All of
// them are one row, a column each.
func TestStoredCellsInEngines(t *testing.T) {
	for _, e := range engines(t) {
		var columns []Stored
		var cells []string
		var cases []storedCase
		for _, c := range storedColumns() {
			kind := map[string]string{"postgres": c.postgres, "duckdb": c.duckdb}[e.Name()]
			for i := range c.cases {
				if kind == "" {
					continue
				}
				c.Stored.Name = fmt.Sprintf(`%d a"; DROP TABLE t; --'$`, len(columns))
				cells = append(cells, stored(c.cases[i].cell, kind)+" AS "+e.Ident(c.Stored.Name))
				columns, cases = append(columns, c.Stored), append(cases, c.cases[i])
			}
		}
		b, err := e.Base(Table{From: "(SELECT " + strings.Join(cells, ", ") + ") AS t", Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		got := e.run(t, b.Values)[0]
		_, faults, err := b.Read(e.run(t, b.Content)[0])
		if err != nil || len(got) != len(columns) {
			t.Fatal(got, err)
		}
		for i, want := range cases {
			var rule Rule
			for _, f := range faults {
				if f.Column == columns[i].Name {
					rule = f.Rule
				}
			}
			if !sameCell(got[i], want.want, columns[i].Of) || rule != want.rule {
				t.Errorf("%s: %s is %s with the fault %d, must be %s with %d", e.Name(), cells[i], got[i], rule, want.want,
					want.rule)
			}
		}
	}
}

// stored returns a cell of a type.
func stored(cell, kind string) string {
	kind, nocase := strings.CutSuffix(kind, " COLLATE NOCASE")
	cell = "CAST(" + cell + " AS " + kind + ")"
	if nocase {
		cell += " COLLATE NOCASE"
	}
	return cell
}

// sameCell compares real numbers by their value, since engines spell them differently, and all else by its text.
func sameCell(got, want string, kind relation.Type) bool {
	x, err1 := strconv.ParseFloat(got, 64)
	y, err2 := strconv.ParseFloat(want, 64)
	return got == want || kind == relation.Real && err1 == nil && err2 == nil && x == y
}

// TestUncomputedStorage: what the database would read otherwise is refused by the column's name, all columns at once.
func TestUncomputedStorage(t *testing.T) {
	for _, d := range []Dialect{Postgres(), DuckDB()} {
		_, err := d.Base(Table{From: "t", Columns: []Stored{
			{Name: "age", Storage: Words, Of: relation.Real}, {Name: "size", Storage: Decimal, Digits: 16, Of: relation.Real},
			{Name: "code", Storage: Decimal, Digits: 4, Of: relation.Code}, {Name: "at", Storage: "UBIGINT", Of: relation.Whole,
				Step: 1},
		}})
		for _, want := range []string{`column "age": is stored as text`, `column "size": is stored as decimal of 16 digits`,
			`column "code": is stored as decimal of 4`, `column "at": is stored as UBIGINT`, "rows: may_leave"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, must say %s", d.Name(), err, want)
			}
		}
	}
}

// cappedRow is a row of the table of TestCappedRowsInEngines, as it is stored: a unit, a number, a text and a whole
// number.
type cappedRow struct {
	unit, text  string // "NULL": missing
	real, whole int    // the number is real / 4
}

func (r cappedRow) unitOf() (name string, named bool) { return r.unit, r.unit != missing }

// code returns the text of docs/design/units.md for the columns unit (categories a and b), number, text and whole
// number.
func (r cappedRow) code() string {
	unit, text := "-", "-"
	if at := strings.Index("ab", r.unit); at >= 0 && len(r.unit) == 1 {
		unit = strconv.Itoa(at)
	}
	if r.text != missing {
		text = fmt.Sprintf("%x", r.text)
	}
	x := float64(r.real) / 4
	whole := math.Trunc(x)
	return fmt.Sprintf("%s,%d,%d,%s,%d", unit, int64(whole), int64((x-whole)*(1<<53)), text, r.whole)
}

func (r cappedRow) sql(e engine) string {
	word := func(s string) string {
		if s == missing {
			return s
		}
		return e.Text(s)
	}
	return fmt.Sprintf("(%s, %s, %s, %d)", word(r.unit), e.Real(float64(r.real)/4), word(r.text), r.whole)
}

// keptRows returns the rows that stay by docs/design/units.md, as Values has them.
func keptRows(rows []cappedRow, most int) (list []string) {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b cappedRow) int {
		x, y := fmt.Sprintf("%x", md5.Sum([]byte(a.code()))), fmt.Sprintf("%x", md5.Sum([]byte(b.code())))
		return cmp.Compare(x, y) // rows of one hash are equal
	})
	seen := map[string]int{}
	for _, r := range rows {
		if name, named := r.unitOf(); named {
			if seen[name]++; seen[name] > most {
				continue
			}
		}
		list = append(list, strings.Split(r.code(), ",")[0]+" "+strconv.FormatFloat(float64(r.real)/4, 'g', -1, 64)+" "+
			r.text+" "+strconv.Itoa(r.whole))
	}
	slices.Sort(list)
	return list
}

// TestCappedRowsInEngines: of each unit the rows stay that docs/design/units.md says, wherever they lie; a text that is
// no category is a unit, a missing one none; and whoever joins or leaves changes max_rows rows at most.
func TestCappedRowsInEngines(t *testing.T) {
	columns := []Stored{{Name: "u", Storage: Words, Of: relation.Code, Codes: map[string]int32{"a": 0, "b": 1},
		MayMiss: true, UnknownMiss: true},
		{Name: "x", Storage: Double, Of: relation.Real}, {Name: "t", Storage: Words, Of: relation.Text, MayMiss: true},
		{Name: "n", Storage: Integer, Of: relation.Whole}}
	rng := rand.New(rand.NewPCG(3, 3))
	for _, e := range engines(t) {
		values := func(rows []cappedRow) (list []string) {
			cells := make([]string, len(rows))
			for i, r := range rows {
				cells[i] = r.sql(e)
			}
			source := "(VALUES " + strings.Join(cells, ", ") + ") AS t(u, x, t, n)"
			if e.Name() == "duckdb" { // a and A are two units, whatever the column takes for equal
				source = "(SELECT u COLLATE NOCASE AS u, x, t, n FROM " + source + ") AS t"
			}
			b, err := e.Base(Table{From: source, Columns: columns, MaxRows: 2})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range e.run(t, b.Values) {
				x, err := strconv.ParseFloat(row[1], 64)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, strings.Replace(row[0], missing, "-", 1)+" "+strconv.FormatFloat(x, 'g', -1, 64)+" "+row[2]+" "+
					row[3])
			}
			slices.Sort(list)
			return list
		}
		for range 10 {
			var rows, rest []cappedRow
			for range 40 {
				r := cappedRow{[]string{"a", "b", "A", "O'Hara; --", missing}[rng.IntN(5)],
					[]string{"", "ü", "x ", missing}[rng.IntN(4)], rng.IntN(9) - 4, rng.IntN(3) - 1}
				if r.text == "" {
					r.text = missing // an empty text is missing
				}
				if rows = append(rows, r); r.unit != "a" {
					rest = append(rest, r)
				}
			}
			got, left := values(rows), values(rest)
			if want := keptRows(rows, 2); !slices.Equal(got, want) {
				t.Errorf("%s keeps %q, must keep %q", e.Name(), got, want)
			}
			if more := len(got) - len(left); more > 2 || !subset(left, got) {
				t.Errorf("%s: with one unit more %q become %q", e.Name(), left, got)
			}
		}
	}
}

// subset reports whether each of some sorted rows is among others, as often.
func subset(few, many []string) bool {
	i := 0
	for _, row := range many {
		if i < len(few) && few[i] == row {
			i++
		}
	}
	return i == len(few)
}
