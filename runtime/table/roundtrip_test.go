package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table/internal/parquet"
)

// every returns a domain with every type of column.
func every() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "odd, \"name\"", Type: domain.Integer, Nullable: true, Missing: []string{"NA"}},
		{Name: "step", Type: domain.Numeric, Nullable: true, Step: 0.25},
		{Name: "free", Type: domain.Numeric, Nullable: true},
		{Name: "day", Type: domain.Date, Nullable: true},
		{Name: "cat", Type: domain.Categorical, Nullable: true,
			Categories: []string{"plain", "with, comma", "with \"quote\"", "Ünï", " blank "}},
		{Name: "rank", Type: domain.Ordinal, Nullable: true, Categories: []string{"1", "2", "10"}},
		{Name: "flag", Type: domain.Boolean, Nullable: true, Categories: []string{"0", "1"}},
		{Name: "yes", Type: domain.Boolean, Nullable: true, Categories: []string{"no", "yes"}},
		{Name: "text", Type: domain.Text, Nullable: true},
	}}
}

// random draws a cell of a column as its CSV spelling; "" is missing.
func random(r *rand.Rand, c *domain.Column) string {
	if r.IntN(8) == 0 {
		return ""
	}
	switch c.Type {
	case domain.Integer:
		return fmt.Sprint(int64(r.Uint64()) >> r.IntN(64))
	case domain.Numeric:
		if c.Step > 0 {
			return fmt.Sprint(float64(r.IntN(4000)-2000) * c.Step)
		}
		return fmt.Sprint(math.Ldexp(r.NormFloat64(), r.IntN(200)-100))
	case domain.Date:
		b, _ := c.DayForm().Append(nil, int64(r.IntN(60000)-20000))
		return string(b)
	case domain.Text:
		return strings.Repeat([]string{"a", "é", ",", "\"", "\n", "x y"}[r.IntN(6)], 1+r.IntN(3))
	}
	return c.Categories[r.IntN(len(c.Categories))]
}

// randomTable builds records through the builders, in batches.
func randomTable(r *rand.Rand, d *domain.Domain, batches, rows int) pipeline.Table {
	dialect, _ := newDialect("", nil)
	var records []arrow.Record
	for range batches {
		arrays := make([]arrow.Array, len(d.Columns))
		for i := range d.Columns {
			b := newBuilder(&d.Columns[i], dialect, rows)
			for range rows {
				if rule := b.add([]byte(random(r, &d.Columns[i]))); rule != "" {
					panic(d.Columns[i].Name + " " + rule)
				}
			}
			arrays[i] = b.finish()
		}
		records = append(records, array.NewRecord(d.ArrowSchema(), arrays, int64(rows)))
	}
	return pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), records...)
}

func all(t testing.TB, table pipeline.Table) arrow.Record {
	t.Helper()
	r, err := table.Collect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	no := false
	dialects := map[string]*pipeline.CSV{"comma": nil, "semicolon": {Delimiter: ";"}, "tab": {Delimiter: "\t"},
		"no header": {Header: &no}, "quote": {Quote: "'"}, "comment": {Comment: "1"}, "trim": {Trim: true}}
	for seed := range uint64(5) {
		d := every()
		table := randomTable(rand.New(rand.NewPCG(seed, 0)), d, 3, 200)
		want := all(t, table)
		for name, csv := range dialects {
			var out bytes.Buffer
			if err := writeText(context.Background(), &out, table, csv); err != nil {
				t.Fatal(err)
			}
			if got := reread(t, "f.csv", out.Bytes(), csv, d); !array.RecordEqual(got, want) {
				t.Errorf("seed %d, CSV with %s: rows differ", seed, name)
			}
		}
		var out bytes.Buffer
		if err := writeParquet(context.Background(), &out, table); err != nil {
			t.Fatal(err)
		}
		if got := reread(t, "f.parquet", out.Bytes(), nil, d); !array.RecordEqual(got, want) {
			t.Errorf("seed %d, Parquet: rows differ", seed)
		}
	}
}

