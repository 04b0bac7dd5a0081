package pipelinetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy/noise"
)

// Run plans a stage for its tables and carries the plan out. Where it spends and env
// has no payer, it pays from a Ledger at the scale that the settings fix, or 1.
func Run(t testing.TB, s pipeline.Stage, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	t.Helper()
	c := Case{Stage: func() pipeline.Stage { return s }, In: map[string]Input{}, kind: &pipeline.Kind{}}
	for port, table := range in {
		c.In[port] = Input{Header: table.Header}
		c.kind.In = append(c.kind.In, pipeline.Port{Name: port})
	}
	work, plan, err := c.planned()
	if err != nil {
		return nil, err
	}
	if env.Privacy != nil || len(plan) == 0 {
		return work.Run(t.Context(), env, in)
	}
	l := &Ledger{Key: noise.Key{1}, Plan: plan}
	env.Privacy = l
	out, err := work.Run(t.Context(), env, in)
	if err == nil {
		err = l.Close()
	}
	return out, err
}

// Tables returns the rows of inputs as a stage reads them, in one batch each.
func Tables(in map[string]Input) pipeline.Tables { return Case{In: in}.tables(0) }

// After returns the table that stages, applied in turn by their ports in and out, make of one.
func After(t testing.TB, in Input, stages ...pipeline.Stage) Input {
	t.Helper()
	table := pipeline.FromRecords(in.Header, in.Rows)
	for _, s := range stages {
		out, err := Run(t, s, Env(1), pipeline.Tables{"in": table})
		if err != nil {
			t.Fatal(err)
		}
		table = out["out"]
	}
	rows, err := table.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return Input{Header: table.Header, Rows: rows}
}

// results runs a case and reads each output in whole.
func results(ctx context.Context, c Case, size int64, workers int) (map[string]arrow.Record, error) {
	o := observe(ctx, c, manner{size: size, workers: workers, key: 1})
	return o.records, o.err
}

// checkOutputs checks that what Run returns is what Plan said, or fails where it should,
// without quoting a value.
func checkOutputs(t reporter, k pipeline.Kind, c Case) {
	seen := observe(context.Background(), c, manner{size: 7, key: 1})
	got, err := seen.records, seen.err
	for _, port := range seen.edited {
		t.Errorf("the run changed the header of %s: other stages and the release read it", port)
	}
	if c.Fails {
		if err == nil {
			t.Error("the run succeeds, must fail")
		}
		checkSilent(t, c, err)
		return
	}
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	for _, port := range k.Out {
		r, ok := got[port.Name]
		if !ok {
			t.Errorf("output %s is missing", port.Name)
			continue
		}
		checkRecord(t, port.Name, seen.headers[port.Name], r)
		checkNames(t, port, seen.headers[port.Name], r)
		checkFigures(t, k, seen.headers[port.Name], r)
	}
}

// checkNames: files that are released as they are have the names that the port declares, since no other may enter a
// bundle.
func checkNames(t reporter, port pipeline.Port, h pipeline.Header, r arrow.Record) {
	if !h.Form.IsFiles() || h.Class == pipeline.Private || h.Form == pipeline.FormModel ||
		h.Form == pipeline.FormDetector {
		return
	}
	names := r.Column(0).(*array.String)
	for i := range names.Len() {
		if _, name, _ := strings.Cut(names.Value(i), "."); !slices.Contains(port.Files, name) {
			t.Errorf("output %s releases a file %s, its port declares %q", port.Name, name, port.Files)
		}
	}
}

// Collect reads an artifact whole, as one record: files have a row each, of their name and their data.
func Collect(ctx context.Context, a pipeline.Table) (arrow.Record, error) {
	if a.Files == nil {
		return a.Collect(ctx)
	}
	files, err := pipeline.ReadFiles(ctx, a)
	names := array.NewStringBuilder(memory.DefaultAllocator)
	values := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	for _, f := range files {
		names.Append(f.Name)
		values.Append(f.Data)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "name", Type: arrow.BinaryTypes.String},
		{Name: "data", Type: arrow.BinaryTypes.Binary}}, nil)
	return array.NewRecord(schema, []arrow.Array{names.NewArray(), values.NewArray()}, int64(len(files))), err
}

// Artifact returns the inverse of Collect: the artifact of header h that records hold.
func Artifact(h pipeline.Header, records ...arrow.Record) pipeline.Table {
	if !h.Form.IsFiles() {
		return pipeline.FromRecords(h, records...)
	}
	var files []pipeline.File
	for _, r := range records {
		names, data := r.Column(0).(*array.String), r.Column(1).(*array.Binary)
		for i := range names.Len() {
			files = append(files, pipeline.File{Name: names.Value(i), Data: data.Value(i)})
		}
	}
	return pipeline.WriteFiles(h, files)
}

// checkRecord holds rows against their header.
func checkRecord(t reporter, port string, h pipeline.Header, r arrow.Record) {
	if h.Form.IsFiles() {
		return
	}
	if !r.Schema().Equal(h.Schema) {
		t.Errorf("output %s: rows have the schema\n%v\nthe plan says\n%v", port, r.Schema(), h.Schema)
		return
	}
	if h.Rows > 0 && h.Rows != r.NumRows() {
		t.Errorf("output %s: has %d rows, the plan says %d", port, r.NumRows(), h.Rows)
	}
	if h.Form != pipeline.FormTable {
		return
	}
	for i, c := range h.Domain.Columns {
		checkColumn(t, port, c, r.Column(i))
	}
}

