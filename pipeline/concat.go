package pipeline

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

func concatColumn(t arrow.DataType, chunks []arrow.Record, i int) (arrow.Array, error) {
	if len(chunks) == 0 {
		b := array.NewBuilder(memory.DefaultAllocator, t)
		return b.NewArray(), nil
	}
	parts := make([]arrow.Array, len(chunks))
	for j, c := range chunks {
		parts[j] = c.Column(i)
	}
	return array.Concatenate(parts, memory.DefaultAllocator)
}
