// Package table reads tables of the domain's types from CSV, TSV, Excel, Parquet and
// Arrow files, and writes all of these but Excel. Reading streams: it takes the memory of a few
// batches and does not grow with the file. No error quotes a cell.
package table

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

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

// openWith opens with options.
func openWith(fsys FS, name string, csv *pipeline.CSV, d *domain.Domain, o options) (pipeline.Table, error) {
	t, _, err := openAs(fsys, name, csv, d, o)
	return t, err
}

// openAs opens with options, and tells the format.
func openAs(fsys FS, name string, csv *pipeline.CSV, d *domain.Domain, o options) (t pipeline.Table, f Format,
	err error) {
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
	t = pipeline.Table{Header: pipeline.TableHeader(d,
		pipeline.Header{Class: pipeline.Private, Stability: pipeline.Unbounded()})}
	t.Open, err = f.open(&input{options: o.filled(), fsys: fsys, name: name, stream: s, dialect: dialect, domain: d})
	return t, f, err
}

// Format is a file format of tables. Which one a file has its first bytes tell; names lie more often.
type Format interface {
	// Name returns the word for the format in specs and messages, and the ending of the files that a run writes in it.
	Name() string
	// Begins reports whether a file that begins with head, eight bytes or all that there are, is of the format.
	Begins(head []byte) bool
	// open checks what can be checked before the rows are read, and returns how they are read.
	open(in *input) (rowReader, error)
	// raw reads without a domain.
	raw(ctx context.Context, in *input) (*Raw, error)
}

// Writer is a format in which tables are written.
type Writer interface {
	Format
	// Endings returns the endings of the names by which a file of the format is asked for, with their dots.
	Endings() []string
	// Usual reports whether results are written in the format where nobody asks for others.
	Usual() bool
	// MediaType returns the type by which catalogues know a file of the format.
	MediaType() string
	// Text reports whether a reader sees every cell as text, so that a table of spellings may be written as it is.
	Text() bool
	// Write writes the columns of t's domain. name is the name of the file. What it writes depends on the rows, the domain
	// and the style alone, and is read back as the same rows.
	Write(ctx context.Context, w io.Writer, name string, t pipeline.Table, s Style) error
}

// formats lists every format, in the order in which a file is held against them: text is what no other one claims.
func formats() []Format {
	return []Format{parquetFormat{}, arrowFormat{}, excelFormat{}, textFormat{}}
}

// names lists the formats by name.
func names() (list []string) {
	for _, f := range formats() {
		list = append(list, f.Name())
	}
	return list
}

// Style is how a table is written, as far as its format leaves it open.
type Style struct {
	CSV *pipeline.CSV // of text; nil: RFC 4180 with a header
	// text that a spreadsheet would compute gets an apostrophe in front, part of the cell to all other readers
	Spreadsheet bool
}

// input is a file that is about to be read.
type input struct {
	options
	fsys    FS
	name    string
	stream  *stream // at the beginning, decompressed; open and raw may read from it and leave it open
	dialect *dialect
	domain  *domain.Domain // nil for raw
	looked  bool           // the file was found small enough to be held in memory
}

// rowReader reads the rows of a table from the beginning; see pipeline.Table.
type rowReader = func(context.Context) pipeline.Batches

// Writers lists the formats in which tables are written, by name.
func Writers() (list []Writer) {
	for _, f := range formats() {
		if w, writes := f.(Writer); writes {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b Writer) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

// Written says which formats Writers lists.
func Written() (list []pipeline.FileFormat) {
	for _, w := range Writers() {
		list = append(list, pipeline.FileFormat{Name: w.Name(), Usual: w.Usual()})
	}
	return list
}

// Chosen returns the writers of names, in that order; pipeline.UsualFormats stands for the usual ones.
func Chosen(names []string) (list []Writer) {
	for _, name := range names {
		for _, w := range Writers() {
			if w.Name() == name || name == pipeline.UsualFormats && w.Usual() {
				list = append(list, w)
			}
		}
	}
	return list
}

// WriterOf returns the writer that a file's name asks for by its ending.
func WriterOf(path string) (Writer, error) {
	for _, w := range Writers() {
		if slices.Contains(w.Endings(), strings.ToLower(filepath.Ext(path))) {
			return w, nil
		}
	}
	return nil, fmt.Errorf("%s: must end in %s", path, Endings())
}

// Endings lists all endings of names that WriterOf knows, as a sentence does.
func Endings() string {
	var all []string
	for _, w := range Writers() {
		all = append(all, w.Endings()...)
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// WriteText writes a table as text, for whoever looks at it.
func WriteText(ctx context.Context, w io.Writer, t pipeline.Table, style Style) error {
	return textFormat{}.Write(ctx, w, "", t, style)
}

// FormatName returns the name of the format that marks its files by these first bytes, or "".
func FormatName(head []byte) string {
	for _, f := range formats() {
		if f.Begins(head) && f != Format(textFormat{}) {
			return f.Name()
		}
	}
	return ""
}
