package domain

import "github.com/apache/arrow/go/v15/arrow"

// ArrowSchema is the schema of a table of domain d (see ColumnType).
func (d *Domain) ArrowSchema() *arrow.Schema {
	fields := make([]arrow.Field, len(d.Columns))
	for i, c := range d.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: c.ArrowType(), Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// ArrowType is the Arrow type of the column's values.
func (c Column) ArrowType() arrow.DataType {
	switch {
	case c.Encoding != nil && c.Encoding.Form == OneHot:
		return arrow.PrimitiveTypes.Int32
	case c.Encoding != nil:
		return arrow.PrimitiveTypes.Float32
	case c.Type.Coded():
		return arrow.PrimitiveTypes.Int32
	case c.Type == Numeric:
		return arrow.PrimitiveTypes.Float64
	case c.Type == Text:
		return arrow.BinaryTypes.String
	}
	return arrow.PrimitiveTypes.Int64
}
