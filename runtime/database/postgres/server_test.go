package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// server connects to the server that WEIR_POSTGRES names (.ci/postgres starts one) as its owner, and makes a schema and
// a role that can read it, which end with the test.
type server struct {
	*pgconn.PgConn
	words  string // of the owner's connection
	schema string
	role   string
}

func newServer(t *testing.T) *server {
	t.Helper()
	words := os.Getenv("WEIR_POSTGRES")
	if words == "" {
		t.Skip("needs a PostgreSQL server: run .ci/postgres, which starts one and these tests")
	}
	c, err := pgconn.Connect(context.Background(), words)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("weir_%d", time.Now().UnixNano())
	s := &server{c, words, name, name + "_reader"}
	s.exec(t, `CREATE SCHEMA `+s.schema, `CREATE ROLE `+s.role+` LOGIN`, `GRANT USAGE ON SCHEMA `+s.schema+` TO `+s.role,
		`ALTER DEFAULT PRIVILEGES IN SCHEMA `+s.schema+` GRANT SELECT ON TABLES TO `+s.role)
	t.Cleanup(func() {
		s.exec(t, `DROP SCHEMA `+s.schema+` CASCADE`, `DROP OWNED BY `+s.role, `DROP ROLE `+s.role)
		_ = c.Close(context.Background())
	})
	return s
}

