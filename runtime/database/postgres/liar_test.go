package postgres

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"weir/runtime/database/sql"
)

// liar returns a connection to a server that carries every statement out, and answers with these rows whatever was
// asked.
func liar(t *testing.T, rows ...[][]byte) *pgconn.PgConn {
	t.Helper()
	config, err := pgconn.ParseConfig("host=127.0.0.1 user=x sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go lie(pgproto3.NewBackend(there, there), rows)
		return here, nil
	}
	c, err := pgconn.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lie(b *pgproto3.Backend, rows [][][]byte) {
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for b.Flush() == nil {
		message, err := b.Receive()
		if err != nil {
			return
		}
		switch message.(type) {
		case *pgproto3.Parse:
			b.Send(&pgproto3.ParseComplete{})
		case *pgproto3.Bind:
			b.Send(&pgproto3.BindComplete{})
		case *pgproto3.Describe:
			b.Send(&pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, 1)})
		case *pgproto3.Execute:
			for _, row := range rows {
				b.Send(&pgproto3.DataRow{Values: row})
			}
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
		case *pgproto3.Query:
			b.Send(&pgproto3.EmptyQueryResponse{})
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		case *pgproto3.Sync:
			b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		}
	}
}

// TestServersThatLie: answers of no row, of more, and of other cells than were asked for are an error, and never a
// panic.
func TestServersThatLie(t *testing.T) {
	for what, rows := range map[string][][][]byte{"no row": nil, "a cell": {{[]byte("1")}},
		"two rows": {{nil, nil, nil, nil}, {nil, nil, nil, nil}}} {
		s := &Snapshot{holder: liar(t, rows...)}
		if err := s.canKeep(t.Context()); err == nil || !strings.Contains(err.Error(),
			"another number of rows or cells than was asked for") {
			t.Errorf("%s: the server's settings: %v", what, err)
		}
		if _, err := facts(t.Context(), liar(t, rows...), "s.t", []string{"a"}); err == nil {
			t.Errorf("%s: a table is found", what)
		}
		c := &Counting{snapshot: s, dialect: sql.Postgres()}
		if _, err := c.keep(t.Context(), liar(t, rows...), 1, "SELECT 1 AS c0"); err == nil {
			t.Errorf("%s: codes are kept", what)
		}
	}
}
