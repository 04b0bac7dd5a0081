package prep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
)

// maker computes one column of the output from a batch of the input.
type maker func(arrow.Record) (arrow.Array, error)

// stated says what a maker computes, as an expression over the columns of the input. An error says in words why none of
// the language of expressions is it.
type stated func(in []relation.Expr) (relation.Expr, error)

// rewrite is a row-by-row stage after planning: the output's header and, for
// each of its domain columns, how it is made. Makers are asked for anew each
// time the table is opened, since some draw random numbers as they go.
type rewrite struct {
	out      pipeline.Header
	makers   func(randomness) []maker
	exprs    []stated // what each maker computes; nil: rows says why that is not stated
	rows     string
	draws    bool // from randomness, one number for each row of a column, whatever it holds
	findings []pipeline.Finding
}

// randomness makes the random source of a column, the same one at each call: a lazy
// table draws the same values whenever it is opened. Each column has its own, so that
// its draws do not depend on how rows come in batches.
type randomness func(column int) *rand.Rand

// publicDraws returns draws that anyone may repeat.
func publicDraws(base func() *rand.Rand) randomness {
	return func(column int) *rand.Rand {
		rng := base()
		var a, b uint64
		for range column + 1 {
			a, b = rng.Uint64(), rng.Uint64()
		}
		return rand.New(rand.NewPCG(a, b))
	}
}

// secretDraws returns draws that nobody but the dataset's owner may repeat.
func secretDraws(k key) randomness {
	return func(column int) *rand.Rand {
		return key(sha256.Sum256(binary.LittleEndian.AppendUint64(k[:], uint64(column)))).sequence()
	}
}

// keep returns the maker that passes input column i on.
func keep(i int) maker {
	return func(r arrow.Record) (arrow.Array, error) { return r.Column(i), nil }
}

// keepAll passes on every domain column of d.
func keepAll(d *domain.Domain) []maker {
	makers := make([]maker, len(d.Columns))
	for i := range makers {
		makers[i] = keep(i)
	}
	return makers
}

// keepLast passes on the shard column, which is the last one of its table.
func keepLast(r arrow.Record) (arrow.Array, error) { return r.Column(int(r.NumCols()) - 1), nil }

// sameAs states that a column is input column i.
func sameAs(i int) stated { return stating(i, func(e relation.Expr) relation.Expr { return e }) }

// stating states a function of input column i.
func stating(i int, f func(relation.Expr) relation.Expr) stated {
	return func(in []relation.Expr) (relation.Expr, error) { return f(in[i]), nil }
}

// sameAll states keepAll.
func sameAll(d *domain.Domain) []stated {
	exprs := make([]stated, len(d.Columns))
	for i := range exprs {
		exprs[i] = sameAs(i)
	}
	return exprs
}

// elsewhere states the rewrite.
func (w rewrite) elsewhere(r relation.Relation) (relation.Relation, error) {
	if w.exprs == nil {
		return r, errors.New(cmp.Or(w.rows, "is not translated into SQL"))
	}
	in, l := r.Columns(), relation.Layer{}
	for i, c := range w.out.Domain.Columns {
		e, err := w.exprs[i](in)
		if err != nil {
			return r, fmt.Errorf("column %s: %w", c.Name, err)
		}
		l.Columns = append(l.Columns, relation.Named{Name: c.Name, Expr: e})
	}
	return r.With(l), nil
}

// needsRows says of a stage why no database can compute it.
func needsRows(why string) pipeline.Statement {
	return func(r relation.Relation) (relation.Relation, error) { return r, errors.New(why) }
}

// fixed offers the same makers at each opening.
func fixed(makers []maker) func(randomness) []maker {
	return func(randomness) []maker { return makers }
}

// rowHeader returns the header of a table computed row by row with public
// parameters: class, stability and public row count stay (docs/design.md section 3). Rules
// between columns go where a column is gone or means something else.
func rowHeader(in pipeline.Header, d *domain.Domain) pipeline.Header {
	d.Carry(in.Domain)
	return pipeline.TableHeader(d, in)
}

