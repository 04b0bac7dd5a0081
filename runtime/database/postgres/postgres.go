// Package postgres reads a table or a view of a PostgreSQL server in one snapshot. It asks for rows and for what the
// catalogue says of them, changes nothing, and needs a role that cannot.
//
// An error of this package says which request the server refused and its SQLSTATE, never a word of the server: its
// messages quote cells.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Place is where a table lies.
type Place struct {
	Connection string                   // service:NAME or env:NAME; never the words of a connection
	Table      string                   // schema.table, without quotes
	Timeout    time.Duration            // of one request; 0: none
	Env        func(name string) string // an environment variable
}

// Split returns schema and table of a name. The name is compared with names of the catalogue and never parsed by the
// server.
func Split(name string) (schema, table string, err error) {
	schema, table, is := strings.Cut(name, ".")
	if !is || schema == "" || table == "" || strings.ContainsRune(name, 0) {
		return "", "", fmt.Errorf("is %q, must be SCHEMA.TABLE", name)
	}
	return schema, table, nil
}

// Snapshot is a table as it was at one moment, however many readings it has. It holds a transaction open, under which
// the server keeps old rows; close it.
type Snapshot struct {
	place  Place
	config *pgconn.Config
	holder *pgconn.PgConn // whose transaction owns the snapshot, and keeps the table from being changed in form
	id     string
	Table  Table
}

// Open connects and takes a snapshot of a table, of which the given columns are going to be read, or all that can be
// where none is given.
func Open(ctx context.Context, place Place, columns []string) (*Snapshot, error) {
	config, err := place.config()
	if err != nil {
		return nil, err
	}
	s := &Snapshot{place: place, config: config}
	if s.holder, err = connect(ctx, config, place.Connection); err != nil {
		return nil, err
	}
	if err := s.take(ctx, columns); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// take begins the transaction and looks at the table: at its form once its lock is held. Each of its statements sees
// what is committed when it begins, so the snapshot is one behind the lock. An earlier one would find a table empty
// that was rewritten, or emptied and filled anew, while the lock was waited for.
func (s *Snapshot) take(ctx context.Context, columns []string) error {
	if err := begin(ctx, s.holder, s.place.Timeout, "READ COMMITTED"); err != nil {
		return err
	}
	table, err := facts(ctx, s.holder, s.place.Table, columns)
	if err != nil {
		return err
	}
	s.Table = table
	if err := run(ctx, s.holder, "the lock of the table", "SELECT 1 FROM "+table.name()+" LIMIT 0"); err != nil {
		return err
	}
	again, err := facts(ctx, s.holder, s.place.Table, columns)
	if err != nil {
		return err
	}
	if !table.equal(again) {
		return errors.New("the table changed its form while it was opened; run it again")
	}
	row, err := one(ctx, s.holder, "the snapshot", 1, "SELECT pg_catalog.pg_export_snapshot()")
	if err != nil {
		return err
	}
	s.id = row[0]
	return nil
}

// join opens a connection whose transaction sees the snapshot.
func (s *Snapshot) join(ctx context.Context) (*pgconn.PgConn, error) {
	conn, err := connect(ctx, s.config, s.place.Connection)
	if err != nil {
		return nil, err
	}
	if err = begin(ctx, conn, s.place.Timeout, "REPEATABLE READ"); err == nil {
		err = run(ctx, conn, "the snapshot", s.importStatement())
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(context.Background()))
	}
	return conn, nil
}

// importStatement returns the statement by which a transaction sees the snapshot.
func (s *Snapshot) importStatement() string {
	return "SET TRANSACTION SNAPSHOT '" + strings.ReplaceAll(s.id, "'", "''") + "'"
}

// Close ends the transaction.
func (s *Snapshot) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = s.holder.Close(ctx) // a connection that is broken has nothing left to end
	return nil
}

// begin starts a transaction that can only read, in a session that can do no more.
func begin(ctx context.Context, c *pgconn.PgConn, timeout time.Duration, isolation string) error {
	only := []string{"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"}
	for _, sql := range append(append(only, settings(timeout)...), "BEGIN ISOLATION LEVEL "+isolation+" READ ONLY") {
		if err := run(ctx, c, "the session", sql); err != nil {
			return err
		}
	}
	return nil
}

// settings returns statements after which a session changes no value. Only what the server itself brings has its bare
// name there: another schema of the role's path may have a type text or an operator = of its own.
func settings(timeout time.Duration) []string {
	return []string{
		"SET search_path = pg_catalog, pg_temp",
		"SET standard_conforming_strings = on",
		"SET extra_float_digits = 1", // these two spell a row for its hash
		"SET DateStyle = ISO",
		"SET jit = off",
		"SET max_parallel_workers_per_gather = 0",
		"SET synchronize_seqscans = off",
		fmt.Sprintf("SET statement_timeout = %d", timeout.Milliseconds()),
		"SET idle_in_transaction_session_timeout = 0",
		// A server looks after the client of a running statement, which else goes on when weir is killed. An older one has
		// not all of these; not every system can.
		`SELECT pg_catalog.set_config(s.name, v.value, false) FROM pg_catalog.pg_settings s JOIN (VALUES ('client_connection_check_interval', '1000'),
  ('idle_session_timeout', '0')) v (name, value) ON s.name = v.name WHERE pg_catalog.version() LIKE '%linux%' OR v.value = '0'`,
	}
}