func reread(t testing.TB, name string, data []byte, csv *pipeline.CSV, d *domain.Domain) arrow.Record {
	t.Helper()
	table, err := Open(fstest.MapFS{name: {Data: data}}, name, csv, d)
	if err != nil {
		t.Fatal(err)
	}
	return all(t, table)
}

// TestSlicesAreWritten holds the writer to records that begin inside a buffer
// and are longer than a piece, where Arrow 15 loses rows of dictionaries.
func TestSlicesAreWritten(t *testing.T) {
	d := every()
	long := all(t, randomTable(rand.New(rand.NewPCG(1, 1)), d, 1, parquet.PieceRows+5000))
	slice := long.NewSlice(137, parquet.PieceRows+4000)
	table := pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), slice)
	var out bytes.Buffer
	if err := writeParquet(context.Background(), &out, table); err != nil {
		t.Fatal(err)
	}
	if got := reread(t, "f.parquet", out.Bytes(), nil, d); !array.RecordEqual(got, slice) {
		t.Error("rows differ")
	}
}

func TestBytesAreTheSameEachTime(t *testing.T) {
	write := func(f func(io.Writer, pipeline.Table) error) string {
		var out bytes.Buffer
		if err := f(&out, randomTable(rand.New(rand.NewPCG(4, 2)), every(), 2, 300)); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for name, f := range map[string]func(io.Writer, pipeline.Table) error{
		"csv":     func(w io.Writer, t pipeline.Table) error { return writeText(context.Background(), w, t, nil) },
		"parquet": func(w io.Writer, t pipeline.Table) error { return writeParquet(context.Background(), w, t) },
		"ipc":     func(w io.Writer, t pipeline.Table) error { return WriteIPC(context.Background(), w, t) },
	} {
		if first, second := write(f), write(f); first != second {
			t.Errorf("%s: bytes differ between two runs", name)
		}
	}
}

func TestBatchesDoNotDependOnWorkers(t *testing.T) {
	head, body, d := sample(t, 9000)
	shape := func(workers int) (s []int64) {
		table, err := openWith(repeated{head, body, 3}, "x.csv", &pipeline.CSV{Delimiter: ";"}, d,
			options{Workers: workers, BatchRows: 4096})
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range table.Open(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			s = append(s, r.NumRows(), r.Column(0).(*array.Int64).Value(0))
		}
		return s
	}
	if one, four := fmt.Sprint(shape(1)), fmt.Sprint(shape(4)); one != four {
		t.Errorf("one worker %s, four %s", one, four)
	}
}

// TestChunksDependOnContentAlone reads the same wide records into buffers of
// other capacities: where a chunk ends must not follow them.
func TestChunksDependOnContentAlone(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 700)+"\n", 300)
	d, _ := newDialect("", nil)
	ends := func(capacity int) (s []int) {
		split := newSplitter(strings.NewReader(text), d, 1<<16, 10_000)
		for {
			c, err := split.next(make([]byte, 0, capacity))
			if err == io.EOF {
				return s
			}
			if err != nil {
				t.Fatal(err)
			}
			s = append(s, len(c.data))
		}
	}
	if small, large := fmt.Sprint(ends(0)), fmt.Sprint(ends(100_000)); small != large {
		t.Errorf("chunks of %s bytes, and of %s", small, large)
	}
}

func TestIPCComesBackExactly(t *testing.T) {
	table := randomTable(rand.New(rand.NewPCG(3, 3)), every(), 3, 100)
	var out bytes.Buffer
	if err := WriteIPC(context.Background(), &out, table); err != nil {
		t.Fatal(err)
	}
	data := out.Bytes()
	open := func(b []byte) pipeline.Table {
		return IPC(table.Header, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil })
	}
	if !array.RecordEqual(all(t, open(data)), all(t, table)) {
		t.Error("rows differ")
	}
	// Every way of cutting it short is noticed, also between two records.
	for n := 0; n < len(data); n += 8 {
		if _, err := open(data[:n]).Collect(context.Background()); err == nil {
			t.Fatalf("cut at %d of %d bytes: no error", n, len(data))
		}
	}
	h := table.Header
	h.Schema = arrow.NewSchema(h.Schema.Fields()[1:], nil)
	if _, err := IPC(h, func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)),
			nil
	}).Collect(context.Background()); err == nil {
		t.Error("another schema: no error")
	}
}

