package spark

import (
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/runtime/database/sql"
)

// storage is how cells of a type are computed with, and the Arrow type that is held against a domain.
type storage struct {
	sql   sql.Storage
	arrow arrow.DataType
}

// storages lists the types that are computed with, but for decimals.
func storages() map[string]storage {
	whole := storage{sql.Integer, arrow.PrimitiveTypes.Int64}
	return map[string]storage{
		"tinyint": whole, "smallint": whole, "int": whole, "bigint": whole,
		"float": {sql.Double, arrow.PrimitiveTypes.Float32}, "double": {sql.Double, arrow.PrimitiveTypes.Float64},
		"boolean": {sql.Flag, arrow.FixedWidthTypes.Boolean}, "string": {sql.Words, arrow.BinaryTypes.String},
		"date":          {sql.Day, arrow.FixedWidthTypes.Date32},
		"timestamp_ltz": {sql.Stamp, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		"timestamp_ntz": {sql.Stamp, &arrow.TimestampType{Unit: arrow.Microsecond}},
	}
}

// storage returns the storage of the column; one of a type that is not computed with is refused by whoever reads it.
func (c Column) storage() storage {
	if c.Type.Name == "decimal" {
		return storage{sql.Decimal, &arrow.Decimal128Type{Precision: c.Type.Digits, Scale: c.Type.Scale}}
	}
	if s, is := storages()[c.Type.Name]; is {
		return s
	}
	return storage{sql.Storage(strconv.Quote(c.Type.Name)), arrow.Null}
}

// StoredColumn returns how the column is stored.
func (c Column) StoredColumn() sql.Stored {
	return sql.Stored{Name: c.Name, Storage: c.storage().sql, Digits: int(c.Type.Digits)}
}

// Arrow returns the Arrow type of the column's values.
func (c Column) Arrow() arrow.DataType { return c.storage().arrow }
