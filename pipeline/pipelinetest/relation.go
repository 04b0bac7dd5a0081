package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
)

// relationRows is how many random rows a stage's expressions are compared on.
const relationRows = 400

// checkRelation checks that what a stage computes from Arrow records of one table is what its expressions say, where it
// has some.
func checkRelation(t reporter, c Case) {
	if c.In["in"].Header.Domain == nil || len(c.In) > 1 {
		return
	}
	if work, _, err := c.planned(); err == nil && work.Elsewhere != nil {
		checkElsewhere(t, c.In["in"].Header, interpreted, c.Stage())
	}
}

// CheckElsewhere compares what stages make of a table, one behind the other, with what their expressions say, for
// random rows with every trap: bounds and their neighbours, both zeros, infinities, whole numbers that no float64
// holds, and missing values. It returns why a stage needs the rows themselves; nil: none does.
func CheckElsewhere(t *testing.T, h pipeline.Header, stages ...pipeline.Stage) error {
	t.Helper()
	return checkElsewhere(t, h, interpreted, stages...)
}

// CheckEngine does what CheckElsewhere does, for rows that a database engine computes, such as enginetest.Engine. A
// case of more than one table, or whose stage needs the rows themselves, is none.
func CheckEngine(t *testing.T, c Case, compute func(r relation.Relation, stored [][]any) ([][]any, error)) {
	t.Helper()
	if c.In["in"].Header.Domain == nil || len(c.In) > 1 || c.Fails {
		return
	}
	computed := func(r relation.Relation, stored [][]value) ([][]value, error) {
		rows, err := compute(r, recast[value, any](stored))
		return recast[any, value](rows), err
	}
	_ = checkElsewhere(t, c.In["in"].Header, computed, c.Stage()) // why it needs the rows
}

// recast returns the same rows of another type.
func recast[From, To any](rows [][]From) [][]To {
	out := make([][]To, len(rows))
	for i, row := range rows {
		for _, v := range row {
			to, _ := any(v).(To)
			out[i] = append(out[i], to)
		}
	}
	return out
}

// computing computes the rows of a relation from stored ones.
type computing func(r relation.Relation, stored [][]value) ([][]value, error)

func interpreted(r relation.Relation, stored [][]value) ([][]value, error) {
	return interpret(r, stored), nil
}

func checkElsewhere(t reporter, h pipeline.Header, compute computing, stages ...pipeline.Stage) error {
	rows := trapped(h.Domain, rand.New(rand.NewPCG(7, 7)))
	stored := valuesOf(h.Domain, rows)
	computed, created := pipeline.StoredRelation(h.Domain), pipeline.FromRecords(h, rows)
	for _, stage := range stages {
		work, err := stage.Plan(pipeline.Headers{"in": h})
		if err != nil {
			t.Fatal(err)
		}
		if work.Elsewhere == nil {
			return errors.New("looks at whole tables")
		}
		if computed, err = work.Elsewhere(computed); err != nil {
			return err
		}
		out, err := work.Run(context.Background(), Env(1), pipeline.Tables{"in": created})
		if err != nil {
			t.Fatalf("on random rows: %v", err)
		}
		h, created = work.Out["out"], out["out"]
	}
	all, err := created.Collect(context.Background())
	if err != nil {
		t.Fatalf("on random rows: %v", err)
	}
	output, err := compute(computed, stored)
	if err != nil {
		t.Fatalf("on random rows: %v", err)
	}
	compareRows(t, h.Domain, output, valuesOf(h.Domain, all))
	return nil
}

// compareRows tells where rows of a domain differ; -0 is 0, as in every count.
func compareRows(t reporter, d *domain.Domain, output, created [][]value) {
	if len(output) != len(created) {
		t.Errorf("its expressions give %d rows, its makers %d", len(output), len(created))
		return
	}
	faults := 0
	for i := range output {
		for j, c := range d.Columns {
			if output[i][j] != created[i][j] && faults < 5 {
				faults++
				t.Errorf("row %d, column %s: its expression gives %v, its maker %v", i, c.Name, output[i][j], created[i][j])
			}
		}
	}
}

// trapped draws rows that a domain allows, full of values at which engines differ (appendTrap).
func trapped(d *domain.Domain, rng *rand.Rand) arrow.Record {
	columns := make([]arrow.Array, len(d.Columns))
	for i, c := range d.Columns {
		b := array.NewBuilder(memory.DefaultAllocator, c.ArrowType())
		for range relationRows {
			if c.Nullable && rng.IntN(8) == 0 {
				b.AppendNull()
				continue
			}
			appendTrap(b, c, rng)
		}
		columns[i] = b.NewArray()
	}
	return array.NewRecord(d.ArrowSchema(), columns, relationRows)
}

func appendTrap(b array.Builder, c domain.Column, rng *rand.Rand) {
	switch b := b.(type) {
	case *array.Int32Builder:
		b.Append(int32(rng.IntN(max(1, len(c.Categories)))))
	case *array.Int64Builder:
		b.Append(truncated(realTrap(c, rng)) + rng.Int64N(3) - 1)
	case *array.Float64Builder:
		b.Append(realTrap(c, rng))
	case *array.Float32Builder:
		b.Append(rng.Float32())
	case *array.StringBuilder:
		b.Append([]string{"", "a'b\";--", "north ", "ü"}[rng.IntN(4)])
	}
}

// realTrap draws a number: often one at which something changes.
func realTrap(c domain.Column, rng *rand.Rand) float64 {
	least, greatest := -10.0, 10.0
	if c.Bounds != nil {
		least, greatest = c.Bounds[0], c.Bounds[1]
	}
	traps := []float64{least, greatest, math.Nextafter(least, -1e9), math.Nextafter(greatest, 1e9), 0,
		math.Copysign(0, -1), 1, -1, 0x1p53, 0x1p53 + 2, -0x1p62, 1e300, -1e300, 5e-324, math.Inf(1), math.Inf(-1), 99999,
		math.Round(least + (greatest-least)/2)}
	if n := rng.IntN(2 * len(traps)); n < len(traps) {
		return traps[n]
	}
	x := least + float64(rng.Float64()*(greatest-least))
	if rng.IntN(2) == 0 {
		x = math.Round(x)
	}
	return x
}

// valuesOf returns the rows of a record as an interpreter has them.
func valuesOf(d *domain.Domain, r arrow.Record) [][]value {
	rows := make([][]value, r.NumRows())
	for i := range rows {
		rows[i] = make([]value, len(d.Columns))
		for j := range d.Columns {
			rows[i][j] = valueAt(r.Column(j), i)
		}
	}
	return rows
}

func valueAt(a arrow.Array, i int) value {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Float64:
		return a.Value(i)
	case *array.Float32:
		return float64(a.Value(i))
	case *array.String:
		return a.Value(i)
	}
	panic(fmt.Sprintf("pipelinetest: no value of the Arrow type %s", a.DataType()))
}