// full is a writer whose disk has room for n bytes.
type full struct{ n int }

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestAFullDiskIsAnError(t *testing.T) {
	table := randomTable(rand.New(rand.NewPCG(3, 3)), every(), 3, 400)
	for _, room := range []int{0, 3, 100, 5000, 20000} {
		for name, err := range map[string]error{
			"csv":     writeText(context.Background(), &full{room}, table, nil),
			"parquet": writeParquet(context.Background(), &full{room}, table),
			"ipc":     WriteIPC(context.Background(), &full{room}, table),
		} {
			if !errors.Is(err, errFull) {
				t.Errorf("%s with room for %d bytes: %v", name, room, err)
			}
		}
	}
}

func TestNumbersKeepTheirDecimals(t *testing.T) {
	for _, c := range []struct {
		x, step float64
		want    string
	}{{62, 0.1, "62.0"}, {62.25, 0.1, "62.25"}, {3, 1, "3"}, {math.Nextafter(0.3, 1), 0,
		"0.30000000000000004"}, {math.Nextafter(0.3, 1), 0.1, "0.30000000000000004"},
		{1e300, 0.5, "1e+300"}, {2.5, 0.5, "2.5"}, {1e-9, 0, "1e-09"}, {1234567.125, 0.125, "1234567.125"}} {
		got, ok := appendFloat(nil, c.x, decimals(c.step))
		if !ok || string(got) != c.want {
			t.Errorf("%v with step %v: %s, must be %s", c.x, c.step, got, c.want)
		}
	}
}

func TestValuesThatCannotBeSpelledAreRefused(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "n", Type: domain.Integer, Bounds: &[2]float64{0, 5},
		Missing: []string{"-1"}}}}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.Append(-1)
	table := pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}),
		array.NewRecord(d.ArrowSchema(), []arrow.Array{b.NewArray()}, 1))
	if err := writeText(context.Background(), io.Discard, table, nil); err == nil ||
		!strings.Contains(err.Error(), `column "n"`) {
		t.Errorf("-1, a spelling of missing: %v", err)
	}
	d = &domain.Domain{Columns: []domain.Column{{Name: "c", Type: domain.Ordinal, Categories: []string{"1"}}}}
	code := array.NewInt32Builder(memory.DefaultAllocator)
	code.Append(1)
	table = pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}),
		array.NewRecord(d.ArrowSchema(), []arrow.Array{code.NewArray()}, 1))
	for _, err := range []error{writeText(context.Background(), io.Discard, table, nil),
		writeParquet(context.Background(), io.Discard, table)} {
		if err == nil || !strings.Contains(err.Error(), `column "c"`) {
			t.Errorf("a code without category: %v", err)
		}
	}
}

// TestNoRowEndsAWrite: values inside the bounds that spell a missing one, of the column or
// of the file, and the code that encoded columns have for missing ones. Rows of a private
// table that keeps its domain, or of a model, may have them; missing is told otherwise.
func TestNoRowEndsAWrite(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "n", Type: domain.Integer, Bounds: &[2]float64{-5, 5}, Missing: []string{"-1", "NA"}, Nullable: true},
		{Name: "day", Type: domain.Date, Bounds: &[2]float64{0, 5}, Missing: []string{"1970-01-02"}, Nullable: true},
		{Name: "c", Type: domain.Categorical, Categories: []string{"a", "b"}, Missing: []string{"-"},
			Encoding: &domain.Encoding{Form: domain.OneHot, Width: 3}},
		{Name: "e", Type: domain.Integer, Missing: []string{"0"}, Encoding: &domain.Encoding{Form: domain.MinMax, Width: 1}},
	}}
	whole := func(values ...int64) arrow.Array {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(values, []bool{true, true, false})
		return b.NewArray()
	}
	codes, scaled := array.NewInt32Builder(memory.DefaultAllocator), array.NewFloat32Builder(memory.DefaultAllocator)
	codes.AppendValues([]int32{2, 0, 1}, nil)
	scaled.AppendValues([]float32{0, 0.5, 1}, nil)
	rows := []arrow.Array{whole(-1, 0, 0), whole(1, 2, 0), codes.NewArray(), scaled.NewArray()}
	table := pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), array.NewRecord(d.ArrowSchema(), rows, 3))
	var text, parquet bytes.Buffer
	if err := writeText(t.Context(), &text, table, &pipeline.CSV{Missing: []string{"0"}}); err != nil {
		t.Fatal(err)
	}
	if want := "n,day,c,e\n-1,1970-01-02,-,0\n0,1970-01-03,a,0.5\nNA,0,b,1\n"; text.String() != want {
		t.Errorf("%q is written, must be %q", text.String(), want)
	}
	if err := writeParquet(t.Context(), &parquet, table); err != nil {
		t.Error(err)
	}
}

