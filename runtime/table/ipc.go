package table

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"weir/pipeline"
)

// openArrow checks the schema of an Arrow file or stream that others wrote.
func openArrow(fsys FS, name string, d *dialect, dom *pipeline.Domain) (func(context.Context) pipeline.Batches, error) {
	s, err := newArrowSource(fsys, name, d, dom)
	if err != nil {
		return nil, err
	}
	s.close()
	return func(ctx context.Context) pipeline.Batches {
		return convertAll(ctx, name, dom, d, func(context.Context) (recordSource, error) {
			return newArrowSource(fsys, name, d, dom)
		})
	}, nil
}

// arrowSource reads either form; exactly one of stream and file is set.
type arrowSource struct {
	closer io.Closer
	tail   *tail
	stream *ipc.Reader
	file   *ipc.FileReader
	at     int
	layout layout
}

func newArrowSource(fsys FS, name string, d *dialect, dom *pipeline.Domain) (_ *arrowSource, err error) {
	s := &arrowSource{}
	defer func() {
		if e := recover(); e != nil {
			err = wrong(name, "is a damaged Arrow file")
		}
		if err != nil && s.closer != nil {
			s.closer.Close()
		}
	}()
	schema, err := s.open(fsys, name)
	if err != nil {
		return nil, err
	}
	s.layout, err = matchSchema(name, schema, d, dom)
	return s, err
}

func (s *arrowSource) open(fsys FS, name string) (*arrow.Schema, error) {
	in, err := openStream(fsys, name)
	if err != nil {
		return nil, err
	}
	s.closer = in
	if in.format == ipcFileFormat {
		return s.openFile(in.file, name)
	}
	s.tail = &tail{r: in}
	if s.stream, err = ipc.NewReader(s.tail); err != nil {
		return nil, wrong(name, "is a damaged Arrow stream: %v", err)
	}
	return s.stream.Schema(), nil
}

func (s *arrowSource) openFile(f fs.File, name string) (*arrow.Schema, error) {
	at, ok := f.(seekable)
	if !ok {
		return nil, wrong(name, "is an Arrow file in a place that cannot be read at any position; accepted: a plain file, or an Arrow stream")
	}
	r, err := ipc.NewFileReader(at)
	if err != nil {
		return nil, wrong(name, "is not a whole Arrow file (gzip around it is not read): %v", err)
	}
	s.file = r
	return r.Schema(), nil
}

func (s *arrowSource) columns() layout { return s.layout }
func (s *arrowSource) close()          { s.closer.Close() }

func (s *arrowSource) next() (arrow.Record, error) {
	if s.stream != nil {
		return nextOf(s.stream, s.tail)
	}
	if s.at == s.file.NumRecords() {
		return nil, io.EOF
	}
	s.at++
	return s.file.Record(s.at - 1)
}

// nextOf reads a record of a stream; a stream that stops without its end mark
// was cut off, even where it was cut between two records.
func nextOf(r *ipc.Reader, t *tail) (arrow.Record, error) {
	if r.Next() {
		return r.Record(), nil
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if !t.ended() {
		return nil, fmt.Errorf("it ends without the end mark of Arrow streams: the file is truncated")
	}
	return nil, io.EOF
}

// tail remembers the last eight bytes that were read.
type tail struct {
	r    io.Reader
	last uint64
}

func (t *tail) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	for _, b := range p[max(0, n-8):n] {
		t.last = t.last<<8 | uint64(b)
	}
	return n, err
}

// ended reports whether they are the end mark: a continuation and length 0.
func (t *tail) ended() bool {
	var mark [8]byte
	binary.BigEndian.PutUint64(mark[:], t.last)
	return mark == [8]byte{0xff, 0xff, 0xff, 0xff}
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

// IPC is the table of header h that WriteIPC wrote; open is called each time
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

func readIPC(ctx context.Context, h pipeline.Header, open func() (io.ReadCloser, error), yield func(arrow.Record, error) bool) error {
	f, err := open()
	if err != nil {
		return err
	}
	defer f.Close()
	t := &tail{r: f}
	r, err := ipc.NewReader(t)
	if err != nil {
		return err
	}
	defer r.Release()
	if !r.Schema().Equal(h.Schema) {
		return fmt.Errorf("stored table has the columns %v, must be %v", r.Schema().Fields(), h.Schema.Fields())
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := nextOf(r, t)
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
