package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// File is a named piece of an artifact: a page of a report, a tensor of a model.
type File struct {
	Name string
	Data []byte
}

// FilesSchema is that of FormFiles, FormCount, FormAnswers, FormModel and FormDetector.
func FilesSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: "name", Type: arrow.BinaryTypes.String},
		{Name: "value", Type: arrow.BinaryTypes.Binary},
	}, nil)
}

// WriteFiles is the table of files, of header h with schema FilesSchema. The data of one
// file alone, which may be large, is not copied: it must not be changed afterwards. A table
// of 2 GiB and more, which its offsets cannot count, is an error for who opens it.
func WriteFiles(h Header, files []File) Table {
	h.Schema = FilesSchema()
	names, ends, size := array.NewStringBuilder(memory.DefaultAllocator), []int32{0}, 0
	for _, f := range files {
		names.Append(f.Name)
		size += len(f.Data)
		ends = append(ends, int32(size))
	}
	if size > math.MaxInt32 {
		return Table{Header: h, Open: func(context.Context) Batches {
			return func(yield func(arrow.Record, error) bool) {
				yield(nil, fmt.Errorf("files of %d bytes together, must be below 2 GiB", size))
			}
		}}
	}
	values := array.NewData(arrow.BinaryTypes.Binary, len(files), []*memory.Buffer{nil,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(ends)), memory.NewBufferBytes(joined(files, size))}, nil, 0, 0)
	return FromRecords(h, array.NewRecord(h.Schema, []arrow.Array{names.NewArray(), array.NewBinaryData(values)}, int64(len(files))))
}

// joined is the data of all files, one after the other.
func joined(files []File, size int) []byte {
	if len(files) == 1 {
		return files[0].Data
	}
	all := make([]byte, 0, size)
	for _, f := range files {
		all = append(all, f.Data...)
	}
	return all
}

// ReadFiles is the inverse of WriteFiles. Data is the memory of the table's records.
func ReadFiles(ctx context.Context, t Table) ([]File, error) {
	var files []File
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		names, ok1 := rec.Column(0).(*array.String)
		values, ok2 := rec.Column(1).(*array.Binary)
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("a table of files is of schema %s, must be name: utf8, value: binary", rec.Schema())
		}
		for i := range names.Len() {
			files = append(files, File{names.Value(i), slices.Clip(values.Value(i))})
		}
	}
	return files, nil
}
