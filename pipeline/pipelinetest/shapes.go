package pipelinetest

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
)

// checkShapes: tables without rows, with one row, and with nothing but missing
// values are no reason to panic; what comes out still fits its header.
func checkShapes(t reporter, k pipeline.Kind, c Case) {
	in, ok := c.In["in"]
	if !ok {
		return
	}
	shapes := map[string]arrow.Record{
		"no rows":         in.Rows.NewSlice(0, 0),
		"one row":         in.Rows.NewSlice(0, min(1, in.Rows.NumRows())),
		"nothing present": missing(in.Header, in.Rows),
	}
	for what, rows := range shapes {
		shaped := c.with(rows)
		o, err := shaped.Stage().Plan(shaped.headers())
		if err != nil {
			t.Errorf("%s: plan: %v", what, err)
			continue
		}
		got, err := results(context.Background(), shaped, 0, 1)
		if err != nil {
			checkSilent(t, shaped, err)
			if !c.Whole {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		for _, port := range k.Out {
			checkRecord(t, what+": "+port.Name, o.Out[port.Name], got[port.Name])
		}
	}
}

// missing is rows with every column that may be missing empty throughout.
func missing(h pipeline.Header, rows arrow.Record) arrow.Record {
	columns := append([]arrow.Array(nil), rows.Columns()...)
	for i, c := range h.Domain.Columns {
		if c.Nullable {
			b := array.NewBuilder(memory.DefaultAllocator, columns[i].DataType())
			b.AppendNulls(int(rows.NumRows()))
			columns[i] = b.NewArray()
		}
	}
	return array.NewRecord(rows.Schema(), columns, rows.NumRows())
}

// checkLazy: a lazy stage reads nothing before its output is opened, and then
// no more than it needs: the first batch out costs at most a few batches in,
// whatever the size of the table.
func checkLazy(t reporter, k pipeline.Kind, c Case) {
	in, ok := c.In["in"]
	o, err := c.Stage().Plan(c.headers())
	if err != nil || !o.Lazy || !ok || in.Rows.NumRows() < 8 {
		return
	}
	read := 0
	tables := c.tables(1)
	tables["in"] = counted(tables["in"], &read)
	out, err := o.Run(context.Background(), Env(1), tables)
	if err != nil {
		t.Errorf("lazy run: %v", err)
		return
	}
	if read > 0 {
		t.Errorf("%s is planned as lazy but reads %d batches before its output is opened", k.Name, read)
	}
	for _, err := range out[k.Out[0].Name].Open(context.Background()) {
		if err != nil {
			t.Errorf("lazy read: %v", err)
		}
		break
	}
	if most := int(in.Rows.NumRows()) - 1; read > most {
		t.Errorf("%s is planned as lazy but its first batch reads the whole table", k.Name)
	}
}

func counted(t pipeline.Table, read *int) pipeline.Table {
	open := t.Open
	t.Open = func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			for r, err := range open(ctx) {
				*read++
				if !yield(r, err) {
					return
				}
			}
		}
	}
	return t
}
