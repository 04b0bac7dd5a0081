package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// subject is what the conformance test of a format needs to know of it.
type subject struct {
	sealed bool                                 // a file that was cut short is an error, wherever it was cut
	made   func(pipeline.Table) ([]byte, error) // bytes that hold a table; nil: Write makes them
}

// trial is one format on its subject.
type trial struct {
	*testing.T
	format  Format
	subject subject
	found   []string
}

func (c *trial) fault(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// faults tells in what a format breaks the promises of Format and Writer; none where it keeps them.
func faults(t *testing.T, f Format, s subject) []string {
	c := &trial{T: t, format: f, subject: s}
	promises := []func(){c.isTold, c.reads, c.cancels, c.checksColumns, c.quotesNothing, c.keepsUnits, c.seesCuts,
		c.readsRaw}
	if w, ok := f.(Writer); ok {
		promises = append(promises, func() { c.isAskedFor(w) }, func() { c.writes(w) }, func() { c.passesErrorsOn(w) })
	}
	for _, promise := range promises {
		promise()
	}
	return c.found
}

// table returns one of every type of column, with what is missing.
func (c *trial) table() pipeline.Table {
	return randomTable(rand.New(rand.NewPCG(7, 7)), every(), 3, 100)
}

// bytes returns a file that holds a table.
func (c *trial) bytes(t pipeline.Table) []byte {
	c.Helper()
	if c.subject.made != nil {
		data, err := c.subject.made(t)
		if err != nil {
			c.Fatal(err)
		}
		return data
	}
	var out bytes.Buffer
	if err := c.format.(Writer).Write(c.Context(), &out, "f", t, Style{}); err != nil {
		c.fault("writes no table: %v", err)
	}
	return out.Bytes()
}

// opened reads bytes by the format, whatever they are, as columns of a domain.
func (c *trial) opened(data []byte, csv *pipeline.CSV, d *domain.Domain, o options) (t pipeline.Table, err error) {
	in, done, err := c.input(data, csv, o)
	if err != nil {
		return t, err
	}
	defer done()
	in.domain, in.dialect.unit = d, unlistedUnit(d, in.dialect, o.unit)
	t.Header = pipeline.TableHeader(d, pipeline.Header{})
	t.Open, err = c.format.open(in)
	return t, err
}

func (c *trial) input(data []byte, csv *pipeline.CSV, o options) (*input, func() error, error) {
	files := fstest.MapFS{"f": {Data: data}}
	dialect, err := newDialect("f", csv)
	if err != nil {
		return nil, nil, err
	}
	s, err := openStream(files, "f")
	if err != nil {
		return nil, nil, err
	}
	return &input{options: o.filled(), fsys: files, name: "f", stream: s, dialect: dialect}, s.Close, nil
}

// rows reads a table as one record.
func (c *trial) rows(data []byte, csv *pipeline.CSV, d *domain.Domain, o options) (arrow.Record, error) {
	t, err := c.opened(data, csv, d, o)
	if err != nil {
		return nil, err
	}
	return t.Collect(c.Context())
}

// isTold: the first bytes of its files are its own.
func (c *trial) isTold() {
	if c.format.Name() == "" || strings.Trim(c.format.Name(), "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		c.fault("has the name %q, must be of small letters and digits", c.format.Name())
	}
	head := c.bytes(c.table())
	head = head[:min(8, len(head))]
	if !c.format.Begins(head) {
		c.fault("does not know a file of its own by its first bytes")
	}
	for _, other := range formats() {
		if other.Name() != c.format.Name() && other != Format(textFormat{}) && other.Begins(head) {
			c.fault("is taken for %s by its first bytes", other.Name())
		}
	}
}

// reads: what was stored comes back, at every reading, however many there are at a time.
func (c *trial) reads() {
	stored := c.table()
	data, want := c.bytes(stored), all(c, stored)
	for _, o := range []options{{}, {BatchRows: 7, Workers: 1}, {BatchRows: 7, Workers: 4}} {
		t, err := c.opened(data, nil, every(), o)
		if err != nil {
			c.fault("does not open a file of its own: %v", err)
			return
		}
		for range t.Open(c.Context()) { // a reading that ends early, in the midst of which another one begins
			break
		}
		for range 2 {
			if got, err := t.Collect(c.Context()); err != nil || !array.RecordEqual(got, want) {
				c.fault("reads other rows than were stored: %v", err)
			}
		}
	}
}

// cancels: a reading ends with its context.
func (c *trial) cancels() {
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	t, err := c.opened(c.bytes(c.table()), nil, every(), options{})
	if err == nil {
		_, err = t.Collect(ctx)
	}
	if !errors.Is(err, context.Canceled) {
		c.fault("reads on after its context has ended: %v", err)
	}
}

// canary is a name or a cell that must be in no error.
const canary = "Anna-4711"

// named returns a domain of one column of categories.
func named(column string, categories ...string) *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "n", Type: domain.Integer},
		{Name: column, Type: domain.Categorical, Categories: categories, Nullable: true},
	}}
}

// people returns a table of ten rows in the columns of named, whose fifth row is in the last category.
func people(d *domain.Domain) pipeline.Table {
	numbers, codes := make([]int64, 10), make([]int32, 10)
	codes[4] = int32(len(d.Columns[1].Categories) - 1)
	wholes, places := array.NewInt64Builder(memory.DefaultAllocator), array.NewInt32Builder(memory.DefaultAllocator)
	wholes.AppendValues(numbers, nil)
	places.AppendValues(codes, nil)
	rec := array.NewRecord(d.ArrowSchema(), []arrow.Array{wholes.NewArray(), places.NewArray()}, 10)
	return pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), rec)
}

