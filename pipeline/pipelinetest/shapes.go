package pipelinetest

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
)

// checkShapes: tables without rows, with one row, and with nothing but missing
// values, at each port in turn, are no reason to panic; what comes out still fits its
// header. On private rows they are no reason to fail either: that would tell of them.
func checkShapes(t reporter, k pipeline.Kind, c Case) {
	for _, port := range c.tablePorts() {
		in := c.In[port]
		shapes := map[string]arrow.Record{
			"no rows":         in.Rows.NewSlice(0, 0),
			"one row":         in.Rows.NewSlice(0, min(1, in.Rows.NumRows())),
			"nothing present": missing(in.Header, in.Rows),
		}
		for what, rows := range shapes {
			checkShape(t, k, c.withRows(port, rows), port+": "+what)
		}
	}
}

func checkShape(t reporter, k pipeline.Kind, c Case, what string) {
	o := observe(context.Background(), c, manner{workers: 1, key: 1})
	if o.err != nil {
		checkSilent(t, c, o.err)
		if !c.Whole || c.private() {
			t.Errorf("%s: %v", what, o.err)
		}
		return
	}
	for _, port := range k.Out {
		checkRecord(t, what+": "+port.Name, o.headers[port.Name], o.records[port.Name])
	}
}

// missing returns rows with every column that may be missing empty throughout.
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

// checkLazy checks that a lazy stage reads nothing before its output is opened, and then
// no more than it needs: the first batch out costs at most a few batches in,
// whatever the size of the table.
func checkLazy(t reporter, k pipeline.Kind, c Case) {
	work, _, err := c.planned()
	if err != nil || !work.Lazy || len(work.Spends) > 0 { // a paid stage may not be lazy: checkPaid
		return
	}
	read := map[string]*int{}
	tables := c.tables(1)
	for _, port := range c.tablePorts() {
		read[port] = new(int)
		tables[port] = counted(tables[port], read[port])
	}
	out, err := work.Run(context.Background(), Env(1, c.Kinds...), tables)
	if err != nil {
		t.Errorf("lazy run: %v", err)
		return
	}
	for port, n := range read {
		if *n > 0 {
			t.Errorf("%s is planned as lazy but reads %d batches of %s before its output is opened", k.Name, *n, port)
		}
	}
	checkFirstBatch(t, k, c, out, read)
}

// checkFirstBatch checks that public tables that a lazy stage looks things up in may be read
// whole, the one whose rows it hands on may not.
func checkFirstBatch(t reporter, k pipeline.Kind, c Case, out pipeline.Tables, read map[string]*int) {
	for _, err := range out[k.Out[0].Name].Open(context.Background()) {
		if err != nil {
			t.Errorf("lazy read: %v", err)
		}
		break
	}
	if in, ok := c.In["in"]; ok && in.Rows.NumRows() >= 8 && *read["in"] >= int(in.Rows.NumRows()) {
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
