package pipelinetest

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
)

// Rows builds the record of domain d from columns of Go values: float64, int,
// string (a category of a coded column, or text) and nil for missing. A value
// that does not fit is a mistake of the test and panics.
func Rows(d *domain.Domain, columns ...[]any) arrow.Record {
	arrays := make([]arrow.Array, len(d.Columns))
	for i, c := range d.Columns {
		b := array.NewBuilder(memory.DefaultAllocator, c.ArrowType())
		for _, v := range columns[i] {
			put(b, c, v)
		}
		arrays[i] = b.NewArray()
	}
	return array.NewRecord(d.ArrowSchema(), arrays, int64(len(columns[0])))
}

func put(b array.Builder, c domain.Column, v any) {
	switch b := b.(type) {
	case *array.Float64Builder:
		if x, ok := v.(int); ok {
			v = float64(x)
		}
		if x, ok := v.(float64); ok {
			b.Append(x)
			return
		}
	case *array.Int64Builder:
		if x, ok := v.(int); ok {
			b.Append(int64(x))
			return
		}
	case *array.Int32Builder:
		for code, name := range c.Categories {
			if name == v {
				b.Append(int32(code))
				return
			}
		}
	case *array.StringBuilder:
		if x, ok := v.(string); ok {
			b.Append(x)
			return
		}
	}
	if v != nil {
		panic(fmt.Sprintf("column %s: %v is no value of a column that is %s", c.Name, v, c.Type))
	}
	b.AppendNull()
}
