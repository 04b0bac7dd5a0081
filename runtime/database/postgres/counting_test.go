package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"weir/pipeline/relation"
	"weir/runtime/database/sql"
)

// staysColumns returns the columns of the table t of withStays: c is i % 3, and v i, which is missing where i % 7 = 0.
func staysColumns() []sql.Stored {
	return []sql.Stored{{Name: "c", Storage: sql.Integer, Of: relation.Code, WholeCodes: map[int64]int32{0: 0, 1: 1,
		2: 2}},
		{Name: "v", Storage: sql.Integer, Of: relation.Whole, MayMiss: true}}
}

// withStays returns a server with the table t of 1,000 rows.
func withStays(t *testing.T) *server {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.t AS SELECT i % 3 AS c, CASE WHEN i % 7 > 0 THEN i END AS v FROM generate_series(0, 999) i`)
	return s
}

func counting(t *testing.T, snapshot *Snapshot, columns []sql.Stored) *Counting {
	t.Helper()
	c, err := snapshot.Counting(t.Context(), columns, -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// coded returns the relation of c, and of v held to 10 values and the eleventh for a missing one.
func coded() relation.Relation {
	r := relation.Stored([]string{"c", "v"}, []relation.Type{relation.Code, relation.Whole})
	v := relation.Column{At: 1, Of: relation.Whole, Greatest: 1000}
	return r.With(relation.Layer{Columns: []relation.Named{
		{Name: "c", Expr: relation.Rank{E: relation.Column{Of: relation.Code}, Of: 3}},
		{Name: "v", Expr: relation.Choice{If: relation.IsMissing{E: v}, Then: relation.Constant{Of: relation.Whole, Int: 10},
			Else: relation.Quotient{E: v, By: 100}}}}})
}

func wholes(at, of int) relation.Expr {
	return relation.Column{At: at, Of: relation.Whole, Greatest: int64(of - 1)}
}

// counted returns the counts of c and of v of a kept table.
func counted(t *testing.T, k relation.Kept) (list [][]int64) {
	t.Helper()
	err := k.Count(t.Context(), []relation.Key{{Expr: wholes(0, 3), Of: 3}, {Expr: wholes(1, 11), Of: 11}},
		func(_ int, counts []int64) error {
			list = append(list, counts)
			return nil
		})
	if err != nil {
		t.Error(err)
	}
	return list
}

// TestPostgresCountsWhereRowsStay: counts are of the rows of the snapshot, though others come meanwhile; two stages may
// ask at a time. Expected: of 1,000 numbers 334, 333 and 333 leave 0, 1 and 2 behind a division by 3; 143 are multiples
// of 7.
func TestPostgresCountsWhereRowsStay(t *testing.T) {
	s := withStays(t)
	c := counting(t, open(t, s.placeAs(s.role, "t"), "c", "v"), staysColumns())
	s.exec(t, `INSERT INTO @.t SELECT 0, i FROM generate_series(1, 500) i`)
	var wait sync.WaitGroup
	for range 2 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			k, err := c.Keep(t.Context(), coded())
			if err != nil {
				t.Error(err)
				return
			}
			got := counted(t, k)
			if want := [][]int64{{334, 333, 333}, {85, 86, 86, 85, 86, 86, 86, 85, 86, 86, 143}}; fmt.Sprint(got) !=
				fmt.Sprint(want) {
				t.Errorf("%v, must be %v", got, want)
			}
			again, err := k.Keep(t.Context(),
				[]relation.Named{{Name: "c", Expr: relation.Lookup{E: wholes(0, 3), To: []int64{1, 0, 0}}}})
			if err == nil {
				err = again.Count(t.Context(), []relation.Key{{Expr: wholes(0, 2), Of: 2}}, func(_ int, counts []int64) error {
					if !slices.Equal(counts, []int64{666, 334}) {
						t.Errorf("again %v", counts)
					}
					return nil
				})
			}
			if err != nil {
				t.Error(err)
			}
			if k.Count(t.Context(), []relation.Key{{Expr: wholes(1, 11), Of: 9}}, func(int, []int64) error { return nil }) ==
				nil {
				t.Error("values 9 and 10 of a key of 9 are counted")
			}
		}()
	}
	wait.Wait()
	x := relation.Column{Of: relation.Real}
	got, err := c.Try(t.Context(), relation.Real, []float64{0.5, -3, 1e300},
		[]relation.Expr{relation.Bins{E: x, Edges: []float64{0, 0.5, 7}}})
	if err != nil || fmt.Sprint(got) != "[[2 0 3]]" {
		t.Errorf("%v, %v; must be [[2 0 3]]", got, err)
	}
}

// TestPostgresContentIsOfTheRows: the content is of the rows in whatever order and table, and another with a cell
// that changes, a row more and a row twice; faults are told by column and rule; a view that draws is refused.
func TestPostgresContentIsOfTheRows(t *testing.T) {
	s := withStays(t)
	contents := map[string]string{}
	for name, query := range map[string]string{"rows": "SELECT * FROM @.t", "sorted": "SELECT * FROM @.t ORDER BY v DESC",
		"less":    "SELECT * FROM @.t WHERE c > 0 OR v <> 3",
		"twice":   "SELECT * FROM @.t UNION ALL (SELECT * FROM @.t LIMIT 1)",
		"changed": "SELECT c, CASE WHEN v = 5 THEN 6 ELSE v END AS v FROM @.t"} {
		s.exec(t, "CREATE TABLE @."+name+" AS "+query)
		content, faults, err := counting(t, open(t, s.placeAs(s.role, name)), staysColumns()).Content(t.Context())
		if err != nil || len(faults) > 0 {
			t.Fatal(faults, err)
		}
		contents[name] = content
	}
	if contents["rows"] != contents["sorted"] || contents["rows"] == contents["less"] ||
		contents["rows"] == contents["twice"] || contents["rows"] == contents["changed"] {
		t.Errorf("contents %v", contents)
	}
	columns := staysColumns()
	columns[1].MayMiss, columns[0].WholeCodes = false, map[int64]int32{0: 0}
	_, faults, err := counting(t, open(t, s.placeAs(s.role, "t")), columns).Content(t.Context())
	if want := []sql.Fault{{Column: "c", Rule: sql.Category}, {Column: "v", Rule: sql.NotMissing}}; err != nil ||
		!slices.Equal(faults, want) {
		t.Errorf("%v, %v; must be %v", faults, err, want)
	}
}

// TestPostgresErrorsOfCountsQuoteNoCell: rows that cannot be computed end with a SQLSTATE and no cell; a key that is
// missing is no count.
func TestPostgresErrorsOfCountsQuoteNoCell(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.t AS SELECT 'Alice Canary'::text AS name`,
		`CREATE VIEW @.v AS SELECT name::int AS v, 0 AS c FROM @.t`)
	_, err := counting(t, open(t, s.placeAs(s.role, "v")), staysColumns()).Keep(t.Context(), coded())
	if err == nil || strings.Contains(err.Error(), "Canary") || !strings.Contains(err.Error(), "22P02, data exception") {
		t.Errorf("%v", err)
	}
	s.exec(t, `CREATE TABLE @.gone AS SELECT NULL::int AS c, 3 AS v`)
	k, err := counting(t, open(t, s.placeAs(s.role, "gone")), staysColumns()).Keep(t.Context(), coded())
	if err == nil {
		err = k.Count(t.Context(), []relation.Key{{Expr: wholes(0, 3), Of: 3}}, func(int, []int64) error { return nil })
	}
	if err == nil {
		t.Error("a missing code is counted")
	}
}

