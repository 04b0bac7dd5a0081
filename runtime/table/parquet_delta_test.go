package table

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"weir/pipeline/domain"
)

// TestDeltasOfTheLibrary: numbers of every width, and texts, as Arrow 15 writes them
// in delta encodings, come back. (Its DELTA_BYTE_ARRAY is wrong: Arrow C++ refuses it
// too. The corpus has that of others.)
func TestDeltasOfTheLibrary(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "a", Type: arrow.BinaryTypes.String}}, nil)
	rng, build := rand.New(rand.NewPCG(2, 11)), array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 5000 {
		n := rng.Int64() >> (i / 80 % 64) * int64(1-i%3)
		if i%500 == 0 {
			n = []int64{math.MinInt64, math.MaxInt64}[i/500%2]
		}
		text := strings.Repeat("ab", rng.IntN(9)) + strings.Repeat("c", rng.IntN(3))
		build.Field(0).(*array.Int64Builder).Append(n)
		build.Field(1).(*array.StringBuilder).Append(text + "x")
	}
	want := build.NewRecord()
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("n", parquet.Encodings.DeltaBinaryPacked),
		parquet.WithEncodingFor("a", parquet.Encodings.DeltaLengthByteArray), parquet.WithDataPageSize(4000))
	w, err := pqarrow.NewFileWriter(schema, &out, props, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	d := &domain.Domain{Columns: []domain.Column{{Name: "n", Type: domain.Integer}, {Name: "a", Type: domain.Text}}}
	for _, batch := range []int{0, 77} {
		table, err := openWith(fstest.MapFS{"f": {Data: out.Bytes()}}, "f", nil, d, options{BatchRows: batch})
		if err != nil {
			t.Fatal(err)
		}
		rows := spelledRows(want)
		for i, got := range cellsOf(t, table) {
			if got != rows[i] {
				t.Fatalf("row %d is %s, must be %s", i, got, rows[i])
			}
		}
	}
}
