package runtime_test

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/jackc/pgx/v5/pgconn"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/runtime/database/duckdb"
	"weir/runtime/files"
)

// engine is a database with tables, whose rows are read or stay.
type engine struct {
	name   string
	create func(sql string)                  // statements of the owner; @ stands for the schema
	spec   func(table, rows string) string   // YAML of the source of a table
	dir    string                            // where its specs lie
	types  func(c storedCells) (kind string) // "": none of its types
}

// engines returns DuckDB and PostgreSQL where they are there.
func engines(t *testing.T) (list []engine) {
	t.Helper()
	if program, err := duckdb.Find(); err == nil {
		dir := t.TempDir()
		list = append(list, engine{"duckdb", func(sql string) {
			cmd := exec.Command(program, "-no-init", "-batch", "-bail", filepath.Join(dir, "x.duckdb"))
			cmd.Stdin = strings.NewReader(strings.ReplaceAll(sql, "@", "main") + "; CHECKPOINT;")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}, func(table, rows string) string {
			return "{database: {engine: duckdb, read: {database: x.duckdb, table: " + table + "}, rows: " + rows + "}}"
		}, dir, func(c storedCells) string { return c.duckdb }})
	}
	if words := os.Getenv("WEIR_POSTGRES"); words != "" {
		list = append(list, postgresEngine(t, words))
	}
	if len(list) == 0 {
		t.Skip("needs DuckDB or a PostgreSQL server: run .ci/duckdb and .ci/postgres, which bring them")
	}
	return list
}

