package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/jackc/pgx/v5/pgconn"
)

// Standing is what there is at a place that a table is to be written to.
type Standing struct {
	Exists bool   // something of that name is there
	Mark   string // comment of what is there
	Session
}

// Look asks who writes at a place, and what is there already. It refuses a role that can more than it needs, a schema
// in which it cannot make a table, and names that the server would cut. It changes nothing.
func Look(ctx context.Context, place Place, names []string) (Standing, error) {
	if err := checkNames(place.Table, names); err != nil {
		return Standing{}, err
	}
	c, err := place.connect(ctx)
	if err != nil {
		return Standing{}, err
	}
	defer closing(c)
	return look(ctx, c, place)
}

// look looks, as Look does, over a connection.
func look(ctx context.Context, c *pgconn.PgConn, place Place) (s Standing, err error) {
	schema, table, _ := Split(place.Table) // was checked
	rows, err := texts(ctx, c, "the schema's description", 4, `
SELECT pg_catalog.current_setting('is_superuser'),
  pg_catalog.has_schema_privilege(n.oid, 'CREATE') AND pg_catalog.has_schema_privilege(n.oid, 'USAGE'), c.oid IS NOT NULL,
  pg_catalog.obj_description(c.oid, 'pg_class')
FROM pg_catalog.pg_namespace n LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = $2::text
WHERE n.nspname = $1::text`, schema, table)
	if err != nil {
		return s, err
	}
	if len(rows) != 1 {
		return s, fmt.Errorf("schema: %s is not in the database, must be one that is there", schema)
	}
	var errs []error
	if rows[0][0] == "on" {
		errs = append(errs, errors.New("role: is a superuser, must be one that may create tables in the schema and no more"))
	}
	if rows[0][1] != "t" {
		errs = append(errs, fmt.Errorf("role: cannot create a table in the schema %s, must have CREATE and USAGE there",
			schema))
	}
	s.Exists, s.Mark = rows[0][2] == "t", rows[0][3]
	s.Session, err = sessionOf(ctx, c)
	return s, errors.Join(append(errs, err)...)
}

// longestName is the most bytes of a name: of a longer one the server keeps the first (PostgreSQL 15, section 4.1.1).
const longestName = 63

// checkNames refuses names that the server would not take as they are.
func checkNames(place string, columns []string) error {
	schema, table, err := Split(place)
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	for _, name := range append([]string{schema, table}, columns...) {
		if len(name) > longestName || name == "" || strings.ContainsRune(name, 0) || !utf8.ValidString(name) {
			return fmt.Errorf("the name %q: has %d bytes, must have 1 to %d of UTF-8, none of them 0",
				name, len(name), longestName)
		}
	}
	return nil
}

// connect opens a session that can write.
func (p Place) connect(ctx context.Context) (*pgconn.PgConn, error) {
	config, err := p.config()
	if err != nil {
		return nil, err
	}
	c, err := connect(ctx, config, p.Connection)
	if err != nil {
		return nil, err
	}
	err = run(ctx, c, "the session", fmt.Sprintf("SET search_path = pg_catalog, pg_temp; "+
		"SET standard_conforming_strings = on; SET statement_timeout = %d", p.Timeout.Milliseconds()))
	if err != nil {
		closing(c)
	}
	return c, err
}

