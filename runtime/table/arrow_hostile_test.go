package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
)

// hostileDomain returns the domain of hostileRecord.
func hostileDomain() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "n", Type: domain.Integer, Nullable: true}, {Name: "x", Type: domain.Numeric},
		{Name: "t", Type: domain.Text}, {Name: "c", Type: domain.Categorical, Categories: []string{"a", "b"}},
		{Name: "f", Type: domain.Boolean, Categories: []string{"0", "1"}}, {Name: "d", Type: domain.Date},
	}}
}

// hostileRecord has a column of each kind of layout: values, text, a dictionary, bits,
// and some that are missing.
func hostileRecord() arrow.Record {
	words := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "t", Type: arrow.BinaryTypes.String}, {Name: "c", Type: words}, {Name: "f",
			Type: arrow.FixedWidthTypes.Boolean},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 20 {
		if i%5 == 4 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int64Builder).Append(int64(i))
		}
		b.Field(1).(*array.Float64Builder).Append(float64(i) / 4)
		b.Field(2).(*array.StringBuilder).Append(strings.Repeat("x", i%3+1))
		if err := b.Field(3).(*array.BinaryDictionaryBuilder).AppendString([]string{"a", "b"}[i%2]); err != nil {
			panic(err)
		}
		b.Field(4).(*array.BooleanBuilder).Append(i%2 == 0)
		b.Field(5).(*array.Date32Builder).Append(arrow.Date32(i))
	}
	return b.NewRecord()
}

// arrowForms writes a record as stream and file, as it is and compressed.
func arrowForms(r arrow.Record) map[string][]byte {
	forms := map[string][]byte{}
	for name, options := range map[string][]ipc.Option{"": nil, " zstd": {ipc.WithZstd()}, " lz4": {ipc.WithLZ4()}} {
		var stream bytes.Buffer
		file := &seeker{}
		s := ipc.NewWriter(&stream, append(options, ipc.WithSchema(r.Schema()))...)
		f, err := ipc.NewFileWriter(file, append(options, ipc.WithSchema(r.Schema()))...)
		for range 2 {
			err = errors.Join(err, s.Write(r), f.Write(r))
		}
		if err := errors.Join(err, s.Close(), f.Close()); err != nil {
			panic(err)
		}
		forms["stream"+name], forms["file"+name] = stream.Bytes(), file.Bytes()
	}
	return forms
}

// inMemory is a folder of one file that can be read at any position.
type inMemory []byte

func (m inMemory) Open(string) (fs.File, error) {
	f, err := fstest.MapFS{"f": {Data: m}}.Open("f")
	return &readAt{f, bytes.NewReader(m)}, err
}

type readAt struct {
	fs.File
	r *bytes.Reader
}

func (f *readAt) Read(p []byte) (int, error)                { return f.r.Read(p) }
func (f *readAt) ReadAt(p []byte, off int64) (int, error)   { return f.r.ReadAt(p, off) }
func (f *readAt) Seek(off int64, whence int) (int64, error) { return f.r.Seek(off, whence) }

// readAll counts the rows of a file that may be anything. Errors are of this package,
// or they are of the table that weir stores.
func readAll(data []byte) (rows int64, err error) {
	t, err := Open(inMemory(data), "f", nil, hostileDomain())
	if err != nil {
		return 0, err
	}
	for r, err := range t.Open(context.Background()) {
		if err != nil {
			return rows, err
		}
		rows += r.NumRows()
	}
	return rows, nil
}

// bounded calls f and fails where it takes longer, or allocates more, than the size of
// its input allows: 64 MiB and 256 times its size for what it is decompressed to, and
// what is made of that.
func bounded(t testing.TB, what string, size int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(96<<20+600*size); got > most {
		t.Errorf("%s: allocates %d bytes for a file of %d, must be at most %d", what, got, size, most)
	}
}

// judge reads hostile bytes in every way that weir reads Arrow.
func judge(t testing.TB, what string, data []byte) (rows int64, err error) {
	t.Helper()
	bounded(t, what, len(data), func() { rows, err = readAll(data) })
	bounded(t, what+", of others", len(data), func() { rowsRead(inMemory(data)) })
	bounded(t, what+", raw", len(data), func() {
		raw, err := OpenRaw(context.Background(), inMemory(data), "f", nil)
		if err != nil {
			return
		}
		for _, err := range raw.Rows {
			if err != nil {
				return
			}
		}
	})
	bounded(t, what+", stored", len(data), func() {
		h := pipeline.Header{Form: pipeline.FormTable, Schema: hostileRecord().Schema()}
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		IPC(h, open).Collect(context.Background())
	})
	var ours *Error
	if err != nil && !errors.As(err, &ours) {
		t.Errorf("%s: %v, must name the file", what, err)
	}
	return rows, err
}

