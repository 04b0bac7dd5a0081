package infer

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/runtime/table"
)

// TestDamagedFilesAreRefusedNotFatal: one damaged Parquet file in five
// ended the program, in goroutines that nobody can recover.
func TestDamagedFilesAreRefusedNotFatal(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 4))
	for name, whole := range wholeFiles(t) {
		for range 150 {
			data := bytes.Clone(whole)
			for range 1 + rng.IntN(4) {
				pos := rng.IntN(len(data))
				if rng.IntN(2) == 0 { // footers and schemas lie at the end
					pos = len(data) - 1 - rng.IntN(min(len(data), 2000))
				}
				data[pos] = byte(rng.IntN(256))
			}
			Draft(t.Context(), Files(fstest.MapFS{name: {Data: data}}, table.One(name)), nil) // must return
			Draft(t.Context(), Files(fstest.MapFS{name: {Data: data[:rng.IntN(len(data))]}}, table.One(name)), nil)
		}
	}
}

// wholeFiles returns Parquet files of others, and Arrow of ours.
func wholeFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"pyarrow-snappy", "pyarrow-delta", "pyarrow-plain", "spark-zstd", "polars-gzip",
		"pyarrow-list"} {
		data, err := os.ReadFile(filepath.Join("../table/testdata/parquet", name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	var stream bytes.Buffer
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "t", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	b.Field(0).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
	b.Field(1).(*array.StringBuilder).AppendValues([]string{"a", "b", "c"}, nil)
	record := b.NewRecord()
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(s))
	if err == nil {
		err = errors.Join(w.Write(record), w.Close())
	}
	o := ipc.NewWriter(&stream, ipc.WithSchema(s))
	if err = errors.Join(err, o.Write(record), o.Close()); err != nil {
		t.Fatal(err)
	}
	files["arrow stream"] = stream.Bytes()
	if files["arrow file"], err = os.ReadFile(file.Name()); err != nil {
		t.Fatal(err)
	}
	return files
}
