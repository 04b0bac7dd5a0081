package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/runtime/database/postgres"
	"weir/runtime/database/sql"
	"weir/runtime/table"
	"weir/schema"
)

// server is a table or view of a PostgreSQL server.
type server struct {
	name string
	*DatabaseTable
}

// nameOfTable is what a table may be called: a part of the name of a file everywhere.
const nameOfTable = `^[A-Za-z0-9_-]{1,100}$`

func (s server) declare(ps *schema.Problems, under pipeline.Declaring) pipeline.Declared {
	checkServer(ps, s.name, under.CSV)
	if err := postgres.CheckConnection(s.Connection); err != nil {
		ps.Add("database.connection", "not repeated here", "service:NAME or env:NAME; what it refers to stays outside of "+
			"the spec")
	}
	if _, _, err := postgres.Split(s.Table); err != nil {
		ps.Add("database.table", fmt.Sprintf("%q", s.Table), "SCHEMA.TABLE")
	}
	place := s.Engine + " " + s.Table
	return pipeline.Declared{Name: s.name, Full: "database: " + place, Place: place, Home: pipeline.Elsewhere(s.name),
		Where: place + " of " + s.Connection, Program: "PostgreSQL", Stays: s.Rows == stay, Sample: s.Sample}
}

// checkServer refuses what no table of a server can be called, and settings of text files.
func checkServer(ps *schema.Problems, name string, csv *pipeline.CSV) {
	if !regexp.MustCompile(nameOfTable).MatchString(name) {
		ps.Add("name", fmt.Sprintf("%q", name), "1 to 100 letters, digits, - and _, by which the ledger of the table is "+
			"called")
	}
	checkCells(ps, csv, "")
	if csv != nil && csv.Delimiter != "" {
		ps.Add("csv.delimiter", fmt.Sprintf("%q", csv.Delimiter), "left out for a table of a server")
	}
}

// open takes a snapshot of the table, which all readings see.
func (s server) open(ctx context.Context, o pipeline.Opening) (pipeline.Opened, error) {
	t, stored, err := s.snapshot(ctx, o.Columns.Names())
	if err != nil {
		return nil, err
	}
	if t.rows, _, err = table.OpenStored(stored, cells(o.CSV), o.Columns, o.Unit); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if s.Rows == stay {
		return s.stay(ctx, t, o)
	}
	return t, nil
}

// browse takes a snapshot of all columns that the role can read and weir knows the types of.
func (s server) browse(ctx context.Context, _ pipeline.Opening) (*Browsed, error) {
	t, stored, err := s.snapshot(ctx, nil)
	if err != nil {
		return nil, err
	}
	b := &Browsed{stored: stored, close: t.Close}
	for _, c := range t.snapshot.Table.Columns {
		b.types, b.labels = append(b.types, c.Stored), append(b.labels, c.Labels())
	}
	for _, c := range t.snapshot.Table.Unread {
		if c.Closed {
			b.notes = append(b.notes, fmt.Sprintf("%s: the role cannot read it, so it is left out", c.Name))
		} else {
			b.unread = append(b.unread, table.UnreadColumn{Name: c.Name, Place: c.Place, Type: c.Stored})
		}
	}
	return b, nil
}

// snapshot connects, and takes a snapshot of columns, or of all.
func (s server) snapshot(ctx context.Context, columns []string) (*openTable, table.Stored, error) {
	place := postgres.Place{Connection: s.Connection, Table: s.Table, Timeout: time.Duration(s.Timeout) * time.Second,
		Env: os.Getenv}
	snapshot, err := postgres.Open(ctx, place, columns)
	if err == nil && s.View == "" {
		if unsigned := unsigned(snapshot.Table); unsigned != nil {
			err = errors.Join(unsigned, snapshot.Close())
		}
	}
	if err != nil {
		return nil, table.Stored{}, fmt.Errorf("%s: %w", s.Table, err)
	}
	t := &openTable{snapshot: snapshot}
	return t, table.Stored{Name: s.Table, Schema: snapshot.Table.Arrow(), Begin: t.begin}, nil
}

// unsigned returns what a spec has to answer for of a table; nil where the server holds it still.
func unsigned(t postgres.Table) error {
	switch {
	case t.View:
		return errView
	case t.Policed:
		return errors.New("has row security, which shows the role some of its rows, must have none; or database.view: " +
			"rows_of_one_unit, " +
			"where what is shown of each row follows from rows of one privacy unit alone")
	}
	return nil
}