// closing ends a connection; what is not committed never was.
func closing(c *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// Write makes the table of a place, with all rows, or none: one transaction creates it, copies the rows and comments
// it. The comment is mark and a digest of the rows. Something that is there under the name is left as it is: with the
// comment that this table would have it is taken for this table (made is false), with any other it is an error.
func Write(ctx context.Context, place Place, schema *arrow.Schema, rows iter.Seq2[arrow.Record, error],
	mark string) (made bool, err error) {
	w, err := newWriting(place, schema, mark)
	if err != nil {
		return false, err
	}
	c, err := place.connect(ctx)
	if err != nil {
		return false, err
	}
	defer closing(c)
	s, err := look(ctx, c, place)
	if err != nil {
		return false, err
	}
	if s.Exists {
		return false, w.same(rows, s.Mark)
	}
	return true, w.send(ctx, c, rows)
}

// writing is a table that is written.
type writing struct {
	name   string // in quotes
	schema *arrow.Schema
	mark   string
	kinds  []kind
	sum    string // digest of the rows, once they were encoded
}

func newWriting(place Place, schema *arrow.Schema, mark string) (*writing, error) {
	operand, table, err := Split(place.Table)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	w := &writing{name: quoted(operand) + "." + quoted(table), schema: schema, mark: mark}
	for _, f := range schema.Fields() {
		k, ok := written(f.Type)
		if !ok {
			return nil, fmt.Errorf("column %q: is of the type %s, must be a number or text", f.Name, f.Type)
		}
		w.kinds = append(w.kinds, k)
	}
	return w, nil
}

// written returns the kind as which a type is written.
func written(t arrow.DataType) (kind, bool) {
	for _, k := range []kind{whole, double, flag, text, day, moment, momentZoned, clock} {
		if arrow.TypeEqual(t, k.arrow()) {
			return k, true
		}
	}
	return 0, false
}

// storedAs names the type of a column that is written.
func (k kind) storedAs() string {
	return map[kind]string{whole: "int8", double: "float8", flag: "bool", text: "text", day: "date", moment: "timestamp",
		momentZoned: "timestamptz", clock: "time"}[k]
}

// creating returns the statement that makes the table, for the transaction that fills it.
func (w *writing) creating() string {
	var list []string
	for i, f := range w.schema.Fields() {
		column := quoted(f.Name) + " pg_catalog." + w.kinds[i].storedAs()
		if !f.Nullable {
			column += " NOT NULL"
		}
		list = append(list, column)
	}
	return "CREATE TABLE " + w.name + " (" + strings.Join(list, ", ") + ")"
}

// comment returns the comment that the finished table carries on the server.
func (w *writing) comment() string { return w.mark + ", rows sha256:" + w.sum }

// send makes the table. Whatever ends it before the last statement leaves nothing.
func (w *writing) send(ctx context.Context, c *pgconn.PgConn, rows iter.Seq2[arrow.Record, error]) error {
	if err := run(ctx, c, "the new table", "BEGIN; "+w.creating()); err != nil {
		return err
	}
	out, in := io.Pipe()
	encoded := make(chan error, 1)
	go func() {
		err := w.encode(in, rows)
		encoded <- err
		_ = in.CloseWithError(err) // the copy gets it; io.EOF where it is nil
	}()
	_, err := c.CopyFrom(ctx, out, "COPY "+w.name+" FROM STDIN (FORMAT binary)")
	_ = out.Close() // ends the encoding where the copy ended first
	if failed := <-encoded; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return failed
	}
	if err := refusal(ctx, "the rows", err); err != nil {
		return err
	}
	text := "'" + strings.ReplaceAll(w.comment(), "'", "''") + "'"
	return run(ctx, c, "the end of the new table", "COMMENT ON TABLE "+w.name+" IS "+text+"; COMMIT")
}

// same refuses a table that is there and has not the comment of this one.
func (w *writing) same(rows iter.Seq2[arrow.Record, error], mark string) error {
	if strings.HasPrefix(mark, w.mark+",") {
		if err := w.encode(io.Discard, rows); err != nil {
			return err
		}
		if mark == w.comment() {
			return nil
		}
	}
	return ErrExists
}

// ErrExists marks a name under which there is something else than the table to be written.
var ErrExists = errors.New("exists on the server and is not replaced, must be a name that is free there: " +
	"drop the table, or choose another name")

// encode writes all rows as COPY takes them in its binary form.
func (w *writing) encode(dst io.Writer, rows iter.Seq2[arrow.Record, error]) error {
	hash := sha256.New()
	dst = io.MultiWriter(dst, hash)
	b := append(append([]byte(nil), signature...), make([]byte, 8)...)
	for record, err := range rows {
		if err != nil {
			return err
		}
		for i := range int(record.NumRows()) {
			b = binary.BigEndian.AppendUint16(b, uint16(len(w.kinds)))
			for j, k := range w.kinds {
				b = k.put(b, record.Column(j), i)
			}
			if len(b) > 1<<16 {
				if _, err := dst.Write(b); err != nil {
					return err
				}
				b = b[:0]
			}
		}
	}
	if _, err := dst.Write(append(b, 0xff, 0xff)); err != nil {
		return err
	}
	w.sum = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// put appends a cell with its length in front, as add reads it.
func (k kind) put(b []byte, a arrow.Array, i int) []byte {
	if a.IsNull(i) {
		return append(b, 0xff, 0xff, 0xff, 0xff)
	}
	switch a := a.(type) {
	case *array.Int64:
		return long(b, uint64(a.Value(i)))
	case *array.Float64:
		return long(b, math.Float64bits(a.Value(i)))
	case *array.Timestamp:
		return long(b, uint64(int64(a.Value(i))-epoch*dayLong))
	case *array.Time64:
		return long(b, uint64(a.Value(i)))
	case *array.Date32:
		return binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 4), uint32(int32(a.Value(i))-epoch))
	case *array.Boolean:
		if a.Value(i) {
			return append(b, 0, 0, 0, 1, 1)
		}
		return append(b, 0, 0, 0, 1, 0)
	}
	text := a.(*array.String).Value(i)
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}

// long appends a cell of eight bytes.
func long(b []byte, bits uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), bits)
}
