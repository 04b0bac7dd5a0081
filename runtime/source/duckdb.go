package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/privacy"
	"weir/runtime/database/duckdb"
	"weir/runtime/database/sql"
	"weir/runtime/table"
	"weir/schema"
)

// Reader is a reader of DuckDB and what it reads.
type Reader struct {
	Parquet  string `yaml:"parquet,omitempty" json:"parquet,omitempty" format:"path" doc:"A Parquet file, relative to the spec; with * or ? in its name, such as data/*.parquet, all files that match are one table, in the order of their names."`
	CSV      string `yaml:"csv,omitempty" json:"csv,omitempty" format:"path" doc:"A CSV file (.gz and .zst too) with a line of names, or a pattern of such files as of parquet; relative to the spec."`
	Database string `yaml:"database,omitempty" json:"database,omitempty" format:"path" doc:"A DuckDB file, relative to the spec; table says which of its tables."`
	SQLite   string `yaml:"sqlite,omitempty" json:"sqlite,omitempty" format:"path" doc:"A SQLite file, relative to the spec, which needs DuckDB's extension for it; table says which of its tables."`
	Table    string `yaml:"table,omitempty" json:"table,omitempty" doc:"Table or view of the DuckDB or SQLite file, with its schema where that is not main: clinic.admissions."`
}

// duckDB is a table that the user's DuckDB reads from files.
type duckDB struct{ *DatabaseTable }

func (s duckDB) declare(ps *schema.Problems, declaring pipeline.Declaring) pipeline.Declared {
	if s.Read == nil {
		ps.Add("database.read", "left out", "a mapping with one of parquet, csv, database and sqlite")
		return pipeline.Declared{}
	}
	t, place := s.table(ps, declaring.CSV)
	s.dialect(ps, declaring.CSV, t.Format)
	by := ofTable(t) + " through DuckDB"
	return pipeline.Declared{Name: filepath.Base(place) + by, Full: filepath.Clean(place) + by,
		Place: place + ofTable(t), Files: []string{place}, Program: "DuckDB", Stays: s.Rows == stay, Sample: s.Sample}
}

// ofTable names the table of a database, where there are several in a file.
func ofTable(t duckdb.Table) string {
	if t.Name == "" {
		return ""
	}
	return ", table " + t.Name
}

// table returns what is read, and from where.
func (s duckDB) table(ps *schema.Problems, csv *pipeline.CSV) (t duckdb.Table, place string) {
	read, count := s.Read, 0
	for _, one := range []struct {
		format duckdb.Format
		place  string
	}{{duckdb.Parquet, read.Parquet}, {duckdb.CSV, read.CSV}, {duckdb.Database, read.Database},
		{duckdb.SQLite, read.SQLite}} {
		if one.place != "" {
			t.Format, place = one.format, one.place
			count++
		}
	}
	if IsAddress(place) {
		ps.Add("database.read."+string(t.Format), "an address", "the path of a file; a server is named by engine: "+
			"postgres or spark with a connection")
		return t, "" // it may hold a password, which no word of a plan may repeat
	}
	if count != 1 {
		ps.Add("database.read", fmt.Sprintf("a mapping with %d of parquet, csv, database and sqlite", count),
			"a mapping with one of them")
	}
	if strings.ContainsAny(filepath.Dir(place), "*?") || t.Format.Named() && pipeline.IsPattern(place) {
		ps.Add("database.read."+string(t.Format), "a path with * or ?",
			"a pattern, for parquet and csv, in the last part of the path alone")
	}
	if t.Format.Named() != (read.Table != "") {
		ps.Add("database.read.table", "given without database or sqlite, or left out with one of them",
			"the table to read of a DuckDB or SQLite file, and nothing else")
	}
	if t.Format.Named() {
		t.Schema, t.Name = "main", read.Table
		if schema, name, has := strings.Cut(read.Table, "."); has {
			t.Schema, t.Name = schema, name
		}
	}
	if csv != nil {
		t.Delimiter = csv.Delimiter
	}
	return t, place
}

// dialect refuses settings of text files that DuckDB is not told.
func (s duckDB) dialect(ps *schema.Problems, csv *pipeline.CSV, format duckdb.Format) {
	accepted := ""
	if format == duckdb.CSV {
		accepted = " and, of CSV, delimiter"
	}
	checkCells(ps, csv, accepted)
	if csv != nil && csv.Delimiter != "" && (format != duckdb.CSV || len(csv.Delimiter) != 1) {
		ps.Add("csv.delimiter", fmt.Sprintf("%q", csv.Delimiter),
			"one character, for a table that is read from CSV")
	}
}

func (s duckDB) open(ctx context.Context, o pipeline.Opening) (pipeline.Opened, error) {
	d, stored, err := s.session(ctx, o)
	if err != nil {
		return nil, err
	}
	var places []int
	d.rows, places, err = table.OpenStored(stored, cells(o.CSV), o.Columns, o.Unit)
	d.columns = d.columnsAt(places)
	if err == nil && s.Rows == stay {
		return d.stay(o, s.Sample)
	}
	return d, err
}

