package postgres

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// sent returns a reading of what a server sends: a text and a whole number a row.
func sent(data []byte) *Reading {
	t := Table{Columns: []Column{{Name: "a", Stored: "text", kind: text}, {Name: "b", Stored: "int8", kind: whole}}}
	r := &Reading{columns: t.Columns, done: make(chan error, 1), hash: sha256.New(),
		rows:  bufio.NewReader(bytes.NewReader(data)),
		build: array.NewRecordBuilder(memory.DefaultAllocator, t.Arrow())}
	r.done <- nil
	return r
}

// copied returns what COPY sends of rows of cells; nil is null.
func copied(rows ...[][]byte) []byte {
	b := append(bytes.Clone(signature), make([]byte, 8)...)
	for _, row := range rows {
		b = binary.BigEndian.AppendUint16(b, uint16(len(row)))
		for _, cell := range row {
			if cell == nil {
				b = binary.BigEndian.AppendUint32(b, math.MaxUint32)
				continue
			}
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(cell))), cell...)
		}
	}
	return append(b, 0xff, 0xff)
}

func eight(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// readAll reads what a server sends to its end.
func readAll(data []byte) (rows int64, err error) {
	r := sent(data)
	if err := r.header(); err != nil {
		return 0, err
	}
	for {
		record, err := r.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += record.NumRows()
	}
}

// TestWhatServersSend: whole rows are read, and whatever else comes is an error, never a panic and never fewer rows.
func TestWhatServersSend(t *testing.T) {
	whole := copied([][]byte{[]byte("x"), eight(1)}, [][]byte{nil, nil})
	if n, err := readAll(whole); n != 2 || err != nil {
		t.Fatalf("%d rows, %v; must be 2", n, err)
	}
	for name, data := range map[string][]byte{
		"more columns":        copied([][]byte{[]byte("x"), eight(1), eight(2)}),
		"a number of 4 bytes": copied([][]byte{[]byte("x"), {0, 0, 0, 1}}),
		"text of other bytes": copied([][]byte{{0xff, 0xfe}, eight(1)}),
		"a cell of 2 GB":      append(append(bytes.Clone(whole[:19]), 0, 2), 0x7f, 0xff, 0xff, 0xff),
		"more behind the end": append(bytes.Clone(whole), 0),
	} {
		if _, err := readAll(data); err == nil {
			t.Errorf("%s: is read", name)
		}
	}
	for n := range whole {
		if _, err := readAll(whole[:n]); err == nil {
			t.Errorf("what is cut behind %d of %d bytes is read", n, len(whole))
		}
	}
}

func FuzzRows(f *testing.F) {
	f.Add(copied([][]byte{[]byte("x"), eight(1)}))
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = readAll(data) })
}

// TestInfiniteTimesStayOutOfEveryDomain: the server's infinite times are the ends of its integers.
func TestInfiniteTimesStayOutOfEveryDomain(t *testing.T) {
	for _, c := range []struct{ from, want int64 }{{0, epoch}, {math.MaxInt32, math.MaxInt32},
		{math.MinInt32, math.MinInt32 + 1}, {math.MaxInt32 - epoch, math.MaxInt32}} {
		if got := shifted(c.from, epoch, math.MinInt32, math.MaxInt32); got != c.want {
			t.Errorf("%d becomes %d, must be %d", c.from, got, c.want)
		}
	}
}