// stay returns the table whose rows the server counts.
func (s server) stay(ctx context.Context, t *openTable, o pipeline.Opening) (pipeline.Opened, error) {
	var stored []sql.Stored
	for _, c := range t.snapshot.Table.Columns {
		stored = append(stored, c.StoredColumn())
	}
	columns, err := storedColumns(o.Columns, cells(o.CSV), stored)
	var c *postgres.Counting
	if err == nil {
		c, err = t.snapshot.Counting(ctx, columns, o.Columns.Index(o.Unit), o.MaxRows)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.Table, err), t.Close())
	}
	return &countedByServer{staying{s.Table, o.Columns, counterOf(c, unsigned(t.snapshot.Table) != nil), s.Sample},
		t.snapshot}, nil
}

// countedByServer is an opened table of a server whose rows stay.
type countedByServer struct {
	staying
	snapshot *postgres.Snapshot
}

// Unchanged implements pipeline.Opened: all statements see one snapshot, and a view is looked at again behind all
// that is kept of it.
func (t *countedByServer) Unchanged(context.Context) error { return nil }

// Server implements pipeline.OnServer.
func (t *countedByServer) Server(ctx context.Context) (pipeline.Server, error) {
	return serverOf(ctx, t.snapshot)
}

// Close implements pipeline.Opened.
func (t *countedByServer) Close() error { return errors.Join(t.staying.Close(), t.snapshot.Close()) }

// openTable is an opened table of a server. Its content is the digest of its rows, wherever they lie: a restored copy
// has the same rows.
type openTable struct {
	snapshot *postgres.Snapshot
	rows     pipeline.Table
	mu       sync.Mutex
	content  string // of the first reading that came to its end; "" before
}

// Table implements pipeline.Opened.
func (t *openTable) Table() pipeline.Table { return t.rows }

// Content implements pipeline.Opened.
func (t *openTable) Content(ctx context.Context) (string, error) {
	r, err := t.read(ctx)
	for err == nil {
		var record arrow.Record
		if record, err = r.Next(); err == nil {
			record.Release()
		}
	}
	if r != nil {
		r.Close()
	}
	if err != io.EOF {
		return "", err
	}
	return t.content, nil
}

// Unchanged implements pipeline.Opened: each reading is held against the first when it ends.
func (t *openTable) Unchanged(context.Context) error { return nil }

// Server implements pipeline.OnServer.
func (t *openTable) Server(ctx context.Context) (pipeline.Server, error) {
	return serverOf(ctx, t.snapshot)
}

// serverOf says where a table lies, by the names that the catalogue has.
func serverOf(ctx context.Context, s *postgres.Snapshot) (pipeline.Server, error) {
	session, err := s.Session(ctx)
	place := fmt.Sprintf("postgres %s %q %q %q", session.Server, session.Database, s.Table.Schema, s.Table.Name)
	return pipeline.Server{ID: session.Server, Role: session.Role, Place: place}, err
}

// Close implements pipeline.Opened.
func (t *openTable) Close() error { return t.snapshot.Close() }

// begin begins a reading of the columns at places of those that the snapshot has.
func (t *openTable) begin(ctx context.Context, places []int) (table.StoredRows, error) {
	rows, err := t.read(ctx)
	if err != nil || len(places) == len(t.snapshot.Table.Columns) {
		return rows, err
	}
	return someColumns{rows, places}, nil
}

// someColumns is a reading of which some columns are handed on.
type someColumns struct {
	table.StoredRows
	places []int
}

// Next implements table.StoredRows.
func (r someColumns) Next() (arrow.Record, error) {
	record, err := r.StoredRows.Next()
	if err != nil {
		return nil, err
	}
	var fields []arrow.Field
	var columns []arrow.Array
	for _, i := range r.places {
		fields, columns = append(fields, record.Schema().Field(i)), append(columns, record.Column(i))
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, record.NumRows()), nil
}

// read begins a reading.
func (t *openTable) read(ctx context.Context) (table.StoredRows, error) {
	r, err := t.snapshot.Read(ctx)
	if err != nil {
		return nil, err
	}
	return &tableRows{r, t}, nil
}

// tableRows is a reading that refuses other rows than the first one had, which a view may give: the snapshot holds
// tables still, and no function that a view calls.
type tableRows struct {
	*postgres.Reading
	of *openTable
}

// Next implements table.StoredRows.
func (r *tableRows) Next() (arrow.Record, error) {
	record, err := r.Reading.Next()
	if err != io.EOF {
		return record, err
	}
	return nil, r.of.same(r.Digest())
}

// same returns io.EOF where a digest is the known one, or the first.
func (t *openTable) same(digest string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.content == "" {
		t.content = "rows " + digest
	}
	if t.content != "rows "+digest {
		return fmt.Errorf("%w: the table %w", errDiffers, pipeline.ErrChanged)
	}
	return io.EOF
}
