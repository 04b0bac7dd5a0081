package columns

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// Read holds the whole table in memory, batch by batch. Columns of text are left
// out, with the reason in Dropped. A number beyond 1e75 is missing. A code outside the declared categories is an
// error; the code that one-hot encoding adds for missing values is missing.
func Read(ctx context.Context, t pipeline.Table) (*Frame, error) {
	r := newReader(t)
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		if err := r.batch(rec); err != nil {
			return nil, err
		}
	}
	return r.frame, ctx.Err()
}

// Batches returns the rows of a table as Read has them, batch by batch: a frame is valid until the next one is asked
// for. A table without batches is one without rows. It ends behind an error.
func Batches(ctx context.Context, t pipeline.Table) iter.Seq2[*Frame, error] {
	return func(yield func(*Frame, error) bool) {
		t.Header.Rows = 0 // of which no batch needs room for all
		r := newReader(t)
		any := false
		for rec, err := range t.Open(ctx) {
			if err == nil {
				r.empty()
				err = r.batch(rec)
			}
			if any = true; !yield(r.frame, err) || err != nil {
				return
			}
		}
		if err := ctx.Err(); err != nil || !any {
			yield(r.frame, err)
		}
	}
}

// empty lets go of the rows that were read.
func (r *reader) empty() {
	r.frame.Rows = 0
	for i := range r.frame.Columns {
		c := &r.frame.Columns[i]
		c.Codes, c.Numbers = c.Codes[:0], c.Numbers[:0]
	}
}

type reader struct {
	frame  *Frame
	fields []int // of each frame column in the schema
	extra  []bool
}

func newReader(t pipeline.Table) *reader {
	r := &reader{frame: &Frame{}}
	rows := int(max(0, t.Rows))
	for _, c := range t.Domain.Columns {
		places := t.Schema.FieldIndices(c.Name)
		if len(places) != 1 || Unreadable(c) != "" {
			r.frame.Dropped = append(r.frame.Dropped, Drop{c.Name, dropReason(c)})
			continue
		}
		col := Column{Name: c.Name, Type: c.Type, Bounds: c.Bounds}
		if col.Coded() {
			col.Codes, col.Categories = make([]int32, 0, rows), []string(c.Categories)
		} else {
			col.Numbers = make([]float64, 0, rows)
		}
		r.frame.Columns = append(r.frame.Columns, col)
		r.fields = append(r.fields, places[0])
		r.extra = append(r.extra, c.Encoding != nil && c.Encoding.Form == domain.OneHot &&
			c.Encoding.Width > len(c.Categories))
	}
	return r
}

func dropReason(c domain.Column) string {
	if why := Unreadable(c); why != "" {
		return why
	}
	return "is in the domain but not exactly once in the table"
}

// Unreadable says why a column cannot be compared; "" where it can.
func Unreadable(c domain.Column) string {
	switch {
	case c.Type == domain.Text:
		return "is text, which has no closed set of values to compare"
	case c.Type.Coded() && c.Encoding != nil && c.Encoding.Form != domain.OneHot:
		return "is a category encoded as a number, which has to be decoded first"
	}
	return ""
}

func (r *reader) batch(rec arrow.Record) error {
	r.frame.Rows += int(rec.NumRows())
	for i := range r.frame.Columns {
		c, a := &r.frame.Columns[i], rec.Column(r.fields[i])
		var err error
		if c.Coded() {
			err = c.appendCodes(a, r.extra[i])
		} else {
			err = c.appendNumbers(a)
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return nil
}

func (c *Column) appendCodes(a arrow.Array, extra bool) (err error) {
	n, k := len(c.Codes), int32(len(c.Categories))
	c.Codes, err = appendCodes(c.Codes, a)
	for i, v := range c.Codes[n:] {
		switch {
		case extra && v == k:
			c.Codes[n+i] = -1
		case v >= k || v < 0 && a.IsValid(i):
			return fmt.Errorf("holds a code outside its %d categories", k)
		}
	}
	return err
}

// most is the greatest size of a number. The fourth power of a greater one is
// infinite, and with it covariances and their norms, which leave searches for a
// nearest row or a smallest sum without an end.
const most = 1e75

func (c *Column) appendNumbers(a arrow.Array) (err error) {
	n := len(c.Numbers)
	c.Numbers, err = appendFloats(c.Numbers, a)
	for i, v := range c.Numbers[n:] {
		if math.Abs(v) > most {
			c.Numbers[n+i] = math.NaN()
		}
	}
	return err
}

// appendFloats appends the values of an Arrow column of numbers; missing ones are NaN.
func appendFloats[F float32 | float64](dst []F, a arrow.Array) ([]F, error) {
	switch a := a.(type) {
	case *array.Float64:
		return grow(dst, a.Float64Values(), a), nil
	case *array.Float32:
		return grow(dst, a.Float32Values(), a), nil
	case *array.Int64:
		return grow(dst, a.Int64Values(), a), nil
	case *array.Int32:
		return grow(dst, a.Int32Values(), a), nil
	}
	return dst, fmt.Errorf("has the Arrow type %s, must be a number", a.DataType())
}

func grow[F float32 | float64, T float32 | float64 | int32 | int64](dst []F, values []T, a arrow.Array) []F {
	nulls := a.NullN() > 0
	for i, v := range values {
		x := F(v)
		if nulls && a.IsNull(i) {
			x = F(math.NaN())
		}
		dst = append(dst, x)
	}
	return dst
}

// appendCodes appends the values of an Arrow column of int32 codes; missing ones are -1.
func appendCodes(dst []int32, a arrow.Array) ([]int32, error) {
	codes, ok := a.(*array.Int32)
	if !ok {
		return dst, fmt.Errorf("has the Arrow type %s, must be int32 codes", a.DataType())
	}
	n := len(dst)
	dst = append(dst, codes.Int32Values()...)
	if a.NullN() > 0 {
		for i := range dst[n:] {
			if a.IsNull(i) {
				dst[n+i] = -1
			}
		}
	}
	return dst, nil
}
