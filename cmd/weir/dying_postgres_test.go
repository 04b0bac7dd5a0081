package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/testscript"
)

// dyingServer is a way to a server's socket that is cut when a client asks for more than so many answers.
type dyingServer struct {
	server string // the socket
	mu     sync.Mutex
	lives  int
	conns  []net.Conn
}

// untilItAnswers returns the command `untilItAnswers LEDGER weir ARG...`: it runs weir on CLINIC while the server dies
// after no answer, after one, and so on until weir succeeds, and prints the exit code and the charges that LEDGER then
// has.
func (p *inProcess) untilItAnswers(words string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		config, err := pgconn.ParseConfig(words)
		ts.Check(err)
		socket := fmt.Sprintf(".s.PGSQL.%d", config.Port)
		folder := ts.MkAbs("server")
		ts.Check(os.Mkdir(folder, 0o700))
		listener, err := net.Listen("unix", filepath.Join(folder, socket))
		ts.Check(err)
		defer listener.Close()
		d := &dyingServer{server: filepath.Join(config.Host, socket)}
		go d.serve(listener)
		clinic := ts.Getenv("CLINIC")
		ts.Setenv("CLINIC", clinic+" host="+folder)
		defer ts.Setenv("CLINIC", clinic)
		for lives, code := 0, exitFailed; code != exitDone; lives++ {
			if lives > 100 {
				ts.Fatalf("weir does not succeed with 100 answers")
			}
			d.restart(lives)
			code = p.weir(ts, args[2:])
			ledger, _ := os.ReadFile(ts.MkAbs(args[0])) // none was charged where it is not there
			fmt.Fprintf(ts.Stdout(), "code %d, charges %d\n", code, bytes.Count(ledger, []byte(`"stage":"train"`)))
		}
	}
}

func (d *dyingServer) restart(lives int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lives = lives
}

func (d *dyingServer) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", d.server)
		if err != nil {
			client.Close()
			continue
		}
		d.mu.Lock()
		d.conns = append(d.conns, client, server)
		d.mu.Unlock()
		go io.Copy(client, server)
		go d.forward(client, server)
	}
}

// forward passes on what a client sends, message by message (PostgreSQL 15, section 55.7), while the server lives.
func (d *dyingServer) forward(client, server net.Conn) {
	defer server.Close()
	defer client.Close()
	for head := 4; ; head = 5 { // the first message has no letter
		message := make([]byte, head)
		if _, err := io.ReadFull(client, message); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(message[head-4:])-4)
		if _, err := io.ReadFull(client, body); err != nil || head == 5 && isQuery(message[0], body) && !d.answers() {
			return
		}
		if _, err := server.Write(append(message, body...)); err != nil {
			return
		}
	}
}

// isQuery tells a statement that is about the table from those that prepare a connection.
func isQuery(letter byte, body []byte) bool {
	text := string(body)
	return letter == 'P' || letter == 'Q' && (strings.HasPrefix(text, "INSERT") || strings.HasPrefix(text, "CREATE"))
}

// answers takes a life, and ends all connections where none is left.
func (d *dyingServer) answers() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lives--; d.lives >= 0 {
		return true
	}
	for _, c := range d.conns {
		c.Close()
	}
	d.conns = nil
	return false
}
