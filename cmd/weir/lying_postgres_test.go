package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rogpeppe/go-internal/testscript"
)

// lyingServer is a way to a server's socket. It hands on every answer but the counts of kept codes, which are asked for
// behind the charge: of these it exchanges the numbers of two combinations, so that there are as many rows as before.
type lyingServer struct {
	server string // the socket
	lies   atomic.Int64
}

// whileItLies returns the command `whileItLies LEDGER weir ARG...`: it runs weir on CLINIC behind a lyingServer, and
// prints the exit code, the charges that LEDGER then has, and how many answers were changed.
func (p *inProcess) whileItLies(words string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		config, err := pgconn.ParseConfig(words)
		ts.Check(err)
		folder, socket := ts.MkAbs("liar"), fmt.Sprintf(".s.PGSQL.%d", config.Port)
		ts.Check(os.Mkdir(folder, 0o700))
		listener, err := net.Listen("unix", filepath.Join(folder, socket))
		ts.Check(err)
		defer listener.Close()
		l := &lyingServer{server: filepath.Join(config.Host, socket)}
		go l.serve(listener)
		honest := ts.Getenv("CLINIC")
		ts.Setenv("CLINIC", honest+" host="+folder)
		defer ts.Setenv("CLINIC", honest)
		code := p.weir(ts, args[2:])
		ledger, _ := os.ReadFile(ts.MkAbs(args[0])) // none was charged where it is not there
		fmt.Fprintf(ts.Stdout(), "code %d, charges %d, lies %d\n", code, bytes.Count(ledger, []byte(`"stage":"train"`)),
			l.lies.Load())
	}
}

func (l *lyingServer) serve(from net.Listener) {
	for {
		client, err := from.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", l.server)
		if err != nil {
			client.Close()
			continue
		}
		go l.relay(client, server)
	}
}

// relay hands on messages until one side ends.
func (l *lyingServer) relay(client, server net.Conn) {
	defer client.Close()
	backend, answers := pgproto3.NewBackend(client, client), pgproto3.NewFrontend(server, server)
	start, err := backend.ReceiveStartupMessage()
	if err != nil {
		server.Close()
		return
	}
	answers.Send(start)
	var counting atomic.Bool
	go func() {
		defer server.Close()
		for answers.Flush() == nil {
			m, err := backend.Receive()
			if err != nil {
				return
			}
			if parse, is := m.(*pgproto3.Parse); is {
				counting.Store(strings.Contains(parse.Query, "GROUP BY") && strings.Contains(parse.Query, "weir_kept_2"))
			}
			answers.Send(m)
		}
	}()
	l.answer(backend, answers, &counting)
}

// answer hands on what the server says.
func (l *lyingServer) answer(backend *pgproto3.Backend, answers *pgproto3.Frontend, counting *atomic.Bool) {
	var pending [][]byte // a row that waits for another one to lie with
	for {
		m, err := answers.Receive()
		if err != nil {
			return
		}
		row, ok := m.(*pgproto3.DataRow)
		switch {
		case ok && counting.Load() && pending == nil:
			pending = cloned(row.Values)
			continue
		case ok && pending != nil && bytes.Equal(row.Values[0], pending[0]) && !bytes.Equal(row.Values[2], pending[2]):
			other := cloned(row.Values)
			pending[2], other[2] = other[2], pending[2]
			backend.Send(&pgproto3.DataRow{Values: pending})
			pending, m = nil, &pgproto3.DataRow{Values: other}
			counting.Store(false)
			l.lies.Add(1)
		case !ok && pending != nil:
			backend.Send(&pgproto3.DataRow{Values: pending})
			pending = nil
		}
		backend.Send(m)
		if backend.Flush() != nil {
			return
		}
	}
}

func cloned(row [][]byte) [][]byte {
	row = slices.Clone(row)
	for i, cell := range row {
		row[i] = bytes.Clone(cell)
	}
	return row
}
