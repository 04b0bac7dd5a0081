package table

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/runtime/table/internal/parquet"
)

type seekable interface {
	io.ReaderAt
	io.ReadSeeker
}

// parquetFormat reads Parquet page by page (runtime/table/internal/parquet) and writes it by the library of Arrow.
type parquetFormat struct{}

// Name implements Format.
func (parquetFormat) Name() string { return "parquet" }

// Begins implements Format.
func (parquetFormat) Begins(head []byte) bool { return begins(head, "PAR1", encryptedParquet) }

// encryptedParquet marks a file whose footer is encrypted.
const encryptedParquet = "PARE"

func (f parquetFormat) open(in *input) (rowReader, error) { return openRecords(in, f.records) }

func (f parquetFormat) raw(_ context.Context, in *input) (*Raw, error) {
	return rawRecords(in, f.records)
}

// records opens a file to read the columns that match.
func (parquetFormat) records(in *input, match matcher) (recordSource, *arrow.Schema, error) {
	if begins(in.stream.head, encryptedParquet) {
		return nil, nil, wrong(in.name, "%v", parquet.ErrEncrypted)
	}
	s, err := parquetFor(in.fsys, in.name)
	if err != nil {
		return nil, nil, err
	}
	stated := s.stated()
	l, err := match(stated)
	for i, at := range l {
		if err == nil && at >= 0 && !s.Reads(i) {
			err = wrong(in.name, "column %d of the file is stored in a way that is not read", i+1)
		}
	}
	if err != nil {
		s.close()
		return nil, nil, err
	}
	var fields []int
	for i, at := range l {
		if at >= 0 {
			fields, s.layout = append(fields, i), append(s.layout, at)
		}
	}
	s.rows = s.Rows(fields, int64(in.BatchRows))
	return s, stated, nil
}

// parquetSource is an opened file whose rows are read.
type parquetSource struct {
	*parquet.File
	raw    fs.File
	rows   *parquet.Rows
	layout layout
}

func (s *parquetSource) columns() layout             { return s.layout }
func (s *parquetSource) close()                      { s.raw.Close() }
func (s *parquetSource) next() (arrow.Record, error) { return s.rows.Next() }

func parquetFor(fsys FS, name string) (s *parquetSource, err error) {
	raw, err := fsys.Open(name)
	if err != nil {
		return nil, wrong(name, "%v", reason(err))
	}
	defer func() {
		if e := recover(); e != nil {
			s, err = nil, wrong(name, "is a damaged Parquet file")
		}
		if err != nil {
			raw.Close()
		}
	}()
	file, ok := raw.(seekable)
	if !ok {
		return nil, wrong(name, "is Parquet in a place that cannot be read at any position; accepted: a plain file")
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, readError(name, err)
	}
	f, err := parquet.Open(file, size)
	var disk parquet.UnreadableError
	if errors.As(err, &disk) {
		return nil, readError(name, disk.Err)
	}
	if err != nil {
		return nil, wrong(name, "%v", err)
	}
	return &parquetSource{File: f, raw: raw}, nil
}

// Keys of a footer under which writers state the types that Parquet does not have: Arrow as a schema of its own, pandas
// as JSON (pandas, "Developer: storing pandas DataFrame objects in Apache Parquet format").
const (
	arrowKey  = "ARROW:schema"
	pandasKey = "pandas"
)

// stated returns the schema of a file with the lengths of time that its writer says it has: they are stored as integers
// of a unit, or as times of day, and nothing else tells them from those.
func (s *parquetSource) stated() *arrow.Schema {
	lengths := arrowLengths(s.Stated(arrowKey))
	for name, kind := range pandasLengths(s.Stated(pandasKey)) {
		if lengths[name] == nil {
			lengths[name] = kind
		}
	}
	fields := s.Schema.Fields()
	for i, f := range fields {
		id := f.Type.ID()
		if kind := lengths[f.Name]; kind != nil && (arrow.IsInteger(id) || id == arrow.TIME64 || id == arrow.TIME32) {
			fields[i].Type = kind
		}
	}
	return arrow.NewSchema(fields, nil)
}

// arrowLengths reads the entry of Arrow; one that is damaged says nothing.
func arrowLengths(stated string) map[string]arrow.DataType {
	lengths := map[string]arrow.DataType{}
	stream, err := base64.StdEncoding.DecodeString(stated)
	if err != nil || stated == "" {
		return lengths
	}
	r, err := (&frames{next: streamed(&supply{bytes.NewReader(stream), int64(len(stream))})}).reader()
	if err != nil {
		return lengths
	}
	defer r.Release()
	for _, f := range r.Schema().Fields() {
		if f.Type.ID() == arrow.DURATION {
			lengths[f.Name] = f.Type
		}
	}
	return lengths
}

// pandasLengths reads the entry of pandas; one that is damaged says nothing.
func pandasLengths(stated string) map[string]arrow.DataType {
	var entry struct {
		Columns []struct {
			Name  string `json:"field_name"`
			Kind  string `json:"pandas_type"`
			Numpy string `json:"numpy_type"`
		} `json:"columns"`
	}
	lengths := map[string]arrow.DataType{}
	if json.Unmarshal([]byte(stated), &entry) != nil {
		return lengths
	}
	for _, c := range entry.Columns {
		if c.Kind == "timedelta" || strings.HasPrefix(c.Numpy, "timedelta64") {
			lengths[c.Name] = arrow.FixedWidthTypes.Duration_us
		}
	}
	return lengths
}