// checksColumns: another column of the file is an error, told by its place, before a row is read.
func (c *trial) checksColumns() {
	data := c.bytes(people(named(canary, "north", "south")))
	_, err := c.opened(data, nil, named("place", "north", "south"), options{})
	if err == nil || strings.Contains(err.Error(), canary) {
		c.fault("of a file of other columns it says: %v", err)
	}
}

// quotesNothing: a cell that the domain does not cover is an error that does not tell it.
func (c *trial) quotesNothing() {
	data := c.bytes(people(named("place", "north", "south", canary)))
	_, err := c.rows(data, nil, named("place", "north", "south"), options{})
	if err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), "place") {
		c.fault("of a cell outside of the domain it says: %v", err)
	}
}

// keepsUnits: a name of a unit that the domain does not list becomes missing and is kept beside.
func (c *trial) keepsUnits() {
	data := c.bytes(people(named("place", "north", "south", canary)))
	rec, err := c.rows(data, &pipeline.CSV{Unknown: "missing"}, named("place", "north", "south"), options{unit: "place"})
	switch {
	case err != nil:
		c.fault("gives no rows where the name of a unit is not listed: %v", err)
	case rec.NumCols() != 3 || rec.ColumnName(2) != pipeline.UnlistedColumn ||
		!strings.HasSuffix(rec.Column(2).ValueStr(4), canary) || rec.Column(1).IsValid(4):
		c.fault("loses the name of a unit before rows are counted")
	}
}

// seesCuts: a file that was cut short does not pass for a shorter table where its end is marked, and never panics.
func (c *trial) seesCuts() {
	stored := c.table()
	data, want := c.bytes(stored), all(c, stored).NumRows()
	for i := range min(50, max(0, len(data)-9)) {
		cut := 8 + i*(len(data)-9)/50
		rec, err := c.rows(data[:cut], nil, every(), options{})
		if err == nil && (c.subject.sealed || rec.NumRows() > want) {
			c.fault("takes %d of %d bytes for a whole file", cut, len(data))
			return
		}
	}
}

// readsRaw: without a domain a file has its names and a row for each that was stored.
func (c *trial) readsRaw() {
	stored := c.table()
	in, done, err := c.input(c.bytes(stored), nil, options{})
	if err != nil {
		c.fault("%v", err)
		return
	}
	defer done()
	raw, err := c.format.raw(c.Context(), in)
	if err != nil {
		c.fault("is not read without a domain: %v", err)
		return
	}
	rows := int64(0)
	for row, err := range raw.Rows {
		if err != nil || len(row) != len(raw.Names) {
			c.fault("without a domain a row has %d cells, %v", len(row), err)
			return
		}
		rows++
	}
	names := slices.Sorted(slices.Values(raw.Names)) // a format may have an order of its own
	if want := all(c, stored); !slices.Equal(names, slices.Sorted(slices.Values(every().Names()))) ||
		rows != want.NumRows() {
		c.fault("without a domain it has the names %v and %d rows", raw.Names, rows)
	}
}

// isAskedFor: a run names its files after the format, and who names a file so gets the format.
func (c *trial) isAskedFor(w Writer) {
	if len(w.Endings()) == 0 || w.Endings()[0] != "."+w.Name() {
		c.fault("is asked for by %v, the first of which must be .%s, as runs name their files", w.Endings(), w.Name())
	}
	for _, ending := range w.Endings() {
		if got, err := WriterOf("a" + strings.ToUpper(ending)); err != nil || got.Name() != w.Name() {
			c.fault("is not what a name that ends in %s asks for", ending)
		}
	}
}

// writes: equal rows are equal bytes.
func (c *trial) writes(w Writer) {
	write := func(t pipeline.Table) string {
		var out bytes.Buffer
		if err := w.Write(c.Context(), &out, "f", t, Style{}); err != nil {
			c.fault("writes no table: %v", err)
		}
		return out.String()
	}
	if first, second := write(c.table()), write(c.table()); first != second {
		c.fault("writes equal rows as other bytes")
	}
	none := randomTable(rand.New(rand.NewPCG(7, 7)), every(), 0, 0)
	if rec, err := c.rows([]byte(write(none)), nil, every(), options{}); err != nil || rec.NumRows() != 0 {
		c.fault("does not read a table without rows as it wrote it: %v", err)
	}
}

// errRows is of rows that are to be written.
var errRows = errors.New("no rows")

// passesErrorsOn: a table that cannot be read, or a file that cannot be written, is no table that is written.
func (c *trial) passesErrorsOn(w Writer) {
	whole := len(c.bytes(c.table()))
	for i := range 20 {
		if err := w.Write(c.Context(), &full{i * (whole - 1) / 20}, "f", c.table(), Style{}); !errors.Is(err, errFull) {
			c.fault("of a disk that is full it says: %v", err)
			break
		}
	}
	unread := c.table()
	unread.Open = func(context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) { yield(nil, errRows) }
	}
	if err := w.Write(c.Context(), io.Discard, "f", unread, Style{}); !errors.Is(err, errRows) {
		c.fault("of rows that cannot be read it says: %v", err)
	}
}
