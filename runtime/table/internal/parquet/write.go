package parquet

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// rowGroup is the number of rows after which a row group is closed; a writer
// holds one of them in memory.
const rowGroup = 1 << 20

// PieceRows are written at a time. Arrow 15 cuts a column into batches of
// WithBatchSize values and, in a nullable dictionary column, computes the end of
// every batch after the first wrongly (columnWriter.maybeReplaceValidity takes
// the length for the end). One batch a piece, at offset 0, avoids that.
const PieceRows = 1 << 16

// Column says how a column is written.
type Column struct {
	Name    string
	Kind    arrow.DataType // which readers of Arrow give it
	Logical schema.LogicalType
	Stored  parquet.Type
	// Few says that the column has a dictionary: no more values than one holds can come.
	Few bool
}

// Writer writes the row groups of one file. Nothing in the file depends on when or where it is written.
type Writer struct {
	sink    *sink
	out     *file.Writer
	group   file.BufferedRowGroupWriter // nil before the first row
	columns int
	rows    int64 // of the group
}

// NewWriter begins a file of the columns, all of which may hold missing values.
func NewWriter(w io.Writer, columns []Column) (*Writer, error) {
	p := &Writer{sink: &sink{w: w}, columns: len(columns)}
	fields, nodes := make([]arrow.Field, len(columns)), make(schema.FieldList, len(columns))
	options := []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy), parquet.WithVersion(parquet.V2_4),
		parquet.WithCreatedBy("weir"), parquet.WithBatchSize(PieceRows)}
	for i, c := range columns {
		node, err := schema.NewPrimitiveNodeLogical(c.Name, parquet.Repetitions.Optional, c.Logical, c.Stored, -1, -1)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		nodes[i] = node
		fields[i] = arrow.Field{Name: c.Name, Type: c.Kind, Nullable: true}
		options = append(options, parquet.WithDictionaryFor(c.Name, c.Few))
	}
	props := parquet.NewWriterProperties(options...)
	root, err := schema.NewGroupNode(props.RootName(), props.RootRepetition(), nodes, -1)
	if err != nil {
		return nil, err
	}
	stated, err := statedSchema(arrow.NewSchema(fields, nil))
	if err != nil {
		return nil, err
	}
	p.out = file.NewParquetWriter(p.sink, root, file.WithWriterProps(props), file.WithWriteMetadata(stated))
	return p, nil
}

// statedSchema returns the entry of a footer by which readers of Arrow know what Parquet has no type for: dictionaries.
func statedSchema(s *arrow.Schema) (metadata.KeyValueMetadata, error) {
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(s)).Close(); err != nil {
		return nil, err
	}
	stated := metadata.NewKeyValueMetadata()
	err := stated.Append("ARROW:schema", base64.StdEncoding.EncodeToString(b.Bytes()))
	return stated, err
}

// Piece writes at most PieceRows rows into the row group, or into a new one where that is full. write is called with
// each column in turn.
func (p *Writer) Piece(rows int64, write func(column int, w file.ColumnChunkWriter) error) error {
	if p.rows == 0 {
		if err := p.endGroup(); err != nil {
			return err
		}
		p.group = p.out.AppendBufferedRowGroup()
	}
	for i := range p.columns {
		w, err := p.group.Column(i)
		if err == nil {
			err = write(i, w)
		}
		if err != nil {
			return err
		}
	}
	if p.rows += rows; p.rows >= rowGroup {
		p.rows = 0
	}
	return p.sink.err
}

func (p *Writer) endGroup() error {
	if p.group == nil {
		return nil
	}
	return p.group.Close()
}

// Close writes the last row group and the footer. It frees memory, also of a file that failed.
func (p *Writer) Close() error {
	err := p.endGroup()
	if err == nil {
		err = p.out.Close()
	}
	if p.sink.err != nil {
		return p.sink.err
	}
	return err
}

// sink remembers the first error of a writer and then swallows what is written:
// the library drops some errors of the writer below it and panics at others.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(b []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
	return len(b), nil
}

// batchWriter is implemented by the writer of each physical type.
type batchWriter[T any] interface {
	WriteBatch(values []T, levels, repeated []int16) (int64, error)
}

// WriteCells writes what convert makes of the cells of a piece whose levels are 1; 0 is a missing one.
func WriteCells[C, T any](w file.ColumnChunkWriter, cells []C, levels []int16, convert func(C) (T, error)) error {
	out, ok := w.(batchWriter[T])
	if !ok {
		return fmt.Errorf("has a writer of %s, which takes no %T", w.Type(), *new(T))
	}
	values := make([]T, 0, len(cells))
	for i, cell := range cells {
		if levels[i] == 0 {
			continue
		}
		v, err := convert(cell)
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	_, err := out.WriteBatch(values, levels, nil)
	return err
}

// Words are the categories of a column in their order. The dictionary of the column holds all of them, so that readers
// of Arrow know those that no row has.
type Words struct{ words *array.String }

// NewWords returns the words of a column.
func NewWords(list []string) Words { return Words{exactTexts(list)} }

// Write writes the codes of a piece whose levels are 1, all of which are places of words: into the dictionary of the
// column, or as texts where it has none.
func (d Words) Write(w file.ColumnChunkWriter, codes []int32, levels []int16) error {
	if encoder, ok := w.CurrentEncoder().(dictionaryEncoder); ok {
		return d.writeCodes(w, encoder, codes, levels)
	}
	return WriteCells(w, codes, levels, func(code int32) (parquet.ByteArray, error) {
		return parquet.ByteArray(d.words.Value(int(code))), nil
	})
}

// dictionaryEncoder is implemented by the encoder of a column that has a dictionary.
type dictionaryEncoder interface {
	PutDictionary(words arrow.Array) error
	PreservedDictionary() arrow.Array
}

// writeCodes writes codes into a column chunk whose dictionary is words.
func (d Words) writeCodes(w file.ColumnChunkWriter, encoder dictionaryEncoder, codes []int32, levels []int16) error {
	if encoder.PreservedDictionary() == nil {
		if err := encoder.PutDictionary(d.words); err != nil {
			return err
		}
	}
	indices, used := usedCodes(codes, levels, d.words.Len())
	var shown []string
	for i, is := range used {
		if is {
			shown = append(shown, d.words.Value(i))
		}
	}
	stats := w.PageStatistics()
	stats.IncNulls(int64(indices.NullN()))
	stats.IncNumValues(int64(indices.Len() - indices.NullN()))
	if err := stats.UpdateFromArrow(exactTexts(shown), false); err != nil {
		return err
	}
	return w.WriteDictIndices(indices, levels, nil)
}

// usedCodes returns codes as an array that is null where a level is 0, and which of n categories it holds.
func usedCodes(codes []int32, levels []int16, n int) (*array.Int32, []bool) {
	used, there := make([]bool, n), make([]bool, len(codes))
	for i, code := range codes {
		if levels[i] == 1 {
			used[code], there[i] = true, true
		}
	}
	b := array.NewInt32Builder(memory.NewGoAllocator())
	b.AppendValues(codes, there)
	return b.NewInt32Array(), used
}

// exactTexts returns an array of exactly as many bytes as its texts have: statistics take the length of its buffer
// for theirs, so it must not grow as buffers of Growing do.
func exactTexts(texts []string) *array.String {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	b.AppendValues(texts, nil)
	return b.NewStringArray()
}