func postgresEngine(t *testing.T, words string) engine {
	t.Helper()
	owner, err := pgconn.Connect(context.Background(), words)
	if err != nil {
		t.Fatal(err)
	}
	schema := fmt.Sprintf("weir_%d", time.Now().UnixNano())
	create := func(sql string) {
		if _, err := owner.Exec(context.Background(), strings.ReplaceAll(sql, "@", schema)).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	create("CREATE SCHEMA @; CREATE ROLE @_reader LOGIN; GRANT USAGE ON SCHEMA @ TO @_reader; ALTER DEFAULT PRIVILEGES " +
		"IN SCHEMA @ GRANT SELECT ON TABLES TO @_reader")
	t.Setenv("CLINIC", words+" user="+schema+"_reader")
	t.Cleanup(func() {
		create("DROP SCHEMA @ CASCADE; DROP OWNED BY @_reader; DROP ROLE @_reader")
		_ = owner.Close(context.Background())
	})
	return engine{"postgres", create, func(table, rows string) string {
		return `{name: t, database: {engine: postgres, connection: "env:CLINIC", table: ` + schema + "." + table +
			", rows: " + rows + "}}"
	}, t.TempDir(), func(c storedCells) string { return c.postgres }}
}

// open opens a table of columns, whose rows are read or stay.
func (e engine) open(t *testing.T, table, rows string, o pipeline.Opening) (pipeline.Opened, error) {
	t.Helper()
	s := databaseOf(t, e.spec(table, rows))
	declared, err := s.Declare(pipeline.Declaring{})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := files.OpenFolder(e.dir, true)
	if err != nil {
		t.Fatal(err)
	}
	held := files.Hold(folder)
	t.Cleanup(func() { held.Close() })
	o.Files, o.Seed = held.Only(declared.Files...), 1
	src, err := s.Open(t.Context(), o)
	if err == nil {
		t.Cleanup(func() { src.Close() })
	}
	return src, err
}

// storedCells are cells of a column, in SQL, and the types in which the engines store it.
type storedCells struct {
	column           domain.Column
	duckdb, postgres string
	cells            []string
}

// cellsOfAllTypes returns the cells of every type at which something changes.
func cellsOfAllTypes() []storedCells {
	numbers := domain.Column{Type: domain.Ordinal, Categories: []string{"0", "1.5", "2"}, Missing: domain.Spellings{"-1"}}
	plain := func(kind domain.ColumnType, missing ...string) domain.Column {
		return domain.Column{Type: kind, Missing: missing}
	}
	whole := []string{"0", "1", "-1", "-9", "2", "NULL", "9007199254740992", "9007199254740993", "-9007199254740993",
		"9223372036854775807"}
	real := []string{"'0'", "'-0'", "'0.1'", "'1.5'", "'2'", "'-1'", "'-9'", "'4.5'", "'NaN'", "'Infinity'", "'-Infinity'",
		"'5e-324'", "'1e300'", "'9007199254740991'", "'9007199254740992'", "NULL"}
	words := []string{"''", "'NA'", "'-9'", "'north'", "'North'", "'north '", "'O''Hara; --'", `'so"uth'`, "'NULL'",
		"NULL", "'1.5'", "'x'"}
	wards := domain.Column{Type: domain.Categorical, Categories: []string{"north", "O'Hara; --", `so"uth`},
		Aliases: domain.Aliases{"north": {"North"}}}
	days := []string{"'1969-12-31'", "'0001-01-01'", "'9999-12-31'", "'12000-01-01'", "NULL"}
	stamps := []string{"'1969-12-31 23:59:59.999999'", "'1970-01-01 00:00:30'", "'9999-12-31 23:59:59.999999'",
		"'10000-01-01 00:00:00'", "'290000-01-01 00:00:00'", "NULL"}
	return []storedCells{
		{plain(domain.Integer), "BIGINT", "int8", whole}, {plain(domain.Numeric), "BIGINT", "int8", whole},
		{plain(domain.Numeric, "1", "NA"), "BIGINT", "int8", whole}, {numbers, "BIGINT", "int8", whole},
		{plain(domain.Integer), "SMALLINT", "int2", []string{"1", "-9", "NULL"}}, {plain(domain.Integer), "UINTEGER", "",
			[]string{"4294967295"}},
		{plain(domain.Numeric), "DOUBLE", "float8", real}, {plain(domain.Numeric, "NaN"), "DOUBLE", "float8", real},
		{plain(domain.Integer, "nan"), "DOUBLE", "float8", real}, {numbers, "DOUBLE", "float8", real},
		{plain(domain.Numeric), "FLOAT", "float4", []string{"'0.1'", "'NaN'", "'3.4e38'", "NULL"}},
		{plain(domain.Numeric, "1.50"), "DECIMAL(15,2)", "numeric", []string{"0.10", "1.50", "-9.00", "1234567890123.45",
			"NULL"}}, {plain(domain.Integer), "DECIMAL(18,2)", "numeric", []string{"4.00", "4.50", "-9.00", "NULL"}},
		{plain(domain.Numeric), "", "numeric", []string{"123456789012345678901234567890.123", "'NaN'", "0.1", "1e-20"}},
		{plain(domain.Integer), "", "numeric", []string{"9223372036854775808", "9223372036854775807", "'NaN'"}},
		{wards, "VARCHAR", "text", words}, {wards, "VARCHAR COLLATE NOCASE", "varchar(20)", words},
		{wards, "ENUM('north', 'x')", "char(8)", []string{"'north'", "'x'", "NULL"}},
		{domain.Column{Type: domain.Text, Missing: domain.Spellings{"x"}}, "VARCHAR", "text", words},
		{plain(domain.Text), "UUID", "uuid", []string{"'00000000-0000-0000-0000-000000000001'", "NULL"}},
		{domain.Column{Type: domain.Boolean, Categories: []string{"0", "1"}}, "BOOLEAN", "bool", []string{"true", "false",
			"NULL"}}, {domain.Column{Type: domain.Boolean, Categories: []string{"no", "true"}}, "BOOLEAN", "bool",
			[]string{"true", "false"}},
		{plain(domain.Date), "DATE", "date", days}, {domain.Column{Type: domain.Datetime, Step: 86400}, "DATE", "date", days},
		{domain.Column{Type: domain.Datetime, Step: 60}, "TIMESTAMP", "timestamp", stamps},
		{domain.Column{Type: domain.Datetime, Step: 1}, "TIMESTAMP_NS", "", []string{"'1969-12-31 23:59:59.999999999'",
			"'2020-02-29 00:00:00.1'"}},
		{domain.Column{Type: domain.Datetime, Step: 3600, Zone: "UTC"}, "TIMESTAMPTZ", "timestamptz",
			[]string{"'1969-12-31 23:59:59.5+00'", "'2020-06-01 10:20:00+02'", "NULL"}},
		{domain.Column{Type: domain.Time, Step: 60}, "TIME", "time", []string{"'00:00:59.999999'", "'23:59:59'", "NULL"}},
	}
}

// cellIn is one cell as a column of its own.
type cellIn struct {
	column domain.Column
	sql    string
}

// TestRowsThatStayAreReadAlike: each stored cell is for the database the value that a reader of rows has, missing, or a
// fault by the same rule, whatever the domain and csv say of it. Each cell is a column of a table of one row.
func TestRowsThatStayAreReadAlike(t *testing.T) {
	for _, e := range engines(t) {
		for i, variant := range []struct {
			csv      *pipeline.CSV
			nullable bool
		}{{nil, false}, {nil, true}, {&pipeline.CSV{Missing: domain.Spellings{"-9", "NA"}, Unknown: "missing"}, true},
			{&pipeline.CSV{Unknown: "missing"}, false}} {
			var cells []cellIn
			for _, c := range cellsOfAllTypes() {
				for _, cell := range c.cells {
					if kind := e.types(c); kind != "" {
						c.column.Name, c.column.Nullable = fmt.Sprintf("c%d", len(cells)), variant.nullable
						kind, collate, _ := strings.Cut(kind, " COLLATE ")
						sql := "CAST(" + cell + " AS " + kind + ")"
						if collate != "" {
							sql += " COLLATE " + collate
						}
						cells = append(cells, cellIn{c.column, sql + " AS " + c.column.Name})
					}
				}
			}
			var good []cellIn
			for j, some := range slices.Collect(slices.Chunk(cells, 18)) { // a reader tells no more than 20 problems at once
				good = append(good, e.alike(t, fmt.Sprintf("t%d_%d", i, j), some, variant.csv)...)
			}
			e.values(t, fmt.Sprintf("t%d", i), good, variant.csv)
		}
	}
}

// alike compares the rules that cells break, and returns the others.
func (e engine) alike(t *testing.T, name string, cells []cellIn, csv *pipeline.CSV) []cellIn {
	t.Helper()
	table, o := e.table(name, cells, csv)
	e.create(table)
	read, err := e.open(t, name, "may_leave", o)
	if err != nil {
		t.Fatal(err)
	}
	_, _, broken := listed(t.Context(), read.Table())
	stays, err := e.open(t, name, "stay", o)
	if err != nil {
		t.Fatal(err)
	}
	_, faults := stays.Content(t.Context())
	stays.Close() // DuckDB locks a file that it has open
	message := regexp.MustCompile(`: row 1`).ReplaceAllString(fmt.Sprint(broken), "")
	if sorted(message) != sorted(fmt.Sprint(faults)) {
		t.Errorf("%s, csv %+v: %s\nis refused as %v\nmust be as %v", e.name, csv, table, faults, message)
	}
	return slices.DeleteFunc(slices.Clone(cells), func(c cellIn) bool {
		return strings.Contains(message,
			fmt.Sprintf("column %q", c.column.Name))
	})
}

func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// table returns the statement that makes a table of one row, and what opens it.
func (e engine) table(name string, cells []cellIn, csv *pipeline.CSV) (sql string, o pipeline.Opening) {
	o = pipeline.Opening{CSV: csv, Columns: &domain.Domain{}}
	var list []string
	for _, c := range cells {
		o.Columns.Columns, list = append(o.Columns.Columns, c.column), append(list, c.sql)
	}
	return "CREATE TABLE @." + name + " AS SELECT " + strings.Join(list, ", "), o
}

// values compares the values of cells that break no rule.
func (e engine) values(t *testing.T, name string, cells []cellIn, csv *pipeline.CSV) {
	t.Helper()
	table, o := e.table(name, cells, csv)
	e.create(table)
	read, err := e.open(t, name, "may_leave", o)
	if err != nil {
		t.Fatal(err)
	}
	record, err := read.Table().Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stays, err := e.open(t, name, "stay, sample_may_leave: 7", o)
	if err != nil {
		t.Fatal(err)
	}
	defer stays.Close()
	if sample, err := stays.Table().Collect(t.Context()); err != nil || !array.RecordEqual(sample, record) {
		t.Errorf("%s, csv %+v: a sample of %s is %v, %v; must be %v", e.name, csv, table, sample, err, record)
	}
	pushed := stays.Table().Pushed
	l, keys := relation.Layer{}, []relation.Key{}
	row := pushed.Relation.Columns()
	for i, c := range cells {
		is := equals(row[i], record.Column(i).ValueStr(0), record.Column(i).IsNull(0))
		l.Columns = append(l.Columns, relation.Named{Name: c.column.Name, Expr: relation.Choice{If: is,
			Then: relation.Constant{Of: relation.Whole, Int: 1}, Else: relation.Constant{Of: relation.Whole}}})
		keys = append(keys, relation.Key{Expr: relation.Column{At: i, Of: relation.Whole, Greatest: 1}, Of: 2})
	}
	k, err := pushed.Session.Keep(t.Context(), pushed.Relation.With(l))
	if err == nil {
		err = k.Count(t.Context(), keys, func(i int, counts []int64) error {
			if counts[1] != 1 {
				t.Errorf("%s, csv %+v: %s is another value than %s", e.name, csv, cells[i].sql, record.Column(i).ValueStr(0))
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// equals tests a value; texts are not compared.
func equals(e relation.Expr, value string, missing bool) relation.Expr {
	if missing {
		return relation.IsMissing{E: e}
	}
	c := relation.Constant{Of: e.Type()}
	if e.Type() == relation.Text {
		return relation.Not{E: relation.IsMissing{E: e}}
	}
	if e.Type() == relation.Real {
		fmt.Sscan(value, &c.Float)
	} else {
		fmt.Sscan(value, &c.Int)
	}
	if e.Type() == relation.Code {
		return relation.Compare{Op: "==", A: relation.Rank{E: e, Of: math.MaxInt32}, B: relation.Constant{Of: relation.Whole,
			Int: c.Int}}
	}
	return relation.Compare{Op: "==", A: e, B: c}
}

// TestRowsThatStay: nobody reads them, content tells a cell more, and a fault quotes no cell.
func TestRowsThatStay(t *testing.T) {
	for _, e := range engines(t) {
		e.create("CREATE TABLE @.t AS SELECT i AS n, CASE i % 3 WHEN 0 THEN 'north' WHEN 1 THEN 'south' END AS place FROM " +
			"(SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3) AS r; " +
			"CREATE TABLE @.same AS SELECT * FROM @.t ORDER BY n DESC; CREATE TABLE @.other AS SELECT n + 1 AS n, place FROM " +
			"@.t; " +
			"CREATE TABLE @.outside AS SELECT n, '" + canary + "' AS place FROM @.t")
		content := map[string]string{}
		for _, name := range []string{"t", "same", "other"} {
			src, err := e.open(t, name, "stay", pipeline.Opening{Columns: columns()})
			if err != nil {
				t.Fatal(err)
			}
			if content[name], err = src.Content(t.Context()); err != nil || src.Unchanged(t.Context()) != nil {
				t.Fatal(err, src.Unchanged(t.Context()))
			}
			if _, _, err := listed(t.Context(), src.Table()); err == nil || !strings.Contains(err.Error(),
				"rows stay in the database") {
				t.Errorf("%s: rows are read: %v", e.name, err)
			}
		}
		if content["t"] != content["same"] || content["t"] == content["other"] {
			t.Errorf("%s: contents %v", e.name, content)
		}
		from, err := e.open(t, "outside", "stay", pipeline.Opening{Columns: columns()})
		if err == nil {
			_, err = from.Content(t.Context())
		}
		if err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(),
			`column "place": is outside the declared categories`) {
			t.Errorf("%s: of a cell outside of the domain it says: %v", e.name, err)
		}
	}
}

// TestSampleOfRowsThatStay: no more rows leave than the spec says, those with the least public hash within the cap of
// each unit, and the same ones each time.
func TestSampleOfRowsThatStay(t *testing.T) {
	for _, e := range engines(t) {
		e.create("CREATE TABLE @.t AS SELECT a.i AS person, b.i AS n FROM (SELECT 0 AS i UNION ALL SELECT 1) AS a, (SELECT " +
			"1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) AS b")
		d := &domain.Domain{Columns: []domain.Column{{Name: "person", Type: domain.Integer},
			{Name: "n", Type: domain.Integer}}}
		src, err := e.open(t, "t", "stay, sample_may_leave: 4", pipeline.Opening{Columns: d, Unit: "person", MaxRows: 3})
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := listed(t.Context(), src.Table())
		again, _, _ := listed(t.Context(), src.Table())
		want := sampleOf(4, 3)
		slices.Sort(got)
		slices.Sort(again)
		if err != nil || !slices.Equal(got, want) || !slices.Equal(again, want) {
			t.Errorf("%s: %q, again %q, %v; must be %q", e.name, got, again, err, want)
		}
	}
}

// sampleOf returns so many of the rows 1 to 4 of the persons 0 and 1, of which so many of each stay: both by md5
// (docs/design/units.md, and Dialect.Sample for rows that are there once).
func sampleOf(most, each int) (list []string) {
	byHash := func(rows []string, behind string) {
		hash := func(row string) string { return fmt.Sprintf("%x", md5.Sum([]byte(row+behind))) }
		slices.SortFunc(rows, func(a, b string) int { return strings.Compare(hash(a), hash(b)) })
	}
	for _, person := range []string{"0", "1"} {
		var rows []string
		for n := 1; n <= 4; n++ {
			rows = append(rows, fmt.Sprintf("%s,%d", person, n))
		}
		byHash(rows, "")
		list = append(list, rows[:each]...)
	}
	byHash(list, "/1")
	for i, row := range list {
		list[i] = strings.ReplaceAll(row, ",", "\t")
	}
	list = list[:most]
	slices.Sort(list)
	return list
}

// TestViewsOfRowsThatStay: a view that draws is refused before it is counted.
func TestViewsOfRowsThatStay(t *testing.T) {
	for _, e := range engines(t) {
		e.create("CREATE TABLE @.t AS SELECT 1 AS n, 'north' AS place; CREATE VIEW @.v AS SELECT CASE WHEN random() < 2 " +
			"THEN CAST(random() * 1000000000 AS INTEGER) END AS n, place FROM @.t")
		from, err := e.open(t, "v", "stay, view: rows_of_one_unit", pipeline.Opening{Columns: columns()})
		if err == nil {
			_, err = from.Content(t.Context())
		}
		if !errors.Is(err, pipeline.ErrChanged) {
			t.Errorf("%s: %v: must be a view that differs", e.name, err)
		}
	}
}

// TestStorageOfRowsThatStay: values that are spelled alike and stored otherwise are another table: 1000 microseconds
// are not 1000 nanoseconds, and the text 1 is not a number.
func TestStorageOfRowsThatStay(t *testing.T) {
	for _, e := range engines(t) {
		cells := map[string]string{"words": "CAST('1' AS VARCHAR)", "whole": "CAST(1 AS INTEGER)"}
		column := domain.Column{Name: "c", Type: domain.Categorical, Categories: []string{"1"}}
		if e.name == "duckdb" {
			cells = map[string]string{"micros": "make_timestamp(1000)", "nanos": "make_timestamp_ns(1000)"}
			column = domain.Column{Name: "c", Type: domain.Datetime, Step: 1}
		}
		names := map[string]string{}
		for name, cell := range cells {
			e.create("CREATE TABLE @." + name + " AS SELECT " + cell + " AS c")
			src, err := e.open(t, name, "stay", pipeline.Opening{Columns: &domain.Domain{Columns: []domain.Column{column}}})
			if err != nil {
				t.Fatal(err)
			}
			content, err := src.Content(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if other, is := names[content]; is {
				t.Errorf("%s: %s and %s have one content", e.name, name, other)
			}
			names[content] = name
			src.Close() // DuckDB locks a file that it has open
		}
	}
}

// TestRowsThatStayChange: a file that is another one at the end ends the run.
func TestRowsThatStayChange(t *testing.T) {
	if err := needsDuckDB(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(path, []byte("n,place\n1,north\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := databaseOf(t, "{database: {engine: duckdb, read: {csv: a.csv}, rows: stay}}")
	columns := columns()
	columns.Columns = columns.Columns[1:] // n is text, which is not cast
	folder, err := files.OpenFolder(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	held := files.Hold(folder)
	defer held.Close()
	src, err := s.Open(t.Context(), pipeline.Opening{Files: held.Only("a.csv"), Columns: columns,
		CSV: &pipeline.CSV{Extra: "ignore"}})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := src.Content(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("n,place\n1,south\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := src.Unchanged(t.Context()); !errors.Is(err, pipeline.ErrChanged) {
		t.Errorf("%v: must be a change", err)
	}
}
