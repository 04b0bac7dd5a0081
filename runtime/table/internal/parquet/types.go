package parquet

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// arrowSchema returns the columns of a file in the types of Arrow. A combination of a stored and a logical type that
// the format does not define is an error.
func arrowSchema(root *schema.GroupNode) (*arrow.Schema, error) {
	fields, err := arrowFields(root)
	return arrow.NewSchema(fields, nil), err
}

func arrowFields(group *schema.GroupNode) ([]arrow.Field, error) {
	fields := make([]arrow.Field, group.NumFields())
	for i := range fields {
		node := group.Field(i)
		kind, err := arrowType(node)
		if err != nil {
			return nil, err
		}
		fields[i] = arrow.Field{Name: node.Name(), Type: kind,
			Nullable: node.RepetitionType() == parquet.Repetitions.Optional}
	}
	return fields, nil
}

// arrowType returns the type of a column: of a group a struct, of what repeats a list.
func arrowType(node schema.Node) (kind arrow.DataType, err error) {
	switch n := node.(type) {
	case *schema.GroupNode:
		var fields []arrow.Field
		fields, err = arrowFields(n)
		kind = arrow.StructOf(fields...)
	case *schema.PrimitiveNode:
		kind = leafType(n)
	}
	if err == nil && kind == nil {
		err = errTypes
	}
	if err == nil && node.RepetitionType() == parquet.Repetitions.Repeated {
		kind = arrow.ListOf(kind)
	}
	return kind, err
}

// leafType returns the type of a stored column by the table of the format (parquet-format, LogicalTypes.md), nil where
// its logical type does not fit the way in which it is stored. Bytes have a type so that a message
// can name them: cells of them are not read.
func leafType(n *schema.PrimitiveNode) arrow.DataType {
	logical, stored := n.LogicalType(), n.PhysicalType()
	switch t := logical.(type) {
	case *schema.IntLogicalType:
		return integerType(stored, t)
	case *schema.DecimalLogicalType:
		return decimalType(n, t)
	case *schema.TimeLogicalType:
		return timeType(stored, t.TimeUnit())
	case *schema.TimestampLogicalType:
		return timestampType(stored, t)
	case schema.DateLogicalType:
		return only(stored == parquet.Types.Int32, arrow.FixedWidthTypes.Date32)
	case schema.StringLogicalType:
		return only(stored == parquet.Types.ByteArray, arrow.BinaryTypes.String)
	}
	if !logical.IsValid() || logical.Equals(schema.NullLogicalType{}) {
		return arrow.Null
	}
	return storedType(n)
}

// only returns a type where it fits, nil elsewhere.
func only(fits bool, kind arrow.DataType) arrow.DataType {
	if fits {
		return kind
	}
	return nil
}

// integerType returns an integer of as many bits as the format says, in the word that the format keeps it in.
func integerType(stored parquet.Type, t *schema.IntLogicalType) arrow.DataType {
	kinds := map[int8][2]arrow.DataType{
		8:  {arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8},
		16: {arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16},
		32: {arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32},
		64: {arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64},
	}[t.BitWidth()]
	fits := stored == parquet.Types.Int32 && t.BitWidth() < 64 || stored == parquet.Types.Int64 && t.BitWidth() == 64
	if t.IsSigned() {
		return only(fits, kinds[0])
	}
	return only(fits, kinds[1])
}

// decimalType returns a decimal of at most 38 digits, which 16 bytes hold; of more digits its type is not read.
func decimalType(n *schema.PrimitiveNode, t *schema.DecimalLogicalType) arrow.DataType {
	if t.Precision() > 38 {
		return &arrow.Decimal256Type{Precision: t.Precision(), Scale: t.Scale()}
	}
	fits := n.PhysicalType() != parquet.Types.FixedLenByteArray || n.TypeLength() >= 1 && n.TypeLength() <= 16
	return only(fits, &arrow.Decimal128Type{Precision: t.Precision(), Scale: t.Scale()})
}

func timeType(stored parquet.Type, unit schema.TimeUnitType) arrow.DataType {
	switch {
	case stored == parquet.Types.Int32 && unit == schema.TimeUnitMillis:
		return arrow.FixedWidthTypes.Time32ms
	case stored == parquet.Types.Int64 && unit == schema.TimeUnitMicros:
		return arrow.FixedWidthTypes.Time64us
	case stored == parquet.Types.Int64 && unit == schema.TimeUnitNanos:
		return arrow.FixedWidthTypes.Time64ns
	}
	return nil
}

func timestampType(stored parquet.Type, t *schema.TimestampLogicalType) arrow.DataType {
	units := map[schema.TimeUnitType]arrow.TimeUnit{
		schema.TimeUnitMillis: arrow.Millisecond, schema.TimeUnitMicros: arrow.Microsecond,
		schema.TimeUnitNanos: arrow.Nanosecond,
	}
	unit, known := units[t.TimeUnit()]
	kind := &arrow.TimestampType{Unit: unit}
	if t.IsAdjustedToUTC() {
		kind.TimeZone = "UTC"
	}
	return only(known && stored == parquet.Types.Int64, kind)
}

// storedType returns the type of a column whose logical type says no more than how it is stored.
func storedType(n *schema.PrimitiveNode) arrow.DataType {
	switch n.PhysicalType() {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Int32:
		return arrow.PrimitiveTypes.Int32
	case parquet.Types.Int64:
		return arrow.PrimitiveTypes.Int64
	case parquet.Types.Int96:
		return &arrow.TimestampType{Unit: arrow.Second} // which holds every day that 96 bits can name
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.ByteArray:
		return arrow.BinaryTypes.Binary
	case parquet.Types.FixedLenByteArray:
		return &arrow.FixedSizeBinaryType{ByteWidth: n.TypeLength()}
	}
	return nil
}
