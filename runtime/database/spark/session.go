package spark

import (
	"context"
	"errors"
	"fmt"
	"time"
)

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