// apply changes the batches of t as they are read. The shard column, where
// there is one that no maker makes, is passed on.
func (w rewrite) apply(t pipeline.Table, random randomness) pipeline.Table {
	return pipeline.Table{Header: w.out, Open: func(ctx context.Context) pipeline.Batches {
		makers := w.makers(random)
		if len(makers) < w.out.Schema.NumFields() {
			makers = append(makers[:len(makers):len(makers)], keepLast)
		}
		return t.Map(w.out, func(r arrow.Record) (arrow.Record, error) { return w.record(r, makers) }).Open(ctx)
	}}
}

func (w rewrite) record(r arrow.Record, makers []maker) (arrow.Record, error) {
	columns := make([]arrow.Array, len(makers))
	for i, make := range makers {
		c, err := make(r)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", w.out.Schema.Field(i).Name, err)
		}
		columns[i] = c
	}
	return array.NewRecord(w.out.Schema, columns, r.NumRows()), nil
}

// planRows returns the plan of every stage that is a rewrite of its one input and
// draws nothing.
func planRows(in pipeline.Headers, plan func(pipeline.Header) (rewrite, error)) (pipeline.Work, error) {
	w, err := plan(in["in"])
	if err != nil {
		return pipeline.Work{}, err
	}
	return pipeline.Work{Out: pipeline.Headers{"out": w.out}, Lazy: true, Findings: w.findings, Elsewhere: w.elsewhere,
		Run: func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			return pipeline.Tables{"out": w.apply(in["in"], nil)}, nil
		}}, nil
}

// tableIn and tableOut are the sockets of a kind with one table in and one out.
func tableIn() []pipeline.Port {
	return []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "the table"}}
}

func tableOut(doc string) []pipeline.Port {
	return []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: doc}}
}

// forget takes a column out of the history of d: the one that has its name from here
// on did not come of those steps, so undoing them must leave it alone.
func forget(d *domain.Domain, name string) {
	for i, step := range d.History {
		index := step.Before.Index(name)
		if index < 0 {
			continue
		}
		before := step.Before.Clone()
		before.Columns = slices.Delete(before.Columns, index, index+1)
		d.History[i].Before = before
	}
}

// remember appends an invertible step to the history of d, which led to it from
// before. What is remembered of a column proves nothing of the one that has its
// name when the step is undone.
func remember(d, before *domain.Domain, kind string, params []byte) {
	source := before.Clone()
	source.History = nil
	for i := range source.Columns {
		source.Columns[i].OfUnit = false
	}
	d.History = append(d.History, domain.Transform{Kind: kind, Params: params, Before: source})
}

// number is a type of the fixed-width columns of a pipeline.
type number interface {
	float64 | float32 | int64 | int32
}

// bits says which values are present; nil says all.
type bits []byte

func newBits(n int) bits { return make(bits, bitutil.BytesForBits(int64(n))) }

func allSet(n int) bits {
	b := newBits(n)
	bitutil.SetBitsTo(b, 0, int64(n), true)
	return b
}

func (b bits) has(i int) bool { return b == nil || bitutil.BitIsSet(b, i) }

// present copies which values of a are not null.
func present(a arrow.Array) bits {
	if a.NullN() == 0 {
		return nil
	}
	b := newBits(a.Len())
	if a.DataType().ID() != arrow.NULL {
		bitutil.CopyBitmap(a.NullBitmapBytes(), a.Data().Offset(), a.Len(), b, 0)
	}
	return b
}

// setMissing returns b with value i missing; n is the number of values.
func (b bits) setMissing(i, n int) bits {
	if b == nil {
		b = allSet(n)
	}
	bitutil.ClearBit(b, i)
	return b
}