func (s *server) exec(t *testing.T, list ...string) {
	t.Helper()
	for _, sql := range list {
		if _, err := s.Exec(context.Background(), strings.ReplaceAll(sql, "@", s.schema)).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// placeAs returns a place of the schema for a role; the last word of a connection counts.
func (s *server) placeAs(role, table string) Place {
	return Place{Connection: "env:PLACE", Table: s.schema + "." + table, Timeout: time.Minute,
		Env: func(string) string { return s.words + " user=" + role }}
}

// rows reads a table to its end: the cells of each row as text, and the digest.
func rows(t *testing.T, s *Snapshot) (list []string, digest string) {
	t.Helper()
	r, err := s.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		record, err := r.Next()
		if err == io.EOF {
			return list, r.Digest()
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(record.NumRows()) {
			var cells []string
			for _, column := range record.Columns() {
				cells = append(cells, column.ValueStr(i))
			}
			list = append(list, strings.Join(cells, "|"))
		}
		record.Release()
	}
}

func open(t *testing.T, place Place, columns ...string) *Snapshot {
	t.Helper()
	s, err := Open(context.Background(), place, columns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestPostgresEveryTypeIsRead: each type as the values that were stored, whatever names and texts hold, in an order and
// with a digest that do not follow from where rows lie.
func TestPostgresEveryTypeIsRead(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TYPE @.ward AS ENUM ('north', 'so"uth')`,
		`CREATE TABLE @."a;'"" b" (i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric(30,2), t text, v varchar(9),
		   c char(6), w @.ward, u uuid, "b;'""\ ool" bool, d date, ts timestamp, tz timestamptz, tm time)`,
		`INSERT INTO @."a;'"" b" VALUES
		 (2, 70000, 9007199254740993, 1.5, 'NaN', 123456789012345678901234567.89, 'O''Hara; --', NULL, 'no', 'so"uth',
		  '00000000-0000-0000-0000-000000000001', true, '1969-12-31', '2020-02-29 23:59:59.5', '2020-01-01 00:00:00+02', '24:00:00'),
		 (-1, NULL, NULL, '-0', '-0', NULL, 'Ω ', '', '', 'north', NULL, false, NULL, NULL, NULL, NULL),
		 (-1, NULL, NULL, '0', '0', NULL, 'Ω ', '', '', 'north', NULL, false, NULL, NULL, NULL, NULL)`)
	place := s.placeAs(s.role, `a;'" b`)
	got, digest := rows(t, open(t, place))
	slices.Sort(got)
	want := []string{
		`-1|(null)|(null)|0|0|(null)|Ω |||north|(null)|false|(null)|(null)|(null)|(null)`,
		`-1|(null)|(null)|0|0|(null)|Ω |||north|(null)|false|(null)|(null)|(null)|(null)`,
		`2|70000|9007199254740993|1.5|NaN|123456789012345678901234567.89|O'Hara; --|(null)|no|so"uth|` +
			`00000000-0000-0000-0000-000000000001|true|1969-12-31|2020-02-29 23:59:59.5Z|2019-12-31 22:00:00Z|`,
	}
	for i := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("row %d of %q, must be %q", i, got, want[i])
		}
	}
	s.exec(t, `CREATE TABLE @.copy AS SELECT * FROM @."a;'"" b" ORDER BY i2 DESC, f4`)
	s.exec(t, `UPDATE @.copy SET f8 = '-0', f4 = 0 WHERE i2 = -1`)
	if _, again := rows(t, open(t, s.placeAs(s.role, "copy"))); again != digest {
		t.Error("the same rows elsewhere and in another order have another digest")
	}
	s.exec(t, `UPDATE @.copy SET i4 = 70001 WHERE i2 = 2`)
	if _, again := rows(t, open(t, s.placeAs(s.role, "copy"))); again == digest {
		t.Error("another cell has the same digest")
	}
}

// TestPostgresOrderIsNoneOfTheColumns: the first rows of each unit, which a cap keeps, are not those with the least
// values. A hash puts the least of ten days first with probability .1: of 100 persons 40 or more have it first with
// probability 3e-15 (binomial). The order is a function of these rows, so the test always ends alike.
func TestPostgresOrderIsNoneOfTheColumns(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.t AS SELECT i AS person, d AS day FROM generate_series(1, 100) i, generate_series(1, 10) d`)
	got, _ := rows(t, open(t, s.placeAs(s.role, "t")))
	met, least := map[string]bool{}, 0
	for _, row := range got {
		person, day, _ := strings.Cut(row, "|")
		if !met[person] && day == "1" {
			least++
		}
		met[person] = true
	}
	if len(met) != 100 || least >= 40 {
		t.Errorf("of %d persons %d have their first day first, must be some ten of 100", len(met), least)
	}
}

// TestPostgresReadingsAreOfOneMoment: rows that come and go between readings are not seen, and the table keeps its
// form.
func TestPostgresReadingsAreOfOneMoment(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.stays AS SELECT i AS id, i % 7 AS ward FROM generate_series(1, 50000) i`)
	snapshot := open(t, s.placeAs(s.role, "stays"), "ward")
	before, digest := rows(t, snapshot)
	s.exec(t, `INSERT INTO @.stays VALUES (0, 3)`, `DELETE FROM @.stays WHERE id < 100`,
		`UPDATE @.stays SET ward = 1 WHERE id = 500`)
	after, again := rows(t, snapshot)
	if len(before) != 50000 || len(after) != 50000 || digest != again {
		t.Errorf("%d rows, then %d; digests equal: %v", len(before), len(after), digest == again)
	}
	if now, _ := rows(t, open(t, s.placeAs(s.role, "stays"), "ward")); len(now) != 49901 {
		t.Errorf("a later snapshot has %d rows, must have 49901", len(now))
	}
	s.exec(t, `SET lock_timeout = 200`)
	defer s.exec(t, `SET lock_timeout = 0`)
	if _, err := s.Exec(context.Background(), `TRUNCATE `+s.schema+`.stays`).ReadAll(); err == nil {
		t.Error("the table was emptied under an open snapshot, which cannot see that")
	}
}

// TestPostgresRolesThatCanWrite: only a role that can do no more than read is taken.
func TestPostgresRolesThatCanWrite(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.t AS SELECT 1 AS id`, `CREATE VIEW @.v AS SELECT * FROM @.t`)
	owner, _ := pgconn.ParseConfig(s.words)
	if _, err := Open(context.Background(), s.placeAs(owner.User, "t"), nil); err == nil || !strings.Contains(err.Error(),
		"superuser") {
		t.Errorf("a superuser: %v", err)
	}
	for _, right := range []string{"INSERT", "UPDATE", "DELETE", "TRUNCATE", "INSERT (id)", "UPDATE (id)"} {
		s.exec(t, `GRANT `+right+` ON @.t TO `+s.role)
		snapshot, err := Open(context.Background(), s.placeAs(s.role, "t"), nil)
		if err == nil {
			_ = snapshot.Close() // its lock would keep the schema
		}
		if err == nil || !strings.Contains(err.Error(), "can change") {
			t.Errorf("%s: %v", right, err)
		}
		s.exec(t, `REVOKE `+right+` ON @.t FROM `+s.role)
	}
	if s := open(t, s.placeAs(s.role, "v")); !s.Table.View {
		t.Error("a view is not called one")
	}
	s.exec(t, `REVOKE SELECT ON @.t FROM `+s.role)
	if _, err := Open(context.Background(), s.placeAs(s.role, "t"), nil); err == nil || !strings.Contains(err.Error(),
		"cannot read") {
		t.Errorf("without SELECT: %v", err)
	}
}

// TestPostgresErrorsQuoteNoCell: a view whose rows cannot be computed tells its class alone.
func TestPostgresErrorsQuoteNoCell(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.t AS SELECT 'Alice Canary'::text AS name`,
		`CREATE VIEW @.v AS SELECT name::float8 AS x FROM @.t`)
	snapshot := open(t, s.placeAs(s.role, "v"))
	r, err := snapshot.Read(context.Background())
	if err == nil {
		_, err = r.Next()
		r.Close()
	}
	if err == nil || strings.Contains(err.Error(), "Canary") || !strings.Contains(err.Error(), "22P02, data exception") {
		t.Errorf("%v", err)
	}
}

