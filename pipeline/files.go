package pipeline

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// File is a named piece of an artifact: a page of a report, a tensor of a model.
type File struct {
	Name string
	Data []byte
}

// FilesSchema is that of FormFiles, FormCount and FormModel.
func FilesSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: "name", Type: arrow.BinaryTypes.String},
		{Name: "value", Type: arrow.BinaryTypes.Binary},
	}, nil)
}

// WriteFiles is the table of files, of header h with schema FilesSchema.
func WriteFiles(h Header, files []File) Table {
	h.Schema = FilesSchema()
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for _, f := range files {
		b.Field(0).(*array.StringBuilder).Append(f.Name)
		b.Field(1).(*array.BinaryBuilder).Append(f.Data)
	}
	return FromRecords(h, b.NewRecord())
}

// ReadFiles is the inverse of WriteFiles.
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
			files = append(files, File{names.Value(i), append([]byte(nil), values.Value(i)...)})
		}
	}
	return files, nil
}
