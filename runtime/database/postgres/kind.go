package postgres

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/runtime/database/sql"
)

// kind is how a stored type is asked for and read.
type kind int

const (
	whole kind = iota
	double
	single
	flag
	text
	day
	moment
	momentZoned
	clock
)

// byType says how each type is read. Decimals are text: exact, and read as a CSV file's are.
func byType() map[string]kind {
	return map[string]kind{"int2": whole, "int4": whole, "int8": whole, "float8": double, "float4": single, "bool": flag,
		"text": text, "varchar": text, "bpchar": text, "name": text, "uuid": text, "numeric": text,
		"date": day, "timestamp": moment, "timestamptz": momentZoned, "time": clock}
}

func readTypes() []string {
	names := []string{"an enum"}
	for name := range byType() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// kindOf returns how a type is read; typtype is the catalogue's, e for an enum.
func kindOf(name, typtype string) (kind, bool) {
	if typtype == "e" {
		return text, true
	}
	k, is := byType()[name]
	return k, is && typtype == "b"
}

func (k kind) arrow() arrow.DataType {
	switch k {
	case whole:
		return arrow.PrimitiveTypes.Int64
	case double:
		return arrow.PrimitiveTypes.Float64
	case single:
		return arrow.PrimitiveTypes.Float32
	case flag:
		return arrow.FixedWidthTypes.Boolean
	case text:
		return arrow.BinaryTypes.String
	case day:
		return arrow.FixedWidthTypes.Date32
	case moment:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case momentZoned:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	}
	return arrow.FixedWidthTypes.Time64us
}

// expression returns what is asked for of a column: one spelling of each value, so that equal rows are equal bytes. -0
// is 0, and every NaN the same one; text is compared byte by byte.
func (k kind) expression(column string) string {
	switch c := quoted(column); k {
	case whole:
		return "(" + c + ")::int8"
	case double:
		return "CASE WHEN " + c + " = 'NaN'::float8 THEN 'NaN'::float8 ELSE " + c + " + 0::float8 END"
	case single:
		return "CASE WHEN " + c + " = 'NaN'::float4 THEN 'NaN'::float4 ELSE " + c + " + 0::float4 END"
	case text:
		return "(" + c + `)::text COLLATE pg_catalog."C"`
	default:
		return c
	}
}

var errCell = errors.New("has a cell of another width than its type's, must have the width that PostgreSQL sends")

// epoch is 2000-01-01, from which the server counts, in days since 1970-01-01.
const epoch = 10957

// dayLong is the microseconds of a day.
const dayLong = 24 * 60 * 60 * 1_000_000

// add appends a cell, which is null where it is nil, to the builder of its kind.
func (k kind) add(builder array.Builder, cell []byte) error {
	if cell == nil {
		builder.AppendNull()
		return nil
	}
	if k == text {
		if !utf8.Valid(cell) {
			return errors.New("has text that is not UTF-8, must be UTF-8")
		}
		builder.(*array.StringBuilder).BinaryBuilder.Append(cell)
		return nil
	}
	width := map[kind]int{whole: 8, double: 8, single: 4, flag: 1, day: 4, moment: 8, momentZoned: 8, clock: 8}[k]
	if len(cell) != width {
		return errCell
	}
	k.addFixed(builder, cell)
	return nil
}

func (k kind) addFixed(builder array.Builder, cell []byte) {
	var bits uint64
	switch len(cell) {
	case 8:
		bits = binary.BigEndian.Uint64(cell)
	case 4:
		bits = uint64(binary.BigEndian.Uint32(cell))
	default:
		bits = uint64(cell[0])
	}
	switch k {
	case whole:
		builder.(*array.Int64Builder).Append(int64(bits))
	case double:
		builder.(*array.Float64Builder).Append(math.Float64frombits(bits))
	case single:
		builder.(*array.Float32Builder).Append(math.Float32frombits(uint32(bits)))
	case flag:
		builder.(*array.BooleanBuilder).Append(bits != 0)
	case day:
		builder.(*array.Date32Builder).Append(arrow.Date32(shifted(int64(int32(bits)), epoch, math.MinInt32, math.MaxInt32)))
	case moment, momentZoned:
		builder.(*array.TimestampBuilder).Append(arrow.Timestamp(shifted(int64(bits), epoch*dayLong, math.MinInt64,
			math.MaxInt64)))
	default:
		builder.(*array.Time64Builder).Append(arrow.Time64(bits))
	}
}

// shifted moves a time to another epoch. An infinite one becomes the greatest that there is or the one behind the
// least, which pandas writes for a missing one: no domain holds either.
func shifted(t, divisor, least, most int64) int64 {
	switch {
	case t == least:
		return least + 1
	case t > most-divisor:
		return most
	}
	return t + divisor
}

// StoredColumn returns how a column is stored for what counts it.
func (c Column) StoredColumn() sql.Stored {
	stored := sql.Stored{Name: c.Name, Storage: map[kind]sql.Storage{whole: sql.Integer, double: sql.Double,
		single: sql.Double, flag: sql.Flag,
		text: sql.Words, day: sql.Day, moment: sql.Stamp, momentZoned: sql.Stamp, clock: sql.Clock}[c.kind]}
	if c.Stored == "numeric" {
		stored.Storage = sql.Decimal
	}
	return stored
}