// TestPostgresNeedsTemporaryTables: a role that keeps nothing is refused with the grant that it needs.
func TestPostgresNeedsTemporaryTables(t *testing.T) {
	s := withStays(t)
	place := s.bare(t)
	_, err := open(t, place).Counting(t.Context(), staysColumns(), -1, 0)
	if err == nil || !strings.Contains(err.Error(), "GRANT TEMPORARY ON DATABASE") {
		t.Errorf("without TEMPORARY: %v", err)
	}
}

// bare returns a place for the reader in a database of its own, where only its owner makes temporary tables: other
// packages test on the same server at the same time.
func (s *server) bare(t *testing.T) Place {
	t.Helper()
	name := s.schema + "_bare"
	s.exec(t, `CREATE DATABASE `+name, `REVOKE TEMPORARY ON DATABASE `+name+` FROM PUBLIC`)
	words := s.words + " dbname=" + name
	c, err := pgconn.Connect(context.Background(), words)
	if err != nil {
		t.Fatal(err)
	}
	there := &server{c, words, s.schema, s.role}
	there.exec(t, `CREATE SCHEMA @`, `CREATE TABLE @.t (c int, v int)`, `GRANT USAGE ON SCHEMA @ TO `+s.role,
		`GRANT SELECT ON @.t TO `+s.role)
	t.Cleanup(func() {
		_ = c.Close(context.Background())
		s.exec(t, `DROP DATABASE `+name+` WITH (FORCE)`)
	})
	return there.placeAs(s.role, "t")
}

