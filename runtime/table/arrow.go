package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"weir/pipeline"
)

// arrowFormat reads Arrow files and streams that others wrote.
type arrowFormat struct{}

// arrowFile and arrowStream mark the two forms.
const (
	arrowFile   = "ARROW1"
	arrowStream = "\xff\xff\xff\xff"
)

// Name implements Format.
func (arrowFormat) Name() string { return "arrow" }

// Begins implements Format.
func (arrowFormat) Begins(head []byte) bool { return begins(head, arrowFile, arrowStream) }

func (f arrowFormat) open(in *input) (rowReader, error) { return openRecords(in, f.records) }

func (f arrowFormat) raw(_ context.Context, in *input) (*Raw, error) {
	return rawRecords(in, f.records)
}

// records opens a file of either form.
func (arrowFormat) records(in *input, match matcher) (_ recordSource, schema *arrow.Schema, err error) {
	s := &arrowSource{}
	defer func() {
		if err != nil && s.closer != nil {
			s.closer.Close()
		}
	}()
	if schema, err = s.open(in.fsys, in.name); err != nil {
		return nil, nil, err
	}
	if err = refuseNested(in, schema); err != nil {
		return nil, nil, err
	}
	s.layout, err = match(schema)
	return s, schema, err
}

// arrowSource reads either form.
type arrowSource struct {
	closer io.Closer
	reader *ipc.Reader
	layout layout
}

// open returns the schema. Where it is an error, closer may be set.
func (s *arrowSource) open(fsys FS, name string) (*arrow.Schema, error) {
	in, err := openStream(fsys, name)
	if err != nil {
		return nil, err
	}
	s.closer = in
	next := streamed(&supply{in, -1})
	if begins(in.head, arrowFile) {
		if next, err = openFile(in.file, name); err != nil {
			return nil, err
		}
	}
	if s.reader, err = (&frames{next: next}).reader(); err != nil {
		return nil, wrong(name, "is a damaged Arrow file: %v", err)
	}
	return s.reader.Schema(), nil
}

// refuseNested refuses a file with columns that are not read even beside others. Names of columns are told where no
// domain says that they are public, as it is the owner who drafts one.
func refuseNested(in *input, s *arrow.Schema) error {
	column, kind := nested(s)
	if column < 0 {
		return nil
	}
	which := fmt.Sprintf("column %d of the file", column+1)
	if in.domain == nil {
		which += fmt.Sprintf(", %q,", s.Field(column).Name)
	}
	return wrong(in.name, "%s is stored as %s, which is not read; accepted: columns of single values: leave it out when "+
		"the file is written", which, kind)
}

func openFile(f fs.File, name string) (func() (meta, body []byte, err error), error) {
	file, ok := f.(seekable)
	if !ok {
		return nil, wrong(name, "is an Arrow file in a place that cannot be read at any position; accepted: a plain file, "+
			"or an Arrow stream")
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, readError(name, err)
	}
	next, err := filed(file, size)
	if err != nil {
		return nil, wrong(name, "is not a whole Arrow file (gzip around it is not read): %v", err)
	}
	return next, nil
}

func (s *arrowSource) columns() layout { return s.layout }
func (s *arrowSource) close()          { s.closer.Close() }

func (s *arrowSource) next() (arrow.Record, error) { return nextOf(s.reader) }

// nextOf reads a record and looks whether its columns hold what they say. It does
// not panic, whatever was read.
func nextOf(r *ipc.Reader) (record arrow.Record, err error) {
	err = guarded(func() error {
		if r.Next() {
			record = r.Record()
			return checkRecord(record)
		}
		if r.Err() != nil {
			return ours(r.Err())
		}
		return io.EOF
	})
	return record, err
}

// WriteIPC writes a table as an Arrow stream, for IPC. Equal tables of equal
// batches give equal bytes.
func WriteIPC(ctx context.Context, w io.Writer, t pipeline.Table) error {
	out := ipc.NewWriter(w, ipc.WithSchema(t.Schema))
	for r, err := range t.Open(ctx) {
		if err != nil {
			return err
		}
		if err := out.Write(r); err != nil {
			return err
		}
	}
	return out.Close()
}

// IsIPC reports whether a file that begins with head can be one that WriteIPC wrote.
func IsIPC(head []byte) bool { return begins(head, arrowStream) }

// IPC returns the table of header h that WriteIPC wrote; open is called each time
// that the table is read. Rows and their types come back exactly.
func IPC(h pipeline.Header, open func() (io.ReadCloser, error)) pipeline.Table {
	return pipeline.Table{Header: h, Open: func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			if err := readIPC(ctx, h, open, yield); err != nil {
				yield(nil, err)
			}
		}
	}}
}

func readIPC(ctx context.Context, h pipeline.Header, open func() (io.ReadCloser, error),
	yield func(arrow.Record, error) bool) error {
	f, err := open()
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := (&frames{next: streamed(&supply{buffered(f, 1<<16), sizeOf(f)})}).reader()
	if err != nil {
		return fmt.Errorf("is not an Arrow stream of weir: %w", err)
	}
	defer r.Release()
	if !r.Schema().Equal(h.Schema) {
		// never which columns: they may be private
		return errors.New("stored table has other columns than its stage gives")
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := nextOf(r)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("stored table: %w", err)
		}
		if !yield(record, nil) {
			return nil
		}
	}
}

// sizeOf returns the size of a regular file, -1 of anything else.
func sizeOf(f io.Reader) int64 {
	if s, ok := f.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if info, err := s.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return -1
}
