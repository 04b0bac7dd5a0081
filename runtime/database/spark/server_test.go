package spark

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"weir/pipeline/relation"
	"weir/runtime/database/sql"
)

// server is a session with the server that WEIR_SPARK names (.ci/spark starts one), in which a test makes tables.
type server struct {
	*link
	words string
}

// newServer makes the schemas `weir_tests`, for tables, and `weir_scratch`.
func newServer(t *testing.T) *server {
	t.Helper()
	words := os.Getenv("WEIR_SPARK")
	if words == "" {
		t.Skip("needs a Spark cluster: run .ci/spark, which starts one and these tests")
	}
	s := &server{words: words}
	a, err := s.place("weir_tests.none").address()
	if err != nil {
		t.Fatal(err)
	}
	if s.link, err = (&Session{address: a}).connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.link.close() })
	s.exec(t, "CREATE SCHEMA IF NOT EXISTS weir_tests", "CREATE SCHEMA IF NOT EXISTS weir_scratch")
	return s
}

func (s *server) exec(t *testing.T, list ...string) {
	t.Helper()
	for _, sql := range list {
		if err := s.run(context.Background(), "a statement of the test", sql, 0, nil); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// place returns a table of the server.
func (s *server) place(table string) Place {
	return Place{Connection: "env:X", Table: table, Scratch: "weir_scratch", Timeout: 5 * time.Minute,
		Env: func(string) string { return s.words }}
}

// TestSparkFacts: columns and types as the catalogue has them, a view as one, and each table and schema that is not
// counted by its reason.
func TestSparkFacts(t *testing.T) {
	s := newServer(t)
	s.exec(t, "DROP VIEW IF EXISTS weir_tests.v", "DROP TABLE IF EXISTS weir_tests.facts",
		"DROP TABLE IF EXISTS weir_tests.words", "DROP TABLE IF EXISTS weir_tests.skips",
		"CREATE TABLE weir_tests.facts (a int, `b ``;\"--${x}` string, c decimal(12,2), d timestamp_ntz, e array<int>) "+
			"USING parquet",
		"CREATE VIEW weir_tests.v AS SELECT a FROM weir_tests.facts",
		"CREATE TABLE weir_tests.words (a int) USING csv",
		"CREATE TABLE weir_tests.skips (a int) USING parquet OPTIONS (ignoreCorruptFiles true)")
	open, err := Open(t.Context(), s.place("weir_tests.facts"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range open.Table.Columns {
		got = append(got, c.Name+" "+c.Type.Name)
	}
	if want := "a int|b `;\"--${x} string|c decimal|d timestamp_ntz|e array"; strings.Join(got, "|") != want ||
		open.Table.Columns[2].Type.Digits != 12 || open.Table.View {
		t.Errorf("%+v", open.Table)
	}
	if !strings.HasPrefix(open.Version, "4.") {
		t.Errorf("version %q", open.Version)
	}
	view, err := Open(t.Context(), s.place("weir_tests.v"))
	if err != nil || !view.Table.View {
		t.Fatal(view, err)
	}
	for table, want := range map[string]string{"weir_tests.none": "42P01", "weir_tests.words": "another format",
		"weir_tests.skips": "ignorecorruptfiles"} {
		if _, err := Open(t.Context(), s.place(table)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", table, err)
		}
	}
	nowhere := s.place("weir_tests.facts")
	nowhere.Scratch, nowhere.Version = "weir_none", "3"
	if _, err := Open(t.Context(), nowhere); err == nil || !strings.Contains(err.Error(), "scratch: weir_none") ||
		!strings.Contains(err.Error(), "keeps no versions") {
		t.Error(err)
	}
}

// TestSparkErrorsQuoteNothing: a statement that fails for a cell is told by its SQLSTATE, and so is a function of a
// view that says what it likes.
func TestSparkErrorsQuoteNothing(t *testing.T) {
	s := newServer(t)
	for sql, want := range map[string]string{
		"SELECT CAST('" + canary + "' AS INT)": "22018, data exception",
		"SELECT raise_error('" + canary + "')": "not repeated here",
		"SELECT 1/0":                           "22012, data exception",
		"SELECT " + canary + " FROM":           "access rule or syntax",
	} {
		err := s.run(t.Context(), "counts", sql, 1, func([]column) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Alice") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestSparkCancels: a statement that the run does not wait for ends on the server too: the next one is answered long
// before the first could have ended.
func TestSparkCancels(t *testing.T) {
	s := newServer(t)
	s.timeout = 2 * time.Second
	err := s.run(t.Context(), "counts", "SELECT count(*) FROM range(1000000000000) WHERE sha2(CAST(id AS STRING), 256) "+
		"= 'x'", 1, func([]column) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "takes longer than database.timeout") {
		t.Fatal(err)
	}
	if err := newServer(t).run(t.Context(), "counts", "SELECT count(*) FROM range(10)", 1,
		func([]column) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestSparkCounts: a table of every stored type is kept as codes and counted as by hand, keys of one column and of two,
// also of what is kept from kept codes, and nothing is left in the scratch schema.
func TestSparkCounts(t *testing.T) {
	s := newServer(t)
	s.exec(t, "DROP TABLE IF EXISTS weir_tests.counts",
		"CREATE TABLE weir_tests.counts (`ward ``a``;--` string, age smallint, cost decimal(8,2), weight double, since "+
			"date, seen timestamp_ntz, smoker boolean) USING parquet",
		"INSERT INTO weir_tests.counts VALUES ('north ', 1, 0.25, CAST('NaN' AS DOUBLE), DATE '1969-12-31', TIMESTAMP_NTZ "+
			"'1970-01-01 00:00:59.5', true), "+
			"('north', 1, 0.5, CAST('-0' AS DOUBLE), DATE '1970-01-02', TIMESTAMP_NTZ '1970-01-01 00:01:00', false), (NULL, "+
			"NULL, NULL, NULL, NULL, NULL, NULL), "+
			"('north ', 2, 0.25, 0.5, DATE '1970-01-02', TIMESTAMP_NTZ '1970-01-01 00:02:00', false)")
	session, err := Open(t.Context(), s.place("weir_tests.counts"))
	if err != nil {
		t.Fatal(err)
	}
	var columns []sql.Stored
	var names []string
	var types []relation.Type
	for i, c := range session.Table.Columns {
		stored := c.StoredColumn()
		stored.MayMiss = true
		stored.Of = []relation.Type{relation.Code, relation.Whole, relation.Real, relation.Real, relation.Whole,
			relation.Whole,
			relation.Code}[i]
		stored.MissingNaN = true
		columns, names, types = append(columns, stored), append(names, stored.Name), append(types, stored.Of)
	}
	columns[0].Codes = map[string]int32{"north": 0, "north ": 1}
	columns[5].Step, columns[5].Least, columns[5].Greatest = 60, -1<<36, 1<<36
	columns[6].Codes = map[string]int32{"false": 0, "true": 1}
	counting, err := session.Counting(columns, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	content, faults, err := counting.Content(t.Context())
	if err != nil || len(faults) > 0 || !strings.Contains(content, ", 4 ") {
		t.Errorf("%q, %v, %v", content, faults, err)
	}
	// Cells of each column, as whole numbers from 0, the last of them for what is missing.
	stored := relation.Stored(names, types)
	in := stored.Columns()
	real := func(e relation.Expr, divisor float64) relation.Expr {
		scaled := relation.Arithmetic{Op: "*", A: relation.Clip{E: e, Least: 0, Greatest: 1},
			B: relation.Constant{Of: relation.Real, Float: divisor}}
		return relation.Clip{E: relation.Truncate{E: scaled}, Least: 0, Greatest: divisor}
	}
	whole := func(e relation.Expr) relation.Expr { return relation.Clip{E: e, Least: 0, Greatest: 4} }
	cells := []relation.Expr{relation.Rank{E: in[0], Of: 2}, whole(in[1]), real(in[2], 4), real(in[3], 4), whole(in[4]),
		whole(relation.Clip{E: in[5], Least: 0, Greatest: 120}), relation.Rank{E: in[6], Of: 2}}
	layer := relation.Layer{}
	for i, e := range cells {
		cell := relation.Choice{If: relation.IsMissing{E: e}, Then: relation.Constant{Of: relation.Whole, Int: 5}, Else: e}
		layer.Columns = append(layer.Columns, relation.Named{Name: names[i], Expr: cell})
	}
	r := stored.With(layer)
	rowSet, err := counting.Keep(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	out := r.Columns()
	var keys []relation.Key
	for _, c := range out {
		keys = append(keys, relation.Key{Expr: c, Of: 6})
	}
	six := relation.Constant{Of: relation.Whole, Int: 6}
	keys = append(keys, relation.Key{Expr: relation.Arithmetic{Op: "+", A: relation.Arithmetic{Op: "*", A: out[0], B: six},
		B: out[1]}, Of: 36})
	var got []string
	use := func(key int, counts []int64) error {
		for value, n := range counts {
			if n > 0 {
				got = append(got, fmt.Sprintf("%d:%d=%d", key, value, n))
			}
		}
		return nil
	}
	if err := rowSet.Count(t.Context(), keys, use); err != nil {
		t.Fatal(err)
	}
	want := "0:0=1 0:1=2 0:5=1 1:1=2 1:2=1 1:5=1 2:1=2 2:2=1 2:5=1 3:0=1 3:2=1 3:5=2 4:0=1 4:1=2 4:5=1 5:0=1 5:4=2 " +
		"5:5=1 6:0=2 6:1=1 6:5=1 7:1=1 7:7=1 7:8=1 7:35=1"
	if strings.Join(got, " ") != want {
		t.Errorf("%s, must be\n%s", strings.Join(got, " "), want)
	}
	again, err := rowSet.Keep(t.Context(),
		[]relation.Named{{Name: "a", Expr: relation.Lookup{E: out[1], To: []int64{0, 3, 1, 0, 0, 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	if err := again.Count(t.Context(), []relation.Key{{Expr: relation.Column{Of: relation.Whole, Greatest: 3}, Of: 4}},
		use); err != nil || strings.Join(got, " ") != "0:1=1 0:2=1 0:3=2" {
		t.Errorf("%v, %v", got, err)
	}
	tables := counting.tables
	if err := counting.Close(); err != nil || len(tables) != 2 {
		t.Error(tables, err)
	}
	for _, table := range tables {
		if err := s.run(t.Context(), "a table of codes", "SELECT * FROM "+table, 2,
			func([]column) error { return nil }); err == nil || !strings.Contains(err.Error(), "42P01") {
			t.Errorf("%s: %v", table, err)
		}
	}
}
