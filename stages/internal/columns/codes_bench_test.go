package columns

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// BenchmarkReadCodes reads a table of the shape of Adult, 13 columns, six of numbers, in
// batches of 65,536 rows: ns a row. Each batch is one record again, so that 10 million
// rows need no 900 MB.
func BenchmarkReadCodes(b *testing.B) {
	const batches, rows = 152, 1 << 16
	d := &domain.Domain{}
	for i := range 13 {
		c := domain.Column{Name: string(rune('a' + i)), Type: domain.Categorical, Categories: make([]string, 3*i),
			Nullable: i > 9}
		switch {
		case i < 4:
			c = bounded(domain.Integer, 0, 100, 0)
		case i < 5:
			c = bounded(domain.Numeric, 0, 100, .1)
		case i < 6:
			c = bounded(domain.Numeric, 0, 100, 0)
		}
		c.Name = string(rune('a' + i))
		d.Columns = append(d.Columns, c)
	}
	var grids []Grid
	h := pipeline.TableHeader(d, pipeline.Header{Rows: batches * rows})
	build, rng := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema), rand.New(rand.NewPCG(1, 1))
	for i, c := range d.Columns {
		g, err := GridOf(c)
		if err != nil {
			b.Fatal(err)
		}
		cells := make([]uint16, rows)
		for k := range cells {
			cells[k] = uint16(rng.IntN(g.Cells()))
		}
		if err := g.Append(build.Field(i), cells, rng); err != nil {
			b.Fatal(err)
		}
		grids = append(grids, g)
	}
	records := make([]arrow.Record, batches)
	records[0] = build.NewRecord()
	for i := range records {
		records[i] = records[0]
	}
	table := pipeline.FromRecords(h, records...)
	for b.Loop() {
		if _, err := ReadCodes(b.Context(), table, grids); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batches/rows, "ns/row")
}
