package table

import (
	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// unlistedUnit returns the column of units where a value can become missing without being
// declared missing, and "" where none can: a cell of text or an integer keeps its value,
// and any other cell that is no value is an error.
func unlistedUnit(dom *domain.Domain, d *dialect, unit string) string {
	if c := dom.Column(unit); c != nil && c.Type.Coded() && d.unknownNull {
		return unit
	}
	return ""
}

// recordSchema is the schema of the records that are read.
func recordSchema(dom *domain.Domain, d *dialect) *arrow.Schema {
	s := dom.ArrowSchema()
	if d.unit == "" {
		return s
	}
	return arrow.NewSchema(append(s.Fields(), arrow.Field{Name: pipeline.UnlistedColumn, Type: arrow.BinaryTypes.String, Nullable: true}), nil)
}

// newBuilders makes the builders of recordSchema: one for each column of the domain, and one
// that the builder of the unit's column fills.
func newBuilders(dom *domain.Domain, d *dialect, rows int) []builder {
	list := make([]builder, len(dom.Columns))
	for i := range dom.Columns {
		list[i] = newBuilder(&dom.Columns[i], d, rows)
	}
	if d.unit == "" {
		return list
	}
	names := &texts{nulls: nulls{allowed: true}, room: rows}
	at := dom.Index(d.unit)
	list[at] = &unitCodes{codes: list[at].(*codes), names: names}
	return append(list, names)
}

// unitCodes builds a column of codes and keeps the names that have none.
type unitCodes struct {
	*codes
	names *texts
}

func (u *unitCodes) add(v []byte) string {
	u.names.add(u.name(v))
	return u.codes.add(v)
}

// name is empty where v is a category or declared missing. Where categories are numbers a
// name is, too: 7 and 7.0 name one unit, listed or not. The first byte keeps numbers and texts
// apart: a cell that holds the key of a number names another unit.
func (u *unitCodes) name(v []byte) []byte {
	if _, known := u.find(v); known || u.has(v) {
		return nil
	}
	if n, ok := exactNumber(v); ok && u.numbers != nil {
		return append([]byte{'#'}, n.key()...)
	}
	return append([]byte{'='}, v...)
}
