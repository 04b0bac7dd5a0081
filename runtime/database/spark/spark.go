// Package spark counts the rows of a table of a Spark cluster, through its Thrift server, which speaks the protocol of
// HiveServer2 (interface TCLIService of Apache Hive). Rows stay where they are: what crosses is what the catalogue says
// of the table, and whole numbers.
//
// An error of this package says which request the server refused and its SQLSTATE, never a word of the server: its
// messages quote cells and whole statements.
package spark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Place is where a table lies.
type Place struct {
	Connection string                   // env:NAME; never the words of a connection
	Table      string                   // SCHEMA.TABLE or CATALOG.SCHEMA.TABLE, without quotes
	Version    string                   // of a table that keeps versions, in digits; "": as it is when it is read
	Scratch    string                   // schema in which codes are kept for a run
	Timeout    time.Duration            // of one statement; 0: none
	Env        func(name string) string // an environment variable
}

// Split returns the parts of a name. They are quoted one by one, and never parsed by the server.
func Split(name string) ([]string, error) {
	parts := strings.Split(name, ".")
	for _, part := range parts {
		if part == "" || strings.ContainsRune(part, 0) || len(parts) < 2 || len(parts) > 3 {
			return nil, fmt.Errorf("is %q, must be SCHEMA.TABLE or CATALOG.SCHEMA.TABLE", name)
		}
	}
	return parts, nil
}

// quoted returns a name in Spark's quotes, part by part.
func quoted(parts ...string) string {
	parts = slices.Clone(parts)
	for i, part := range parts {
		parts[i] = "`" + strings.ReplaceAll(part, "`", "``") + "`"
	}
	return strings.Join(parts, ".")
}

// Session is a table of a server, and how to reach it.
type Session struct {
	Table   Table
	Version string // of Spark

	place   Place
	name    []string
	address address
}

// link is a session of the server on a connection of its own. It is used by one goroutine at a time.
type link struct {
	client  *client
	handle  message
	guid    []byte // what the server calls the session
	timeout time.Duration
}

// Open looks a table up. It holds nothing open.
func Open(ctx context.Context, place Place) (*Session, error) {
	a, err := place.address()
	if err != nil {
		return nil, err
	}
	name, err := Split(place.Table)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	s := &Session{place: place, address: a, name: name}
	l, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if s.Version, err = l.version(ctx); err == nil {
		s.Table, err = l.facts(ctx, place, name)
	}
	return s, errors.Join(err, l.close())
}

// settings lists what each session of the server sets, whatever the defaults are: what a statement computes, and that
// it computes it of all rows. A name may hold ${...}, which is none of the server's variables. Two are for time: layers
// are not collapsed into one, which copies what the lower computes into each use of it, at every layer anew; and the
// JVM compiles no method above 8000 bytes, which is then many times slower than none.
func settings() [][2]string {
	return [][2]string{
		{"spark.sql.variable.substitute", "false"},
		{"spark.sql.parser.escapedStringLiterals", "false"},
		{"spark.sql.ansi.enabled", "true"},
		{"spark.sql.caseSensitive", "true"},
		{"spark.sql.session.timeZone", "UTC"},
		{"spark.sql.files.ignoreCorruptFiles", "false"},
		{"spark.sql.files.ignoreMissingFiles", "false"},
		{"spark.sql.codegen.hugeMethodLimit", "8000"},
		{"spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer.CollapseProject"},
	}
}

// connect opens a link, and reads back each of its settings.
func (s *Session) connect(ctx context.Context) (*link, error) {
	c, err := newClient(ctx, s.address, s.place.Connection)
	if err != nil {
		return nil, err
	}
	l := &link{client: c, timeout: s.place.Timeout}
	err = l.begin(ctx, s.address.user)
	for _, one := range settings() {
		var rows [][]string
		if err == nil {
			rows, err = l.rows(ctx, "the setting "+one[0], "SET "+one[0]+"="+one[1], 2)
		}
		if err == nil && (len(rows) != 1 || rows[0][1] != one[1]) {
			err = fmt.Errorf("server: refuses the setting %s=%s, must take it", one[0], one[1])
		}
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// close ends a link; the server lets its session go.
func (l *link) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if l.handle != nil {
		_, _ = l.client.call(ctx, "CloseSession", message{{1, l.handle}}) // a session whose connection is lost ends by itself
	}
	return l.client.Close()
}
