package duckdb

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/runtime/database/sql"
)

// storage is how a type of DuckDB crosses the pipe: an expression that spells a value exactly, as text, and the Arrow
// type that it is read back as. No value fails to be spelled.
type storage struct {
	arrow arrow.DataType
	spell string // with %s for the column
}

// infinite spells dates and timestamps that are none, which are refused when they are read.
const infinite = "infinity"

// Labels returns the values of an ENUM as its type lists them; nil of other types. They are part of the schema: no row
// is read for them.
func (c Column) Labels() (list []string) {
	text, known := strings.CutPrefix(c.Type, "ENUM(")
	for known {
		label, rest := "", text
		for first := true; first || strings.HasPrefix(rest, "'"); first = false { // a quote in a label is doubled
			if rest, known = strings.CutPrefix(rest, "'"); !known {
				return nil
			}
			end := strings.IndexByte(rest, '\'')
			if end < 0 {
				return nil
			}
			if !first {
				label += "'"
			}
			label, rest = label+rest[:end], rest[end+1:]
		}
		list = append(list, label)
		text, known = strings.CutPrefix(rest, ", ")
	}
	return list
}

// storedAs returns the storage of a type by DuckDB's name of it.
func storedAs(name string) storage {
	if precision, scale, ok := decimal(name); ok {
		return storage{&arrow.Decimal128Type{Precision: precision, Scale: scale}, "CAST(%s AS VARCHAR)"}
	}
	if strings.HasPrefix(name, "ENUM(") && strings.HasSuffix(name, ")") {
		name = "VARCHAR"
	}
	finite := func(spell string) string {
		return "CASE WHEN isfinite(%[1]s) THEN CAST(" + spell + " AS VARCHAR) WHEN %[1]s IS NOT NULL THEN '" + infinite +
			"' END"
	}
	switch name {
	case "BOOLEAN":
		return storage{arrow.FixedWidthTypes.Boolean, "CAST(%s AS VARCHAR)"}
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER":
		return storage{arrow.PrimitiveTypes.Int64, "CAST(%s AS VARCHAR)"}
	case "UBIGINT":
		return storage{arrow.PrimitiveTypes.Uint64, "CAST(%s AS VARCHAR)"}
	case "FLOAT", "DOUBLE": // 32 bits become the same number in 64
		return storage{arrow.PrimitiveTypes.Float64, "CAST(CAST(%s AS DOUBLE) AS VARCHAR)"}
	case "VARCHAR", "UUID":
		return storage{arrow.BinaryTypes.String, "CAST(%s AS VARCHAR)"}
	case "DATE":
		return storage{arrow.FixedWidthTypes.Date32, finite("date_diff('day', DATE '1970-01-01', %[1]s)")}
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS":
		return storage{&arrow.TimestampType{Unit: arrow.Microsecond}, finite("epoch_us(CAST(%[1]s AS TIMESTAMP))")}
	case "TIMESTAMP WITH TIME ZONE":
		return storage{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, finite("epoch_us(%[1]s)")}
	case "TIMESTAMP_NS":
		return storage{&arrow.TimestampType{Unit: arrow.Nanosecond}, finite("epoch_ns(%[1]s)")}
	case "TIME":
		return storage{arrow.FixedWidthTypes.Time64us, "CAST(epoch_us(%s) AS VARCHAR)"}
	}
	return storage{arrow.BinaryTypes.Binary, ""}
}

// decimal takes DECIMAL(18,3) apart.
func decimal(name string) (precision, scale int32, ok bool) {
	n, err := fmt.Sscanf(name, "DECIMAL(%d,%d)", &precision, &scale)
	return precision, scale, n == 2 && err == nil
}

// expression spells a column.
func (c Column) expression() string { return fmt.Sprintf(storedAs(c.Type).spell, identifier(c.Name)) }

// Stored returns how a column is stored for what counts it; the name of the type where that is nothing it computes
// with.
func (c Column) Stored() sql.Stored {
	stored := sql.Stored{Name: c.Name, Storage: sql.Storage(c.Type)}
	if precision, _, ok := decimal(c.Type); ok {
		stored.Storage, stored.Digits = sql.Decimal, int(precision)
		return stored
	}
	if strings.HasPrefix(c.Type, "ENUM(") {
		stored.Storage = sql.Words
		return stored
	}
	switch c.Type {
	case "BOOLEAN":
		stored.Storage = sql.Flag
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER":
		stored.Storage = sql.Integer
	case "FLOAT", "DOUBLE":
		stored.Storage = sql.Double
	case "VARCHAR", "UUID":
		stored.Storage = sql.Words
	case "DATE":
		stored.Storage = sql.Day
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP WITH TIME ZONE":
		stored.Storage = sql.Stamp
	case "TIMESTAMP_NS":
		stored.Storage = sql.Nanos
	case "TIME":
		stored.Storage = sql.Clock
	}
	return stored
}