// checkColumn checks that a column has no null where the domain has none, and no code outside the categories.
func checkColumn(t reporter, port string, c domain.Column, a arrow.Array) {
	if a.NullN() > 0 && !c.Nullable {
		t.Errorf("output %s: column %s has %d nulls, its domain none", port, c.Name, a.NullN())
	}
	codes, ok := a.(*array.Int32)
	if !ok {
		return
	}
	n := len(c.Categories)
	if c.Encoding != nil {
		n = c.Encoding.Width
	}
	for i := range codes.Len() {
		if !codes.IsNull(i) && (codes.Value(i) < 0 || int(codes.Value(i)) >= n) {
			t.Errorf("output %s: column %s has a code outside its %d categories", port, c.Name, n)
			return
		}
	}
}

// checkRepeats checks that a stage gives the same bytes again: with two workers, however the rows come in
// batches, and where a stage that counts them gets their counts from a database.
func checkRepeats(t reporter, k pipeline.Kind, c Case) {
	first := c.recorded(1)
	if first.err != nil {
		checkSilent(t, c, first.err)
		return
	}
	manners := map[string]manner{"again": {workers: 1}, "with two workers": {workers: 2}, "in batches of 1": {size: 1,
		workers: 1}, "in batches of 7": {size: 7, workers: 2}}
	if first.work.Counts != nil {
		manners["on rows that stay in a database"] = manner{stays: true}
	}
	for what, m := range manners {
		m.key = 1
		second := observe(context.Background(), c, m)
		if second.err != nil {
			t.Errorf("run %s: %v", what, second.err)
			continue
		}
		for _, port := range k.Out {
			if !bytes.Equal(encoded(t, first.records[port.Name]), encoded(t, second.records[port.Name])) {
				t.Errorf("output %s differs when run %s", port.Name, what)
			}
		}
	}
}

// encoded returns a record as bytes, the same for equal rows: rebuilt first, since
// slices and unused bits would show.
func encoded(t reporter, r arrow.Record) []byte {
	columns := make([]arrow.Array, r.NumCols())
	for i := range columns {
		b := array.NewBuilder(memory.DefaultAllocator, r.Column(i).DataType())
		for j := range r.Column(i).Len() {
			appendValue(b, r.Column(i), j)
		}
		columns[i] = b.NewArray()
	}
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(r.Schema()))
	if err := w.Write(array.NewRecord(r.Schema(), columns, r.NumRows())); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func appendValue(b array.Builder, a arrow.Array, i int) {
	if a.IsNull(i) {
		b.AppendNull()
		return
	}
	switch a := a.(type) {
	case *array.Float64:
		b.(*array.Float64Builder).Append(a.Value(i))
	case *array.Float32:
		b.(*array.Float32Builder).Append(a.Value(i))
	case *array.Int64:
		b.(*array.Int64Builder).Append(a.Value(i))
	case *array.Int32:
		b.(*array.Int32Builder).Append(a.Value(i))
	case *array.Binary:
		b.(*array.BinaryBuilder).Append(a.Value(i))
	case *array.String:
		b.(*array.StringBuilder).Append(a.Value(i))
	default:
		panic(fmt.Sprintf("no artifact has columns of %s", a.DataType()))
	}
}

// doubled gives every second row the value of the one before.
func doubled(a arrow.Array) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, a.DataType())
	for i := range a.Len() {
		appendValue(b, a, i-i%2)
	}
	return b.NewArray()
}

func newRecord(like arrow.Record, columns []arrow.Array) arrow.Record {
	return array.NewRecord(like.Schema(), columns, like.NumRows())
}

// checkCancelled checks that a cancelled context ends the run, or the reading.
func checkCancelled(t reporter, k pipeline.Kind, c Case) {
	if len(c.In) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := results(ctx, c, 1, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled run of %s ends with %v, must be %v", k.Name, err, context.Canceled)
	}
}

// checkSilent checks that no text of an error holds a value of an input.
func checkSilent(t reporter, c Case, err error) {
	if err == nil {
		return
	}
	for _, in := range c.In {
		for i := range in.Rows.Columns() {
			a := in.Rows.Column(i)
			for j := range a.Len() {
				if v := a.ValueStr(j); !a.IsNull(j) && len(v) >= 4 && strings.Contains(err.Error(), v) {
					t.Errorf("the error %q quotes a value of column %s", err, in.Rows.ColumnName(i))
					return
				}
			}
		}
	}
}

// Env returns an environment with fixed randomness, no files and no budget, which reads what kinds released.
func Env(workers int, kinds ...pipeline.Kind) *pipeline.Env {
	source := noise.NewSource(noise.Key{1, 2, 3}, "conformance")
	return &pipeline.Env{
		Stage: "test", Workers: workers, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Progress: func(int64, int64) {}, Resumed: func(int64, int64) {}, Metric: func(string, float64) {},
		Rand:    func(purpose string) *rand.Rand { return rand.New(rand.NewPCG(7, placeOf(purpose))) },
		Secret:  func(purpose string) *noise.Stream { return stream(source, purpose) },
		Mem:     memory.DefaultAllocator,
		Readers: pipeline.ReadersOf(kinds),
		Files: func(path string, _ *pipeline.CSV, _ *domain.Domain) (pipeline.Table, error) {
			return pipeline.Table{}, fmt.Errorf("no file %s in a conformance test", path)
		},
		Create:  func(string) (io.WriteCloser, error) { return discard{&bytes.Buffer{}}, nil },
		Restore: func(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist },
	}
}

// stream panics where a stage asks for the same secret twice: it would get other
// numbers, and never mean to.
func stream(source *noise.Source, purpose string) *noise.Stream {
	s, err := source.Stream(purpose, 0)
	if err != nil {
		panic(err)
	}
	return s
}

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

func placeOf(purpose string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return binary.LittleEndian.Uint64(h.Sum(nil))
}
