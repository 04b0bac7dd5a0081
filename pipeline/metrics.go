package pipeline

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Metric is one figure of an evaluation. NaN is undefined, and Note says why.
type Metric struct {
	Name   string // such as total_variation or auroc
	Column string // the column, pair or model that it is about; "" where it is about the table
	Value  float64
	Note   string
}

// Key returns NAME or NAME.COLUMN.
func (m Metric) Key() string {
	if m.Column == "" {
		return m.Name
	}
	return m.Name + "." + m.Column
}

// MetricsSchema returns the schema of FormMetrics.
func MetricsSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: "metric", Type: arrow.BinaryTypes.String},
		{Name: "column", Type: arrow.BinaryTypes.String},
		{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String},
	}, nil)
}

// WriteMetrics returns the table of metrics, of header h with schema MetricsSchema.
func WriteMetrics(h Header, metrics []Metric) Table {
	h.Form, h.Schema = FormMetrics, MetricsSchema()
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for _, m := range metrics {
		b.Field(0).(*array.StringBuilder).Append(m.Name)
		b.Field(1).(*array.StringBuilder).Append(m.Column)
		if math.IsNaN(m.Value) {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Float64Builder).Append(m.Value)
		}
		b.Field(3).(*array.StringBuilder).Append(m.Note)
	}
	return FromRecords(h, b.NewRecord())
}

// ReadMetrics undoes WriteMetrics.
func ReadMetrics(ctx context.Context, t Table) ([]Metric, error) {
	var metrics []Metric
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		names, ok1 := rec.Column(0).(*array.String)
		columns, ok2 := rec.Column(1).(*array.String)
		values, ok3 := rec.Column(2).(*array.Float64)
		notes, ok4 := rec.Column(3).(*array.String)
		if !ok1 || !ok2 || !ok3 || !ok4 {
			return nil, fmt.Errorf("a table of metrics is of schema %s", rec.Schema())
		}
		for i := range names.Len() {
			m := Metric{names.Value(i), columns.Value(i), math.NaN(), notes.Value(i)}
			if values.IsValid(i) {
				m.Value = values.Value(i)
			}
			metrics = append(metrics, m)
		}
	}
	return metrics, nil
}