// TestConnectionsAreReferences: a spec holds no password, and no network is trusted without a proof.
func TestConnectionsAreReferences(t *testing.T) {
	for _, bad := range []string{"", "service:", "postgres://u:secret@h/d", "host=h password=secret", "vault:x"} {
		if err := CheckConnection(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for words, ok := range map[string]bool{
		"host=/run/pg user=u":                                   true,
		"host=127.0.0.1 user=u":                                 true,
		"host=localhost user=u":                                 true,
		"postgres://u@db.example/d":                             false,
		"postgres://u@db.example/d?sslmode=require":             false,
		"postgres://u@db.example/d?sslmode=verify-full":         true,
		"postgres://u@127.0.0.1,db.example/d?sslmode=disable":   false,
		"host=/run/pg,db.example sslmode=prefer user=u":         false,
		"postgres://u:secret@db.example:port/d?sslmode=disable": false,
	} {
		_, err := Place{Connection: "env:X", Env: func(string) string { return words }}.config()
		if (err == nil) != ok || err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(),
			"example")) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// TestStatementsHoldNamesInQuotes: a name is one identifier, whatever it holds.
func TestStatementsHoldNamesInQuotes(t *testing.T) {
	table := Table{Schema: `s"; DROP TABLE x; --`, Name: "t", Columns: []Column{{Name: `a" FROM y --`, kind: whole},
		{Name: "b", kind: day}}}
	want := `COPY (SELECT ("a"" FROM y --")::int8, "b" FROM "s""; DROP TABLE x; --"."t" ORDER BY md5(ROW(("a"" FROM y --")::int8, "b")::text), 1, 2) TO STDOUT (FORMAT binary)`
	if got := table.copying(); got != want {
		t.Errorf("%s\nmust be\n%s", got, want)
	}
	if got := table.Arrow().Field(1).Type.ID(); got != arrow.DATE32 {
		t.Errorf("a date is read as %s", got)
	}
}

// TestStatesAreNamed: of a server's error its SQLSTATE is told, and what it begins with, where it is one of the
// server's own: a view's function may raise one of five letters of a cell.
func TestStatesAreNamed(t *testing.T) {
	for code, want := range map[string]string{"22P02": "22P02, data exception",
		"57014": "57014, cancelled, such as by the timeout", "42501": "42501, access rule or syntax",
		"22ANN": "with a SQLSTATE that is not repeated here", "ALICE": "with a SQLSTATE that is not repeated here",
		"x": "with a SQLSTATE that is not repeated here", "": "with a SQLSTATE that is not repeated here"} {
		if got := describeCode(code); got != want {
			t.Errorf("%s is told as %q, must be %q", code, got, want)
		}
	}
}

// TestPostgresRowSecurity: a table of which policies show the role a part is told from others; its owner sees all.
func TestPostgresRowSecurity(t *testing.T) {
	s := newServer(t)
	s.exec(t, `CREATE TABLE @.t (a int)`, `CREATE TABLE @.shown (a int)`, `ALTER TABLE @.shown ENABLE ROW LEVEL SECURITY`,
		`CREATE POLICY p ON @.shown USING (a > 0)`)
	for name, policed := range map[string]bool{"t": false, "shown": true} {
		if got := open(t, s.placeAs(s.role, name), "a").Table.Policed; got != policed {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestPostgresForeignRows: a table is refused of which a part lies on another server, which has no snapshot of ours: a
// partition, or a table that inherits.
func TestPostgresForeignRows(t *testing.T) {
	s := newServer(t)
	t.Cleanup(func() { s.exec(t, `DROP FOREIGN DATA WRAPPER @_far CASCADE`) })
	s.exec(t, `CREATE FOREIGN DATA WRAPPER @_far`, `CREATE SERVER @_far FOREIGN DATA WRAPPER @_far`,
		`CREATE TABLE @.parted (a int) PARTITION BY LIST (a)`,
		`CREATE FOREIGN TABLE @.part PARTITION OF @.parted DEFAULT SERVER @_far`,
		`CREATE TABLE @.parent (a int)`, `CREATE TABLE @.child () INHERITS (@.parent)`,
		`CREATE FOREIGN TABLE @.grandchild () INHERITS (@.child) SERVER @_far`,
		`CREATE TABLE @.other (a int)`, `CREATE TABLE @.heir () INHERITS (@.other)`)
	for name, refused := range map[string]bool{"part": true, "parted": true, "parent": true, "child": true,
		"other": false} {
		_, err := facts(t.Context(), open(t, s.placeAs(s.role, "other"), "a").holder, s.schema+"."+name, []string{"a"})
		if (err != nil && strings.Contains(err.Error(), "is foreign")) != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
