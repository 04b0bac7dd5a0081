package pipelinetest

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
	"weir/pipeline/neighbour"
)

// line is a row of an edited table: row of the old one, changed to a style.
type line struct {
	row int
	to  neighbour.Style
}

func keepAll(n int) []line {
	lines := make([]line, n)
	for i := range lines {
		lines[i].row = i
	}
	return lines
}

// edited is a table of the given lines. Changed lines all belong to one new unit,
// and stay in their shard.
func edited(in Input, lines []line) arrow.Record {
	columns := make([]arrow.Array, in.Rows.NumCols())
	for j := range columns {
		b := array.NewBuilder(memory.DefaultAllocator, in.Rows.Column(j).DataType())
		for _, l := range lines {
			appendLine(b, in, j, l)
		}
		columns[j] = b.NewArray()
	}
	return array.NewRecord(in.Rows.Schema(), columns, int64(len(lines)))
}

func appendLine(b array.Builder, in Input, j int, l line) {
	a, d := in.Rows.Column(j), in.Header.Domain
	switch {
	case l.to == neighbour.Kept || j >= len(d.Columns): // beyond the domain: the shard
		appendValue(b, a, l.row)
	case d.Columns[j].Name == in.Header.Terms.Unit.Column:
		appendUnit(b, a, d.Columns[j])
	case l.to == neighbour.Another:
		appendValue(b, a, (l.row+1)%a.Len())
	case l.to == neighbour.Absent && d.Columns[j].Nullable:
		b.AppendNull()
	default:
		neighbour.AppendExtreme(b, d.Columns[j], l.to)
	}
}

// appendUnit names a unit that the table does not have, where the type allows it.
func appendUnit(b array.Builder, a arrow.Array, c domain.Column) {
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append("someone new")
	case *array.Int64Builder:
		most := int64(math.MinInt32)
		for i := range a.Len() {
			most = max(most, a.(*array.Int64).Value(i))
		}
		b.Append(most + 1)
	default:
		neighbour.AppendExtreme(b, c, neighbour.High)
	}
}
