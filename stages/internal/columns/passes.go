package columns

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// passes is rows that are read from their table each time: one batch is in memory, however many rows there are.
type passes struct {
	table  pipeline.Table
	grids  []Grid
	fields []int
	tell   func(done, total int64) // how far a pass is
}

func passesOf(t pipeline.Table, grids []Grid, tell func(done, total int64)) (*passes, error) {
	fields, err := fieldsOf(t, grids)
	return &passes{table: t, grids: grids, fields: fields, tell: tell}, err
}

// fieldsOf returns where the columns of grids are in a table.
func fieldsOf(t pipeline.Table, grids []Grid) ([]int, error) {
	fields := make([]int, len(grids))
	for i, g := range grids {
		places := t.Schema.FieldIndices(g.Name())
		if len(places) != 1 {
			return nil, fmt.Errorf("column %s: is %d times in the table, must be there once", g.Name(), len(places))
		}
		fields[i] = places[0]
	}
	return fields, nil
}

// each implements rows.
func (p *passes) each(ctx context.Context, some []int, use func(batch)) (number int64, err error) {
	cells, within := make([][]uint16, len(p.grids)), []uint8(nil)
	var rec arrow.Record
	b := batch{cells: cells, within: func(j int) []uint8 {
		within = p.grids[j].appendWithin(within[:0], rec.Column(p.fields[j]))
		return within
	}}
	for rec, err = range p.table.Open(ctx) {
		if err != nil {
			return 0, err
		}
		for _, j := range some {
			if cells[j], err = p.grids[j].append(cells[j][:0], rec.Column(p.fields[j])); err != nil {
				return 0, fmt.Errorf("column %s: %w", p.grids[j].Name(), err)
			}
		}
		use(b)
		number += rec.NumRows()
		if public := PublicRows(p.table.Header); public > 0 { // how many private rows were read is told to nobody
			p.tell(number, public)
		}
	}
	return number, ctx.Err()
}
