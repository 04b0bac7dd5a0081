package train

import (
	"fmt"

	"weir/train/net"
)

// Rows is a table of encoded columns that stay compact: floats, or category codes
// that become one-hot groups when a batch is gathered. It shares the slices it is
// given and never changes them, so it is safe for concurrent use.
type Rows struct {
	n, width int
	columns  []column
	sparse   bool // a column writes its ones only
}

type column interface {
	columns() int // float32 columns once expanded
	// gather writes the columns of the listed rows from column at of m on, where
	// the columns of a sparse table are zero.
	gather(m net.Matrix, at int, index []int32)
}

// NewRows returns a table of n rows without columns.
func NewRows(n int) *Rows { return &Rows{n: n} }

// Len returns the number of rows, Width the number of float32 columns once expanded.
func (r *Rows) Len() int   { return r.n }
func (r *Rows) Width() int { return r.width }

// Numeric appends a column of floats; its length must be the number of rows.
func (r *Rows) Numeric(values []float32) error {
	if len(values) != r.n {
		return fmt.Errorf("rows: column %d: has %d values, must have one for each of the rows", len(r.columns), len(values))
	}
	r.columns = append(r.columns, floats(values))
	r.width++
	return nil
}

// NumericBlock appends width columns of floats that stand row by row: of many columns
// a batch is gathered some 20 times as fast.
func (r *Rows) NumericBlock(values []float32, width int) error {
	if width < 1 || len(values) != r.n*width {
		return fmt.Errorf("rows: column %d: a block of %d columns has %d values, must have one for each column of each of "+
			"the rows", len(r.columns), width, len(values))
	}
	r.columns = append(r.columns, block{width, values})
	r.width += width
	return nil
}

// Categorical appends a column of codes 0 to categories-1, which expands to as
// many float32 columns. A code outside is an error that names the column, not
// the row.
func Categorical[C uint8 | uint16 | int32](r *Rows, codes []C, categories int) error {
	if len(codes) != r.n {
		return fmt.Errorf("rows: column %d: has %d codes, must have one for each of the rows", len(r.columns), len(codes))
	}
	if categories < 1 {
		return fmt.Errorf("rows: column %d: has %d categories, must have at least 1", len(r.columns), categories)
	}
	for _, c := range codes {
		if int64(c) < 0 || int64(c) >= int64(categories) {
			return fmt.Errorf("rows: column %d: holds a code outside the categories, must be from 0 to %d",
				len(r.columns), categories-1)
		}
	}
	r.columns = append(r.columns, oneHot[C]{codes: codes, width: categories})
	r.width += categories
	r.sparse = true
	return nil
}

// Zeros appends width columns of zeros: where a row has what is not to be seen.
func (r *Rows) Zeros(width int) {
	r.columns = append(r.columns, zeros(width))
	r.width += width
	r.sparse = true
}

// Gather writes the listed rows to m, len(index)×Width.
func (r *Rows) Gather(m net.Matrix, index []int32) {
	if len(index) == 0 {
		return
	}
	if r.sparse {
		for i := range index {
			clear(m.Data[i*m.LD:][:r.width])
		}
	}
	pos := 0
	for _, c := range r.columns {
		c.gather(m, pos, index)
		pos += c.columns()
	}
}

type floats []float32

func (c floats) columns() int { return 1 }

func (c floats) gather(m net.Matrix, at int, index []int32) {
	dst, ld := m.Data[at:], m.LD
	for len(index) >= 8 { // eight at a time: the loads wait for memory together
		i, d := index[:8], dst[:7*ld+1]
		v0, v1, v2, v3 := c[i[0]], c[i[1]], c[i[2]], c[i[3]]
		v4, v5, v6, v7 := c[i[4]], c[i[5]], c[i[6]], c[i[7]]
		d[0], d[ld], d[2*ld], d[3*ld] = v0, v1, v2, v3
		d[4*ld], d[5*ld], d[6*ld], d[7*ld] = v4, v5, v6, v7
		index, dst = index[8:], dst[min(8*ld, len(dst)):]
	}
	for i, row := range index {
		dst[i*ld] = c[row]
	}
}

type zeros int

func (c zeros) columns() int                          { return int(c) }
func (c zeros) gather(_ net.Matrix, _ int, _ []int32) {} // a sparse table is cleared first

type block struct {
	width  int
	values []float32
}

func (c block) columns() int { return c.width }

func (c block) gather(m net.Matrix, at int, index []int32) {
	for i, row := range index {
		copy(m.Data[i*m.LD+at:][:c.width], c.values[int(row)*c.width:])
	}
}

type oneHot[C uint8 | uint16 | int32] struct {
	codes []C
	width int
}

func (c oneHot[C]) columns() int { return c.width }

func (c oneHot[C]) gather(m net.Matrix, at int, index []int32) {
	to := m.Data[at:]
	for i, row := range index {
		to[i*m.LD+int(c.codes[row])] = 1
	}
}

// checking adds to errs, for each check that fails, which field is out of range.
func checking(errs *[]error) func(ok bool, name string, value any, need string) {
	return func(ok bool, name string, value any, need string) {
		if !ok {
			*errs = append(*errs, fmt.Errorf("%s: is %v, must be %s", name, value, need))
		}
	}
}