// session opens the files of the table, and finds out which columns it has.
func (s duckDB) session(ctx context.Context, o pipeline.Opening) (*openDuckDB, table.Stored, error) {
	t, place := s.table(&schema.Problems{}, o.CSV)
	d := &openDuckDB{files: o.Files, place: place, byName: t.Format == duckdb.SQLite}
	files, err := d.open()
	if err != nil {
		return nil, table.Stored{}, err
	}
	if d.session, err = duckdb.Open(filepath.Base(place), t, files); err != nil {
		return nil, table.Stored{}, err
	}
	if d.facts, err = d.session.Facts(ctx); err != nil {
		return nil, table.Stored{}, err
	}
	if d.facts.View && s.View == "" {
		return nil, table.Stored{}, fmt.Errorf("%s: %w", t.Name, errView)
	}
	return d, table.Stored{Name: filepath.Base(place), Schema: d.facts.Schema(), Begin: d.begin}, nil
}

func (s duckDB) browse(ctx context.Context, o pipeline.Opening) (*Browsed, error) {
	d, stored, err := s.session(ctx, o)
	if err != nil {
		return nil, err
	}
	b := &Browsed{stored: stored, close: d.Close}
	for _, c := range d.facts.Columns {
		b.types, b.labels = append(b.types, c.Type), append(b.labels, c.Labels())
	}
	return b, nil
}

// stay returns the table whose rows DuckDB counts.
func (d *openDuckDB) stay(o pipeline.Opening, sample int64) (pipeline.Opened, error) {
	var stored []sql.Stored
	for _, c := range d.columns {
		stored = append(stored, c.Stored())
	}
	columns, err := storedColumns(o.Columns, cells(o.CSV), stored)
	if err != nil {
		return nil, err
	}
	c, err := d.session.Counting(columns, o.Columns.Index(o.Unit), o.MaxRows)
	if err != nil {
		return nil, err
	}
	return &countedByDuckDB{d, staying{filepath.Base(d.place), o.Columns, counterOf(c, d.facts.View || d.byName), sample}},
		nil
}

// countedByDuckDB is an opened Database whose rows stay.
type countedByDuckDB struct {
	*openDuckDB
	staying
}

// Table implements pipeline.Opened.
func (d *countedByDuckDB) Table() pipeline.Table { return d.staying.Table() }

// Content implements pipeline.Opened.
func (d *countedByDuckDB) Content(ctx context.Context) (string, error) {
	if err := d.digest(ctx); err != nil {
		return "", err
	}
	return d.staying.Content(ctx)
}

// Close implements pipeline.Opened.
func (d *countedByDuckDB) Close() error { return d.staying.Close() }

// openDuckDB is an opened Database. Its content is the rows themselves, as DuckDB spells them: another release of
// DuckDB that reads other rows from the same bytes has another content.
type openDuckDB struct {
	files   pipeline.Files
	place   string
	byName  bool     // the file is opened again by its name
	names   []string // of the files, in the order of their rows
	session *duckdb.Session
	facts   duckdb.Facts
	columns []duckdb.Column // that are read
	rows    pipeline.Table

	mu  sync.Mutex
	sum string // of the rows; "" until it was asked for
}

// open opens the files of the table.
func (d *openDuckDB) open() (files []*os.File, err error) {
	if d.names, err = d.files.List(d.place); err != nil {
		return nil, err
	}
	for _, name := range d.names {
		f, err := d.files.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		item, ok := f.(interface{ File() *os.File })
		if !ok || item.File() == nil {
			return nil, fmt.Errorf("%s: is not open as a file of this computer, must be for DuckDB to read it", name)
		}
		files = append(files, item.File())
	}
	return files, nil
}

// columnsAt returns the columns at these places.
func (d *openDuckDB) columnsAt(places []int) (columns []duckdb.Column) {
	for _, i := range places {
		columns = append(columns, d.facts.Columns[i])
	}
	return columns
}

// begin starts a reading.
func (d *openDuckDB) begin(ctx context.Context, places []int) (table.StoredRows, error) {
	rows, err := d.session.Rows(ctx, d.columnsAt(places))
	return &sameRows{rows, d}, err
}

// sameRows is a reading that must give the rows of Content.
type sameRows struct {
	*duckdb.Rows
	of *openDuckDB
}

// Next implements table.StoredRows.
func (r *sameRows) Next() (arrow.Record, error) {
	record, err := r.Rows.Next()
	if known := r.of.known(); errors.Is(err, io.EOF) && known != "" && known != r.Sum() {
		return nil, r.of.changed()
	}
	return record, err
}

func (d *openDuckDB) known() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sum
}

func (d *openDuckDB) changed() error {
	return fmt.Errorf("%s: %w", d.place, pipeline.ErrChanged)
}

// Table implements pipeline.Opened.
func (d *openDuckDB) Table() pipeline.Table { return d.rows }

// Content implements pipeline.Opened.
func (d *openDuckDB) Content(ctx context.Context) (string, error) {
	if err := d.digest(ctx); err != nil {
		return "", err
	}
	sum, err := d.session.Digest(ctx, d.columns)
	if err != nil {
		return "", err
	}
	d.mu.Lock()
	d.sum = sum
	d.mu.Unlock()
	return privacy.Digest(fmt.Appendf(nil, "%q %s", d.columns, sum)), nil
}

// digest takes what Unchanged compares.
func (d *openDuckDB) digest(ctx context.Context) error {
	for _, name := range d.names {
		if _, err := d.files.Digest(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Unchanged implements pipeline.Opened.
func (d *openDuckDB) Unchanged(ctx context.Context) error {
	for _, name := range d.names {
		if err := d.files.Unchanged(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Program implements pipeline.ReadByProgram.
func (d *openDuckDB) Program() (name, version string) { return "duckdb", d.facts.Version }

// Close implements pipeline.Opened.
func (d *openDuckDB) Close() error { return nil }