// column wraps values and their presence as an Arrow array, without copying.
func column[T number](t arrow.DataType, values []T, b bits) arrow.Array {
	var valid *memory.Buffer
	nulls := 0
	if b != nil {
		valid = memory.NewBufferBytes(b)
		nulls = len(values) - bitutil.CountSetBits(b, 0, len(values))
	}
	data := array.NewData(t, len(values), []*memory.Buffer{valid, memory.NewBufferBytes(arrow.GetBytes(values))}, nil,
		nulls, 0)
	return array.MakeFromData(data)
}

// floats reads a fixed-width column as float64; values at nulls mean nothing.
// The result of a float64 column is its own memory: do not write to it.
func floats(a arrow.Array) ([]float64, error) {
	if a, ok := a.(*array.Float64); ok {
		return a.Float64Values(), nil
	}
	values := make([]float64, a.Len())
	return values, look(a, func(i int, v float64) { values[i] = v })
}

// look yields the values of a fixed-width column as float64, without a copy of
// them; values at nulls mean nothing.
func look(a arrow.Array, see func(i int, v float64)) error {
	switch a := a.(type) {
	case *array.Float64:
		each(a.Float64Values(), see)
	case *array.Int64:
		each(a.Int64Values(), see)
	case *array.Int32:
		each(a.Int32Values(), see)
	case *array.Float32:
		each(a.Float32Values(), see)
	default:
		return fmt.Errorf("has the Arrow type %s, must be a number", a.DataType())
	}
	return nil
}

func each[T number](values []T, see func(i int, v float64)) {
	for i, v := range values {
		see(i, float64(v))
	}
}

func convert[A, B number](from []A) []B {
	dst := make([]B, len(from))
	for i, v := range from {
		dst[i] = B(v)
	}
	return dst
}

// store turns float64 values into a column of type t; whole-number types take
// values that are whole already.
func store(t arrow.DataType, values []float64, b bits) arrow.Array {
	switch t.ID() {
	case arrow.INT64:
		whole := make([]int64, len(values))
		for i, v := range values {
			whole[i] = int64(saturated(v))
		}
		return column(t, whole, b)
	case arrow.INT32:
		return column(t, convert[float64, int32](values), b)
	case arrow.FLOAT32:
		return column(t, convert[float64, float32](values), b)
	}
	return column(t, values, b)
}

// replacing returns a, as a column of type t, with other values at some places, and presence b. What stands elsewhere
// is as it was, to the bit: an integer that a float64 does not hold must not be rounded because a row of the batch is
// replaced, since then one unit would change the rows of others, and the parts and shards that go by their names.
func replacing(a arrow.Array, t arrow.DataType, places []int, value func(j int) float64, b bits) (arrow.Array, error) {
	if a, ok := a.(*array.Int64); ok && t.ID() == arrow.INT64 {
		whole := slices.Clone(a.Int64Values())
		for _, j := range places {
			whole[j] = int64(saturated(value(j)))
		}
		return column(t, whole, b), nil
	}
	values, err := floats(a)
	stored := slices.Clone(values)
	for _, j := range places {
		stored[j] = value(j)
	}
	return store(t, stored, b), err
}

// codes reads an int32 column.
func codes(a arrow.Array) ([]int32, error) {
	if a, ok := a.(*array.Int32); ok {
		return a.Int32Values(), nil
	}
	return nil, fmt.Errorf("has the Arrow type %s, must be int32", a.DataType())
}

// withBits returns a with other values missing; its values are shared.
func withBits(a arrow.Array, b bits) arrow.Array {
	d, buffers := a.Data(), slices.Clone(a.Data().Buffers())
	valid := newBits(d.Offset() + d.Len())
	bitutil.CopyBitmap(b, 0, d.Len(), valid, d.Offset())
	buffers[0] = memory.NewBufferBytes(valid)
	nulls := d.Len() - bitutil.CountSetBits(b, 0, d.Len())
	return array.MakeFromData(array.NewData(d.DataType(), d.Len(), buffers, nil, nulls, d.Offset()))
}

// sorted lists the keys of m in alphabetical order, so that plans do not depend
// on the order of a map.
func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