// TestPostgresCountsLoseTheirServer: a backend that is ended, a statement that takes too long and a run that is stopped
// end what is asked with an error, and nothing goes on in the server.
func TestPostgresCountsLoseTheirServer(t *testing.T) {
	s := withStays(t)
	s.exec(t, `CREATE VIEW @.late AS SELECT c, CASE WHEN pg_sleep(.1) IS NULL THEN 0 ELSE v END AS v FROM @.t`)
	backend := `FROM pg_stat_activity WHERE usename = '` + s.role + `' AND query LIKE 'INSERT%' AND state = 'active'`
	for name, want := range map[string]string{"ended": "57P01", "late": "57014", "stopped": "canceled"} {
		place := s.placeAs(s.role, "late")
		if name == "late" {
			place.Timeout = 300 * time.Millisecond
		}
		c := counting(t, open(t, place), staysColumns())
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error, 1)
		go func() {
			_, err := c.Keep(ctx, coded())
			got <- err
		}()
		if name != "late" {
			s.exec(t, `DO $$ BEGIN FOR i IN 1..600 LOOP PERFORM pg_stat_clear_snapshot(); EXIT WHEN EXISTS (SELECT `+backend+
				`); PERFORM pg_sleep(.05); END LOOP; END $$`)
		}
		switch name {
		case "ended":
			s.exec(t, `SELECT pg_terminate_backend(pid) `+backend)
		case "stopped":
			cancel()
		}
		if err := <-got; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say %s", name, err, want)
		}
		cancel()
		s.exec(t, `DO $$ BEGIN FOR i IN 1..600 LOOP PERFORM pg_stat_clear_snapshot(); EXIT WHEN NOT EXISTS (SELECT `+backend+`); PERFORM pg_sleep(.05);
			IF i = 600 THEN RAISE 'goes on'; END IF; END LOOP; END $$`)
	}
}

// TestPostgresLooksAfterItsClient: a statement whose weir was killed ends with it, where the server can tell.
func TestPostgresLooksAfterItsClient(t *testing.T) {
	s := withStays(t)
	snapshot := open(t, s.placeAs(s.role, "t"))
	joined, err := snapshot.join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer joined.Close(context.Background())
	stored, err := counting(t, snapshot, staysColumns()).connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, conn := range map[string]*pgconn.PgConn{"joined": joined, "kept": stored} {
		row, err := one(t.Context(), conn, "a setting", 1,
			`SELECT coalesce(current_setting('client_connection_check_interval', true), 'none')`)
		if err != nil || row[0] != "1s" && row[0] != "none" {
			t.Errorf("%s: %v, %v", name, row, err)
		}
	}
}