// TestSameParquetBytes: columns of more values than a dictionary holds, written 24 times.
// With a dictionary that overflows each file is one of two at even odds for each column, so
// that 24 equal ones have a chance of 2^-46.
func TestSameParquetBytes(t *testing.T) {
	const rows = 200_000
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "id", Type: domain.Integer, Bounds: &[2]float64{0, rows}},
		{Name: "free", Type: domain.Numeric, Bounds: &[2]float64{0, 1}}}}
	whole, real := array.NewInt64Builder(memory.DefaultAllocator), array.NewFloat64Builder(memory.DefaultAllocator)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range rows {
		whole.Append(int64(i))
		real.Append(rng.Float64())
	}
	r := array.NewRecord(d.ArrowSchema(), []arrow.Array{whole.NewArray(), real.NewArray()}, rows)
	table := pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), r)
	var first []byte
	for n := range 24 {
		var b bytes.Buffer
		if err := writeParquet(t.Context(), &b, table); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(b.Bytes(), first) {
			t.Fatalf("file %d has other bytes than the first", n)
		}
	}
}

// TestFewValues: 0 to 131071 are 131072 values of 8 bytes, 1 MB; one more is too many.
func TestFewValues(t *testing.T) {
	bounds := func(least, most float64) *[2]float64 { return &[2]float64{least, most} }
	for _, c := range []struct {
		column domain.Column
		want   bool
	}{
		{domain.Column{Type: domain.Categorical}, true}, {domain.Column{Type: domain.Text}, false},
		{domain.Column{Type: domain.Integer}, false}, {domain.Column{Type: domain.Numeric, Bounds: bounds(0, 1)}, false},
		{domain.Column{Type: domain.Integer, Bounds: bounds(0, 131071)}, true},
		{domain.Column{Type: domain.Integer, Bounds: bounds(0, 131072)}, false},
		{domain.Column{Type: domain.Date, Bounds: bounds(-10, 10)}, true},
		{domain.Column{Type: domain.Numeric, Step: .5, Bounds: bounds(0, 60)}, true},
	} {
		if got := fewValues(&c.column); got != c.want {
			t.Errorf("%+v: %v", c.column, got)
		}
	}
}

// TestCategoriesUnderGrowing: long categories of which some do not occur, whose statistics
// Arrow makes with kernels that Growing is not for: it panicked.
func TestCategoriesUnderGrowing(t *testing.T) {
	whole := memory.DefaultAllocator
	memory.DefaultAllocator = Growing{whole}
	defer func() { memory.DefaultAllocator = whole }()
	d := &domain.Domain{Columns: []domain.Column{{Name: "cat", Type: domain.Categorical}}}
	for i := range 40 {
		d.Columns[0].Categories = append(d.Columns[0].Categories, strings.Repeat(string(rune('a'+i%26)), 1+i))
	}
	codes := array.NewInt32Builder(whole)
	for i := range int32(39) {
		codes.Append(i)
	}
	r := array.NewRecord(d.ArrowSchema(), []arrow.Array{codes.NewArray()}, 39)
	if err := writeParquet(t.Context(), io.Discard, pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}),
		r)); err != nil {
		t.Error(err)
	}
}
