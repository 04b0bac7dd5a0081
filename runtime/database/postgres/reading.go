package postgres

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/jackc/pgx/v5/pgconn"
)

// batchRows is the most rows of a record.
const batchRows = 1 << 14

// longestCell bounds a cell in memory; no category or text of a domain is as long.
const longestCell = 1 << 24

// Reading is one reading of a snapshot's rows, from the first to the last, on a connection of its own.
//
// The rows come ordered by a public hash of each, then by every column that is read, text by its bytes: equal rows have
// one order, whatever lies where on the server, and rows that are equal in all columns cannot be told apart. So the
// digest of a reading is one of the rows, and draws that go by their order fall alike in a restored copy. The hash
// comes first because a cap keeps the first rows of each unit: in the order of the columns it would keep the least
// values.
type Reading struct {
	conn    *pgconn.PgConn
	rows    *bufio.Reader
	end     context.CancelFunc
	done    chan error // of the copy, once
	build   *array.RecordBuilder
	columns []Column
	hash    hash.Hash
	digest  string
}

// Read begins a reading. The context ends it.
func (s *Snapshot) Read(ctx context.Context) (*Reading, error) {
	conn, err := s.join(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	out, in := io.Pipe()
	r := &Reading{conn: conn, end: cancel, done: make(chan error, 1), columns: s.Table.Columns, hash: sha256.New(),
		build: array.NewRecordBuilder(memory.DefaultAllocator, s.Table.Arrow())}
	for _, c := range s.Table.Columns {
		fmt.Fprintf(r.hash, "%q %d ", c.Name, c.kind)
	}
	r.rows = bufio.NewReaderSize(io.TeeReader(out, r.hash), 1<<18)
	go func() {
		many := bufio.NewWriterSize(in, 1<<16) // a row is a message, and each write wakes the reader
		_, err := conn.CopyTo(ctx, many, s.Table.copying())
		if rest := many.Flush(); err == nil {
			err = rest
		}
		err = refusal(ctx, "the rows", err)
		r.done <- err
		_ = in.CloseWithError(err) // the reader gets it; io.EOF where it is nil
	}()
	if err := r.header(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// copying returns the statement that sends all rows.
func (t Table) copying() string {
	var list, places []string
	for i, c := range t.Columns {
		list, places = append(list, c.kind.expression(c.Name)), append(places, fmt.Sprint(i+1))
	}
	columns := strings.Join(list, ", ")
	return "COPY (SELECT " + columns + " FROM " + t.name() + " ORDER BY md5(ROW(" + columns + ")::text), " +
		strings.Join(places, ", ") + ") TO STDOUT (FORMAT binary)"
}

// signature begins what COPY sends in its binary form; flags and the length of an extension follow.
var signature = []byte("PGCOPY\n\xff\r\n\x00")

func (r *Reading) header() error {
	head := make([]byte, len(signature)+8)
	if _, err := io.ReadFull(r.rows, head); err != nil {
		return r.broken(err)
	}
	if !bytes.Equal(head[:len(signature)], signature) || !bytes.Equal(head[len(signature):], make([]byte, 8)) {
		return errors.New("the database sends rows that are not PostgreSQL's binary COPY, must send that")
	}
	return nil
}

// broken says why rows ended before their end.
func (r *Reading) broken(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the database stops within the rows, must send all; run it again")
	}
	return err
}

// Next returns the next record, or io.EOF after the last.
func (r *Reading) Next() (arrow.Record, error) {
	if r.digest != "" {
		return nil, io.EOF
	}
	n := 0
	for ; n < batchRows; n++ {
		more, err := r.row()
		if err != nil {
			return nil, err
		}
		if !more {
			if err := r.finish(); err != nil {
				return nil, err
			}
			break
		}
	}
	if n == 0 {
		return nil, io.EOF
	}
	return r.build.NewRecord(), nil
}

// row reads a row; more is false at the end.
func (r *Reading) row() (more bool, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r.rows, head[:2]); err != nil {
		return false, r.broken(err)
	}
	if fields := int16(binary.BigEndian.Uint16(head[:2])); fields != int16(len(r.columns)) {
		if fields == -1 {
			return false, nil
		}
		return false, fmt.Errorf("the database sends a row of %d columns, must be %d", fields, len(r.columns))
	}
	for i, c := range r.columns {
		cell, err := r.cell(head[:])
		if err == nil {
			err = c.kind.add(r.build.Field(i), cell)
		}
		if err != nil {
			return false, fmt.Errorf("column %q: %w", c.Name, err)
		}
	}
	return true, nil
}

// cell reads a cell; it is valid until the next.
func (r *Reading) cell(head []byte) ([]byte, error) {
	if _, err := io.ReadFull(r.rows, head); err != nil {
		return nil, r.broken(err)
	}
	n := int32(binary.BigEndian.Uint32(head))
	switch {
	case n == -1:
		return nil, nil
	case n < 0 || n > longestCell:
		return nil, fmt.Errorf("has a cell of more than %d bytes, must have at most that", longestCell)
	}
	if n <= int32(r.rows.Size()) {
		cell, err := r.rows.Peek(int(n))
		if err != nil {
			return nil, r.broken(err)
		}
		_, err = r.rows.Discard(int(n))
		return cell, err
	}
	cell := make([]byte, n)
	_, err := io.ReadFull(r.rows, cell)
	if err != nil {
		return nil, r.broken(err)
	}
	return cell, nil
}

// finish waits for the end of the copy.
func (r *Reading) finish() error {
	if _, err := r.rows.ReadByte(); err != io.EOF {
		return errors.New("the database sends data behind the last row, must send none")
	}
	if err := <-r.done; err != nil {
		return err
	}
	r.digest = hex.EncodeToString(r.hash.Sum(nil))
	return nil
}

// Digest returns what tells the rows from all others, names and order of the columns among them; "" before the end.
func (r *Reading) Digest() string { return r.digest }

// Close ends the reading, whether all rows were read or not.
func (r *Reading) Close() {
	r.end()
	r.build.Release()
	_ = r.conn.Close(context.Background()) // what it was closed for is known already
}
