package columns

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// Codes is a table in cells of grids, by column: what marginals are counted from
// (weir/train/marginal). Two bytes a value.
type Codes struct {
	Rows    int
	Columns [][]uint16 // of each grid, a cell a row
	Sizes   []int      // Cells of each grid
	Within  [][]uint8  // of each grid with HasInnerCounts, the point of its cell that a value is; else nil
}

// ReadCodes reads the columns of grids, in that order, in one pass. A value outside
// the bounds or off the grid goes to the nearest cell, a public rule that looks at that
// value alone, so that a row changes in its own cell only; NaN and null are missing. A
// missing value of a column that is not nullable and a code outside the categories are
// errors that name the column, never the value.
func ReadCodes(ctx context.Context, t pipeline.Table, grids []Grid) (*Codes, error) {
	c := &Codes{Columns: make([][]uint16, len(grids)), Sizes: make([]int, len(grids)), Within: make([][]uint8, len(grids))}
	fields, err := fieldsOf(t, grids)
	if err != nil {
		return nil, err
	}
	for i, g := range grids {
		c.Sizes[i] = g.Cells()
		c.Columns[i] = make([]uint16, 0, int(min(max(t.Header.Rows, 0), mostAhead)))
	}
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for i, g := range grids {
			if c.Columns[i], err = g.append(c.Columns[i], rec.Column(fields[i])); err != nil {
				return nil, fmt.Errorf("column %s: %w", g.Name(), err)
			}
			if g.HasInnerCounts() {
				c.Within[i] = g.appendWithin(c.Within[i], rec.Column(fields[i]))
			}
		}
		c.Rows += int(rec.NumRows())
	}
	return c, ctx.Err()
}

// append adds the cells of an array.
func (g *Grid) append(dst []uint16, a arrow.Array) ([]uint16, error) {
	n := len(dst)
	dst, absent, err := g.appendValues(dst, a)
	if err != nil {
		return dst, err
	}
	if a.NullN() > 0 {
		absent = true
		for i := range dst[n:] {
			if a.IsNull(i) {
				dst[n+i] = uint16(g.values)
			}
		}
	}
	if absent && !g.column.Nullable {
		return dst, errMissing
	}
	return dst, nil
}

var errMissing = errors.New("holds missing values, must hold none or be nullable in the domain")

// appendValues adds the cells of values, whatever stands where they are null. absent
// says that some were NaN.
func (g *Grid) appendValues(dst []uint16, a arrow.Array) (out []uint16, absent bool, err error) {
	switch a := a.(type) {
	case *array.Int32:
		if g.Coded() {
			out, err = g.appendCategories(dst, a)
			return out, false, err
		}
	case *array.Int64:
		if !g.Coded() && g.column.Type != domain.Numeric {
			return g.appendWhole(dst, a.Int64Values()), false, nil
		}
	case *array.Float64:
		if g.column.Type == domain.Numeric {
			out, absent = g.appendNumbers(dst, a.Float64Values())
			return out, absent, nil
		}
	}
	return dst, false, fmt.Errorf("is of Arrow type %s, must be %s", a.DataType(), g.column.ArrowType())
}

func (g *Grid) appendCategories(dst []uint16, a *array.Int32) ([]uint16, error) {
	for i, v := range a.Int32Values() {
		if uint32(v) >= uint32(g.values) {
			if a.IsValid(i) {
				return dst, fmt.Errorf("holds a code outside its %d categories", g.values)
			}
			v = 0
		}
		dst = append(dst, uint16(v))
	}
	return dst, nil
}

// appendNumbers adds the cells of numbers.
func (g *Grid) appendNumbers(dst []uint16, values []float64) (out []uint16, absent bool) {
	for _, x := range values {
		if math.IsNaN(x) {
			absent = true
			dst = append(dst, uint16(g.values))
			continue
		}
		dst = append(dst, uint16(g.line.cell(x)))
	}
	return dst, absent
}

// appendWhole adds the cells of whole numbers, which float64 may not hold.
func (g *Grid) appendWhole(dst []uint16, values []int64) []uint16 {
	for _, v := range values {
		dst = append(dst, uint16(g.line.wholeCell(v)))
	}
	return dst
}