// TestPostgresSnapshotIsBehindTheLock: a table that is emptied and filled anew while weir waits for it has its new
// rows. An earlier snapshot would see neither: what TRUNCATE removes is gone for all, and what came then is none of its
// rows.
func TestPostgresSnapshotIsBehindTheLock(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.t AS SELECT 1 AS id`, `BEGIN`, `TRUNCATE @.t`,
		`INSERT INTO @.t SELECT generate_series(1, 7)`)
	got := make(chan error, 1)
	go func() {
		snapshot, err := Open(context.Background(), s.placeAs(s.role, "t"), nil)
		if err == nil {
			defer snapshot.Close()
			if list, _ := rows(t, snapshot); len(list) != 7 {
				err = fmt.Errorf("%d rows, must be 7", len(list))
			}
		}
		got <- err
	}()
	s.waits(t)
	s.exec(t, `COMMIT`)
	if err := <-got; err != nil {
		t.Error(err)
	}
	s.exec(t, `BEGIN`, `ALTER TABLE @.t ALTER id TYPE int8`)
	go func() {
		snapshot, err := Open(context.Background(), s.placeAs(s.role, "t"), nil)
		if err == nil {
			_ = snapshot.Close()
		}
		got <- err
	}()
	s.waits(t)
	s.exec(t, `COMMIT`)
	if err := <-got; err == nil || !strings.Contains(err.Error(), "changed its form") {
		t.Errorf("a column of another type: %v", err)
	}
}

// waits returns when the reader waits for a lock.
func (s *server) waits(t *testing.T) {
	t.Helper()
	s.exec(t, `DO $$ BEGIN FOR i IN 1..600 LOOP
		PERFORM pg_stat_clear_snapshot();
		EXIT WHEN EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.usename = '`+s.role+`' AND NOT l.granted);
		PERFORM pg_sleep(.1);
	END LOOP; END $$`)
}

// TestPostgresPathOfTheRole: what other schemas of the role's path call text, = or current_setting is not what weir
// means.
func TestPostgresPathOfTheRole(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.t AS SELECT 'Alice'::text AS name, 2.5::float8 AS x`,
		`CREATE DOMAIN @.text AS varchar CHECK (value <> 'Alice')`,
		`CREATE FUNCTION @.add(float8, float8) RETURNS float8 LANGUAGE sql AS 'SELECT 7::pg_catalog.float8'`,
		`CREATE OPERATOR @.+ (LEFTARG = float8, RIGHTARG = float8, FUNCTION = @.add)`,
		`CREATE FUNCTION @.current_setting(pg_catalog.text) RETURNS pg_catalog.text LANGUAGE sql AS 'SELECT ''on''::pg_catalog.text'`,
		`ALTER ROLE `+s.role+` SET search_path = @, pg_catalog`)
	list, _ := rows(t, open(t, s.placeAs(s.role, "t")))
	if want := "Alice|2.5"; len(list) != 1 || list[0] != want {
		t.Errorf("%q, must be %q", list, want)
	}
}

// TestPostgresLostConnections: a backend that is ended, and a run that is stopped, end a reading with an error.
func TestPostgresLostConnections(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.t AS SELECT i, repeat('x', 100) AS t FROM generate_series(1, 200000) i`)
	snapshot := open(t, s.placeAs(s.role, "t"))
	for name, end := range map[string]func(cancel func()){
		"ended": func(func()) {
			s.exec(t, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '`+s.role+
				`' AND query LIKE 'COPY%'`)
		},
		"stopped": func(cancel func()) { cancel() },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		r, err := snapshot.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Next()
		end(cancel)
		for err == nil {
			_, err = r.Next()
		}
		if err == io.EOF || r.Digest() != "" {
			t.Errorf("%s: the reading came to its end", name)
		}
		if name == "stopped" && !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
		t.Log(err)
		r.Close()
		cancel()
	}
}
