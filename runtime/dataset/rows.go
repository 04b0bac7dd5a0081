package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/zeebo/xxh3"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy/noise"
)

// sketchesOf sketches the rows of a content that is new to the index.
func sketchesOf(ctx context.Context, key noise.Key, o Opening) (s sketches, err error) {
	if o.Hashes == nil {
		s.Rows, err = sketchRows(ctx, key, o.Rows)
		return s, err
	}
	s.Counted, err = o.Hashes(ctx, sketchSize)
	return s, err
}

// sketchRows reads a table once, in the memory of one batch.
func sketchRows(ctx context.Context, key noise.Key, t pipeline.Table) (sketch, error) {
	h := newHasher(key, t.Header)
	c := newCollector()
	for rec, err := range t.Open(ctx) {
		if err == nil {
			err = h.batch(rec, c.add)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.sketch(), nil
}

// hasher hashes rows by what they mean: two files of the same rows agree,
// whatever their format and order of columns.
type hasher struct {
	columns []int // in the order of their names
	domain  *domain.Domain
	seed    uint64
	row     []byte
}

func newHasher(key noise.Key, h pipeline.Header) *hasher {
	fields := h.Schema.Fields()
	columns, names := make([]int, len(fields)), make([]string, len(fields))
	for i, f := range fields {
		columns[i], names[i] = i, strconv.Quote(f.Name)
	}
	slices.SortFunc(columns, func(a, b int) int { return strings.Compare(fields[a].Name, fields[b].Name) })
	slices.Sort(names)
	rows := sumOf(key, "rows", strings.Join(names, ",")) // names count once, in the key, rather than in every row
	return &hasher{columns: columns, domain: h.Domain, seed: binary.BigEndian.Uint64(rows[:])}
}

func (h *hasher) batch(rec arrow.Record, add func(uint64)) error {
	cells := make([]cell, len(h.columns))
	for i, c := range h.columns {
		var err error
		if cells[i], err = cellsOf(rec.Column(c), h.domain.Column(rec.ColumnName(c))); err != nil {
			return fmt.Errorf("column %s: %w", rec.ColumnName(c), err)
		}
	}
	for row := range int(rec.NumRows()) {
		add(h.hash(cells, row))
	}
	return nil
}

// hash hashes fast rather than strong: a sketch lies beside its key, on the owner's
// side, where whoever reads it needs to break nothing.
func (h *hasher) hash(cells []cell, row int) uint64 {
	h.row = h.row[:0]
	for _, c := range cells {
		h.row = c(h.row, row)
	}
	return xxh3.HashSeed(h.row, h.seed)
}

// cell appends the canonical form of a cell: a mark of its sort, then its value,
// so that no two rows run together to the same bytes.
type cell func(b []byte, row int) []byte

const (
	missing = iota
	numeric
	textual
	long // a whole number beyond 2^53, where float64 does not tell neighbours apart
)

func cellsOf(column arrow.Array, c *domain.Column) (cell, error) {
	var value cell
	switch a := column.(type) {
	case *array.Float64:
		value = func(b []byte, i int) []byte { return number(b, a.Value(i)) }
	case *array.Int64:
		value = func(b []byte, i int) []byte { return exactly(b, a.Value(i)) }
	case *array.String:
		value = func(b []byte, i int) []byte { return text(b, a.Value(i)) }
	case *array.Int32:
		value = coded(a, c)
	default:
		return nil, fmt.Errorf("is of type %s, must be float64, int64, int32 or string", column.DataType())
	}
	return func(b []byte, i int) []byte {
		if column.IsNull(i) {
			return append(b, missing)
		}
		return value(b, i)
	}, nil
}

// coded spells each category once a batch.
func coded(a *array.Int32, c *domain.Column) cell {
	var spelled [][]byte
	if c != nil {
		for _, s := range c.Categories {
			spelled = append(spelled, text(nil, s))
		}
	}
	return func(b []byte, i int) []byte {
		if code := int(a.Value(i)); code >= 0 && code < len(spelled) {
			return append(b, spelled[code]...)
		}
		return number(b, float64(a.Value(i)))
	}
}

// exactly appends a whole number without rounding it: ids of 17 digits are other rows, though float64 rounds them to
// one.
func exactly(b []byte, x int64) []byte {
	if -1<<53 <= x && x <= 1<<53 {
		return number(b, float64(x))
	}
	return binary.BigEndian.AppendUint64(append(b, long), uint64(x))
}

func number(b []byte, x float64) []byte {
	if math.Abs(x) > 1<<53 && math.Abs(x) < 1<<63 { // float64 holds no fractions there
		return exactly(b, int64(x))
	}
	if x == 0 {
		x = 0 // of both zeros
	}
	if x != x {
		x = math.NaN() // of all of them
	}
	return binary.BigEndian.AppendUint64(append(b, numeric), math.Float64bits(x))
}

// text takes the spelling of a number for the number: one spec declares a column
// of grades categorical, the other integer.
func text(b []byte, s string) []byte {
	if s != "" && strings.IndexByte("+-.0123456789", s[0]) >= 0 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err == nil {
			return exactly(b, n)
		}
		// a longer whole number is text
		if x, failed := strconv.ParseFloat(s, 64); failed == nil && !errors.Is(err, strconv.ErrRange) {
			return number(b, x)
		}
	}
	b = binary.AppendUvarint(append(b, textual), uint64(len(s)))
	return append(b, s...)
}