// TestHostileArrow changes each four bytes of an Arrow file in turn, in an ordinary run every fifth of these, to what
// lengths, offsets and kinds are most likely to be wrong by.
func TestHostileArrow(t *testing.T) {
	forms := arrowForms(hostileRecord())
	for _, form := range []string{"stream", "file", "stream zstd"} {
		data := forms[form]
		if rows, err := judge(t, form, data); err != nil || rows != 40 {
			t.Fatalf("%s: %d rows, %v; must be 40", form, rows, err)
		}
		refused, all := 0, 0
		for place := 0; place+4 <= len(data); place += 4 * stattest.Rounds(5, 1) {
			for _, v := range []uint32{0, 0x7fffffff, binary.LittleEndian.Uint32(data[place:]) + 8} {
				changed := bytes.Clone(data)
				binary.LittleEndian.PutUint32(changed[place:], v)
				rows, err := judge(t, fmt.Sprintf("%s: %#x at %d", form, v, place), changed)
				if err == nil && rows != 40 && rows != 20 {
					t.Errorf("%s: %#x at %d: %d rows without an error", form, v, place, rows)
				}
				all++
				if err != nil {
					refused++
				}
			}
		}
		if all < stattest.Rounds(200, 1000) || refused < all/10 {
			t.Errorf("%s: %d of %d changes were refused", form, refused, all)
		}
	}
}

// TestCutArrow: what ends early is refused wherever it ends, and never read short.
func TestCutArrow(t *testing.T) {
	for form, data := range arrowForms(hostileRecord()) {
		for n := 0; n < len(data); n += 13 {
			if _, err := judge(t, form, data[:n]); err == nil && n > 0 {
				t.Errorf("%s cut to %d of %d bytes is read", form, n, len(data))
			}
		}
	}
}

// FuzzArrow: no bytes panic, or take more than their size allows.
func FuzzArrow(f *testing.F) {
	for _, data := range arrowForms(hostileRecord()) {
		f.Add(data)
	}
	files, names := arrowCorpus(f)
	for _, name := range names {
		f.Add(files[name].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		for _, magic := range []string{"ARROW1", "\xff\xff\xff\xff"} {
			if strings.HasPrefix(string(data), magic) {
				judge(t, "fuzzed", data)
			}
		}
	})
}

// TestNestedArrow: lists and structs are named, as nested columns of Parquet are.
func TestNestedArrow(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).AppendNull()
	for form, data := range arrowForms(b.NewRecord()) {
		if _, err := readAll(data); err == nil || !strings.Contains(err.Error(), `column 1 of the file is stored as list`) {
			t.Errorf("%s: %v, must tell the column by its place, and its type", form, err)
		}
		if _, err := OpenRaw(t.Context(), inMemory(data), "f", nil); err == nil ||
			!strings.Contains(err.Error(), `column 1 of the file, "l", is stored as list`) {
			t.Errorf("%s: %v, must name the column to who drafts a domain", form, err)
		}
	}
}

// TestKeptArrow reads what fuzzing found worth keeping; go test reads it as FuzzArrow's
// seeds too, and this fails where the folder is gone.
func TestKeptArrow(t *testing.T) {
	inputs, err := filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzArrow", "*"))
	if err != nil || len(inputs) == 0 {
		t.Fatalf("%d kept inputs, %v", len(inputs), err)
	}
	for _, path := range inputs {
		if info, err := os.Stat(path); err != nil || info.Size() > 64<<10 {
			t.Errorf("%s: is too long to be kept: %v", path, err)
		}
	}
}

// TestCompressedTooFar: a small file that becomes 256 MiB is refused before it does.
func TestCompressedTooFar(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).(*array.Float64Builder).AppendValues(make([]float64, 1<<25), nil)
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(s), ipc.WithZstd())
	if err := errors.Join(w.Write(b.NewRecord()), w.Close()); err != nil {
		t.Fatal(err)
	}
	bounded(t, "zeros", file.Len(), func() {
		d := &domain.Domain{Columns: []domain.Column{{Name: "x", Type: domain.Numeric}}}
		table, err := Open(inMemory(file.Bytes()), "f", nil, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, err = range table.Open(context.Background()) {
			if err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "256 times its size") {
			t.Errorf("%d bytes: %v, must be refused for what they become", file.Len(), err)
		}
	})
}

// TestSchemaOfItself: offsets wrap around, so a field can be its own child; the library
// follows it until the stack overflows, which no program survives.
func TestSchemaOfItself(t *testing.T) {
	of := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int64})
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: of}}, nil)
	for form, data := range arrowForms(array.NewRecordBuilder(memory.DefaultAllocator, s).NewRecord()) {
		meta, in := data[8:], messageHeader
		if strings.HasPrefix(form, "file") {
			footer, err := footerOf(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			meta, in = data[len(data)-int(tailBytes)-len(footer):], footerSchema
		}
		schema, ok := rootOf(meta).child(in)
		fields, err := schema.tables(schemaFields)
		if !ok || err != nil {
			t.Fatal(err)
		}
		child, _, err := fields[0].structs(fieldChildren, 4)
		if err != nil {
			t.Fatal(err)
		}
		binary.LittleEndian.PutUint32(meta[child:], uint32(fields[0].Pos)-uint32(child))
		if _, err := judge(t, form, data); err == nil || !strings.Contains(err.Error(), "holds itself") {
			t.Errorf("%s: %v, must say that the schema holds itself", form, err)
		}
	}
}
