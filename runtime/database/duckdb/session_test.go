package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// program returns DuckDB, or the test is skipped.
func program(t *testing.T) string {
	t.Helper()
	path, err := Find()
	if err != nil {
		t.Skip(err)
	}
	return path
}

// makeDatabase runs SQL in a folder of its own, and returns the folder. database is the name of a DuckDB file, or "".
func makeDatabase(t *testing.T, database, sql string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(program(t), "-no-init", "-batch", "-bail", database)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(sql)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// session opens the files of a folder as a table.
func session(t *testing.T, table Table, dir string, names ...string) *Session {
	t.Helper()
	s, err := Open("table", table, opened(t, dir, names...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func opened(t *testing.T, dir string, names ...string) (files []*os.File) {
	t.Helper()
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		files = append(files, f)
	}
	return files
}

// listed reads all columns of a table, a line for each row.
func listed(t *testing.T, s *Session) (lines []string, err error) {
	t.Helper()
	facts, err := s.Facts(t.Context())
	if err != nil {
		return nil, err
	}
	rows, err := s.Rows(t.Context(), facts.Columns)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for {
		r, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		for i := range int(r.NumRows()) {
			var line []string
			for _, column := range r.Columns() {
				line = append(line, column.ValueStr(i))
			}
			lines = append(lines, strings.Join(line, "|"))
		}
	}
}

// TestEveryTypeCrosses: each stored type is read back as the value that was written, to the bit and to the byte.
// Expected are the values as Arrow prints them; 0.1 in 32 bits is 0.10000000149011612 (IEEE 754).
func TestEveryTypeCrosses(t *testing.T) {
	cases := []struct{ sql, want string }{
		{"(-128)::TINYINT", "-128"}, {"9223372036854775807::BIGINT", "9223372036854775807"}, {"18446744073709551615::UBIGINT",
			"18446744073709551615"},
		{"NULL::INTEGER", "(null)"}, {"-0.0::DOUBLE", "-0"}, {"0.1::DOUBLE + 0.2::DOUBLE", "0.30000000000000004"},
		{"1.0000000000000002::DOUBLE", "1.0000000000000002"}, {"5e-324::DOUBLE", "5e-324"},
		{"1.7976931348623157e308::DOUBLE", "1.7976931348623157e+308"}, {"'nan'::DOUBLE", "NaN"}, {"'-inf'::DOUBLE", "-Inf"},
		{"0.1::FLOAT", "0.10000000149011612"},
		{"-1234.50::DECIMAL(9,2)", "-1234.5"}, {"true", "true"}, {"DATE '1969-12-31'", "1969-12-31"},
		{"TIMESTAMP '1969-12-31 23:59:59.75'", "1969-12-31 23:59:59.75Z"},
		{"TIMESTAMPTZ '2020-06-01 10:00:00+02'", "2020-06-01 08:00:00Z"}, {"NULL::DATE", "(null)"},
		{"NULL::TIMESTAMP", "(null)"}, {"TIME '23:59:59'", "23:59:59.000000"}, {"''", ""},
		{"'a\"b,' || chr(13) || chr(10) || 'c;--'", "a\"b,\r\nc;--"}, {"'north '", "north "}, {"'x'::ENUM('x', 'y')", "x"},
	}
	columns, want := make([]string, len(cases)), make([]string, len(cases))
	for i, c := range cases {
		columns[i], want[i] = fmt.Sprintf("%s AS c%d", c.sql, i), c.want
	}
	dir := makeDatabase(t, "", "COPY (SELECT "+strings.Join(columns, ", ")+") TO 'a.parquet' (FORMAT parquet)")
	lines, err := listed(t, session(t, Table{Format: Parquet}, dir, "a.parquet"))
	if err != nil || len(lines) != 1 {
		t.Fatal(lines, err)
	}
	for i, got := range strings.Split(lines[0], "|") {
		if got != want[i] {
			t.Errorf("%s: %q, must be %q", cases[i].sql, got, want[i])
		}
	}
}

// TestRowsKeepTheirOrder: rows come in the order of the files and of the rows in them, whatever DuckDB does side by
// side; a reading that is repeated has the same digest, and so has a reading without records.
func TestRowsKeepTheirOrder(t *testing.T) {
	dir := makeDatabase(t, "", `COPY (SELECT i FROM range(300000) t(i)) TO 'a.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048);
		COPY (SELECT i FROM range(300000, 400000) t(i)) TO 'b.parquet' (FORMAT parquet);`)
	s := session(t, Table{Format: Parquet}, dir, "a.parquet", "b.parquet")
	lines, err := listed(t, s)
	if err != nil || len(lines) != 400000 {
		t.Fatalf("%d rows, %v", len(lines), err)
	}
	for i, line := range lines {
		if line != fmt.Sprint(i) {
			t.Fatalf("row %d is %s", i, line)
		}
	}
	facts, err := s.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := s.Digest(t.Context(), facts.Columns)
	two, err2 := s.Digest(t.Context(), facts.Columns)
	if err1 != nil || err2 != nil || one != two || one == "" {
		t.Errorf("digests %s and %s, %v, %v", one, two, err1, err2)
	}
}

// TestNamesMeanNothing: names of columns and tables are quoted, whatever stands in them.
func TestNamesMeanNothing(t *testing.T) {
	name := `a"; DROP TABLE t; --' %s \x41`
	quoted := identifier(name)
	dir := makeDatabase(t, "x.duckdb", "CREATE SCHEMA "+quoted+"; CREATE TABLE "+quoted+"."+quoted+" AS SELECT 7 AS "+
		quoted+
		"; CHECKPOINT;")
	got, err := listed(t, session(t, Table{Format: Database, Schema: name, Name: name}, dir, "x.duckdb"))
	if err != nil || len(got) != 1 || got[0] != "7" {
		t.Errorf("%q, %v", got, err)
	}
	for _, s := range []string{"", "'", `\`, "\x00", "ü", "a'; DROP"} {
		if sql := text(s); s != "" && strings.ContainsAny(strings.TrimPrefix(strings.TrimSuffix(sql, "'::BLOB)"), "decode('"),
			"'\x00ü;") {
			t.Errorf("%q is written as %s", s, sql)
		}
	}
}

// TestViewsAreTold: what is a view is known, in whatever case its name is written, since nobody sees what it sums up.
func TestViewsAreTold(t *testing.T) {
	dir := makeDatabase(t, "x.duckdb", "CREATE TABLE t AS SELECT 1 AS v; CREATE SCHEMA s; CREATE VIEW s.w AS SELECT * "+
		"FROM t; "+
		"CHECKPOINT;")
	for table, want := range map[Table]bool{
		{Format: Database, Schema: "main", Name: "t"}: false, {Format: Database, Schema: "s", Name: "w"}: true,
		{Format: Database, Schema: "S", Name: "W"}: true,
	} {
		facts, err := session(t, table, dir, "x.duckdb").Facts(t.Context())
		if err != nil || facts.View != want {
			t.Errorf("%s.%s: %+v, %v; must be a view: %t", table.Schema, table.Name, facts, err, want)
		}
	}
}

// TestTableThatIsNotThere: a name that the file does not have is told as such, before DuckDB refuses it.
func TestTableThatIsNotThere(t *testing.T) {
	dir := makeDatabase(t, "x.duckdb", "CREATE TABLE t AS SELECT 1 AS v; CHECKPOINT;")
	_, err := session(t, Table{Format: Database, Schema: "clinic", Name: "t"}, dir, "x.duckdb").Facts(t.Context())
	if want := "table: has no table clinic.t, must be"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, must say: %s", err, want)
	}
}

// TestNothingElseIsReached: a view that reads another file, as a stranger's database may hold, is refused, and so is
// one that would write.
func TestNothingElseIsReached(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.csv")
	if err := os.WriteFile(other, []byte("v\nsecret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := makeDatabase(t, "x.duckdb", "CREATE VIEW v AS SELECT * FROM read_csv('"+other+
		"'); CREATE VIEW w AS SELECT * FROM read_text('/etc/hostname');")
	for _, view := range []string{"v", "w"} {
		got, err := listed(t, session(t, Table{Format: Database, Schema: "main", Name: view}, dir, "x.duckdb"))
		if err == nil || !strings.Contains(err.Error(), "Permission Error") {
			t.Errorf("view %s: %q, %v; must be refused", view, got, err)
		}
	}
}

// TestMacrosOfTheFileMeanNothing: macros that a file calls as DuckDB's own functions change neither the version, which
// stands in weir.lock, nor how cells are spelled; views still find what their own database calls so.
func TestMacrosOfTheFileMeanNothing(t *testing.T) {
	dir := makeDatabase(t, "x.duckdb", `CREATE TABLE t AS SELECT 'Anna-4711' AS v, DATE '1970-01-02' AS d; CREATE MACRO version() AS (SELECT v FROM main.t);
		CREATE MACRO isfinite(x) AS false; CREATE MACRO date_diff(a, b, c) AS 7; CREATE MACRO twice(x) AS x || x;
		CREATE MACRO lower(x) AS x || 'y'; CREATE MACRO duckdb_views() AS TABLE SELECT 1 AS database_name;
		CREATE SCHEMA ward; CREATE TABLE ward.u AS SELECT 'ab' AS v; CREATE VIEW ward.w AS SELECT twice(v) AS v FROM u; CHECKPOINT;`)
	s := session(t, Table{Format: Database, Schema: "main", Name: "t"}, dir, "x.duckdb")
	facts, err := s.Facts(t.Context())
	if err != nil || !strings.HasPrefix(facts.Version, "v") {
		t.Errorf("version %q, %v", facts.Version, err)
	}
	got, err := listed(t, s)
	if want := "Anna-4711|1970-01-02"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("%q, %v; must be %q", got, err, want)
	}
	got, err = listed(t, session(t, Table{Format: Database, Schema: "ward", Name: "w"}, dir, "x.duckdb"))
	if err != nil || strings.Join(got, ", ") != "abab" {
		t.Errorf("view: %q, %v; must be abab", got, err)
	}
}

// TestErrorsQuoteNothing: DuckDB's own words quote the cell that it could not convert; ours name the class alone.
func TestErrorsQuoteNothing(t *testing.T) {
	const canary = "Anna-4711"
	dir := makeDatabase(t, "x.duckdb", "CREATE TABLE t AS SELECT '"+canary+
		"' AS v; CREATE VIEW w AS SELECT v::INTEGER AS v FROM t; CHECKPOINT;")
	_, err := listed(t, session(t, Table{Format: Database, Schema: "main", Name: "w"}, dir, "x.duckdb"))
	if err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), "Conversion Error") {
		t.Errorf("%v: must name the class and no cell", err)
	}
	dir = makeDatabase(t, "", "COPY (SELECT DATE 'infinity' AS v) TO 'a.parquet' (FORMAT parquet)")
	if _, err := listed(t, session(t, Table{Format: Parquet}, dir, "a.parquet")); !errors.Is(err, errInfinite) {
		t.Errorf("an infinite date: %v", err)
	}
}

// TestFilesOfATableAreAlike: DuckDB would read 1.5 in a later file as 2 where the first holds whole numbers.
func TestFilesOfATableAreAlike(t *testing.T) {
	dir := makeDatabase(t, "", `COPY (SELECT 1::INTEGER AS v) TO 'a.parquet' (FORMAT parquet); COPY (SELECT 1.5::DOUBLE AS v) TO 'b.parquet' (FORMAT parquet);
		COPY (SELECT 1::INTEGER AS w) TO 'c.parquet' (FORMAT parquet); COPY (SELECT 1::INTEGER AS v, 2 AS w) TO 'd.parquet' (FORMAT parquet);`)
	for _, other := range []string{"b.parquet", "c.parquet", "d.parquet"} {
		if _, err := listed(t, session(t, Table{Format: Parquet}, dir, "a.parquet", other)); err == nil ||
			!strings.Contains(err.Error(), "must have the same") {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// TestWriteAheadLog: rows that are in the log alone are no part of the file that was identified.
func TestWriteAheadLog(t *testing.T) {
	dir := makeDatabase(t, "x.duckdb", "CREATE TABLE t AS SELECT 1 AS v; CHECKPOINT;")
	if err := os.WriteFile(filepath.Join(dir, "x.duckdb.wal"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("x.duckdb", filepath.Join(dir, "link.duckdb")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x.duckdb", "link.duckdb"} {
		if _, err := Open("x", Table{Format: Database, Schema: "main", Name: "t"}, opened(t, dir, name)); err == nil ||
			!strings.Contains(err.Error(), "write-ahead") {
			t.Errorf("%s: %v: must be refused", name, err)
		}
	}
}

// TestCompressedText: the ending of the name tells how text is compressed, since the process sees no name.
func TestCompressedText(t *testing.T) {
	dir := makeDatabase(t, "",
		`COPY (SELECT 'x y' AS v, '007' AS w) TO 'a.csv.gz' (FORMAT csv, HEADER, COMPRESSION gzip); COPY (SELECT 'z' AS v, NULL AS w) TO 'b.csv' (FORMAT csv, HEADER);`)
	got, err := listed(t, session(t, Table{Format: CSV}, dir, "a.csv.gz", "b.csv"))
	if want := "x y|007, z|(null)"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("%q, %v; must be %q", got, err, want)
	}
}

// lying runs a shell script in place of DuckDB.
func lying(t *testing.T, script string) *Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "duckdb")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Variable, path)
	return session(t, Table{Format: Parquet}, filepath.Dir(path), "duckdb")
}

// TestScriptInFront: a script that starts DuckDB without the opened files, as the script of pip does, is named with the
// cure; one that hands them on works.
func TestScriptInFront(t *testing.T) {
	real := program(t)
	dir := makeDatabase(t, "", "COPY (SELECT 1 AS v) TO 'a.parquet' (FORMAT parquet)")
	for name, closes := range map[string]string{"keeps": "exec 3<&-\n", "hands on": ""} {
		path := filepath.Join(t.TempDir(), "duckdb")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+closes+"exec '"+real+"' \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv(Variable, path)
		_, err := listed(t, session(t, Table{Format: Parquet}, dir, "a.parquet"))
		if closes == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if closes != "" && (err == nil || !strings.Contains(err.Error(), "is a script") || !strings.Contains(err.Error(),
			Variable)) {
			t.Errorf("%s: %v: must name the script and %s", name, err, Variable)
		}
	}
}

// TestBrokenOutput: an answer that is broken off, is no answer, or comes with an error is no shorter table.
func TestBrokenOutput(t *testing.T) {
	column := []Column{{"v", "BIGINT"}, {"w", "VARCHAR"}}
	for name, script := range map[string]string{
		"cut in a cell":        `printf '"1","a"\n"2","b'`,
		"cut between cells":    `printf '"1","a"\n"2",'`,
		"a cell less":          `printf '"1","a"\n"2"\n'`,
		"a cell more":          `printf '"1","a","b"\n'`,
		"no number":            `printf '"Anna-4711","a"\n'`,
		"words":                `printf 'Anna-4711 is no row\n'`,
		"an exit code":         `printf '"1","a"\n'; exit 1`,
		"an error and no code": `printf '"1","a"\n'; echo 'Anna-4711' >&2`,
	} {
		rows, err := lying(t, script).Rows(t.Context(), column)
		for err == nil {
			_, err = rows.Next()
		}
		rows.Close()
		if errors.Is(err, io.EOF) || strings.Contains(err.Error(), "Anna") {
			t.Errorf("%s: ends with %v, must be an error that quotes nothing", name, err)
		}
	}
	rows, err := lying(t, `printf '"1","a"\n"2",\n'`).Rows(t.Context(), column)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if r, err := rows.Next(); err != nil || r.NumRows() != 2 || !r.Column(1).IsNull(1) {
		t.Errorf("what is whole is %v, %v", r, err)
	}
}

// TestCancelled: a reading ends with its context, and the process with it.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := lying(t, `printf '"1"\n'; exec sleep 60`).Rows(ctx, []Column{{"v", "BIGINT"}})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := rows.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("%v: must be cancelled", err)
	}
	if rows.process.cmd.ProcessState == nil {
		t.Error("the process runs on")
	}
}
