// Package table reads tables of the domain's types from CSV, TSV, Parquet and
// Arrow files, and writes them back. Reading streams: memory is that of a few
// batches and does not grow with the file. No error quotes a cell.
package table

import (
	"cmp"
	"runtime"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// options of reading; the last two alone change a result.
type options struct {
	BatchRows int               // rows of a record batch; 65,536 by default
	Workers   int               // parsing goroutines; the number of cores by default, at most 4
	tell      func(note string) // see Parts; nil once it has been told
	unit      string            // see OpenParts
	called    string            // name of the table, where that is not the file's: by which a tab parts its cells (Tabbed)
}

func (o options) filled() options {
	if o.BatchRows <= 0 {
		o.BatchRows = 1 << 16
	}
	if o.Workers <= 0 {
		o.Workers = min(runtime.GOMAXPROCS(0), 4)
	}
	return o
}

// Open prepares to read a file of domain d, of any format (see Format): text as csv says
// (nil: RFC 4180 with a header); text may be gzip. The first record, or the schema, is checked here, all else as the
// rows are read. The table is private and of unbounded stability until the
// caller knows better.
//
// Cells outside the declared categories, unreadable cells, and missing cells in
// a column that is neither nullable nor has spellings of missing are errors;
// bounds are not checked here, the stage bounds does that.
func Open(fsys FS, name string, csv *pipeline.CSV, d *domain.Domain) (pipeline.Table, error) {
	return OpenParts(fsys, One(name), csv, d, "")
}

// openWith is Open with options.
func openWith(fsys FS, name string, csv *pipeline.CSV, d *domain.Domain, o options) (pipeline.Table, error) {
	t, _, err := openAs(fsys, name, csv, d, o)
	return t, err
}

// openAs is openWith, and tells the format.
func openAs(fsys FS, name string, csv *pipeline.CSV, d *domain.Domain, o options) (t pipeline.Table, f Format, err error) {
	dialect, err := newDialect(cmp.Or(o.called, name), csv)
	if err != nil {
		return t, nil, err
	}
	dialect.unit = unlistedUnit(d, dialect, o.unit)
	s, err := openStream(fsys, name)
	if err != nil {
		return t, nil, err
	}
	defer s.Close()
	if f, err = formatOf(name, s.head); err != nil {
		return t, nil, err
	}
	t = pipeline.Table{Header: pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Unbounded()})}
	t.Open, err = f.open(&input{options: o.filled(), fsys: fsys, name: name, stream: s, dialect: dialect, domain: d})
	return t, f, err
}
