package graphical

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline/domain"
	"weir/stages/internal/masks"
)

// keeping draws the values of columns that rules tie together, so that every row keeps
// every rule.
type keeping struct {
	placing *masks.Placing
	columns []int
	bins    [][]domain.Values // by column and code
	values  [][]float64       // of the rows of a batch, by column; nil of columns of no rule
}

// newKeeping is nil where there are no rules.
func (m *released) newKeeping() (*keeping, error) {
	rules, _ := domain.ReadRules(m.core) // CheckDomain has held them
	if len(rules) == 0 {
		return nil, nil
	}
	placing, err := masks.NewPlacing(m.core, rules)
	if err != nil {
		return nil, fmt.Errorf("domain.%w", err)
	}
	k := &keeping{placing: placing, bins: make([][]domain.Values, len(m.Columns)), values: make([][]float64, len(m.Columns))}
	k.columns = k.placing.Columns()
	for _, j := range k.columns {
		k.bins[j] = m.Columns[j].values(m.grids[j])
	}
	return k, nil
}

// keep adds the values of rows, given their codes and the cells that these were placed in.
func (w *drawing) keep(codes, cells [][]uint16) {
	k, row := w.rules, make([]float64, len(cells))
	for i := range cells[0] {
		for _, j := range k.columns {
			row[j] = w.m.grids[j].Value(int(cells[j][i]), w.values)
		}
		k.placing.Keep(masks.Row{Values: row,
			Bin:  func(j int) domain.Values { return k.bins[j][codes[j][i]] },
			Draw: func(j int) float64 { return w.m.grids[j].Value(w.again(j, codes[j][i]), w.values) },
		})
		for _, j := range k.columns {
			k.values[j] = append(k.values[j], row[j])
		}
	}
}

// again is another cell for a code of a column.
func (w *drawing) again(j int, code uint16) int {
	c := &w.m.Columns[j]
	if int(code) >= len(c.Bins) {
		return c.places() + int(code) - len(c.Bins)
	}
	place := w.fillers[j].Cell(int(code))
	if c.Order != nil {
		return c.Order[place]
	}
	return place
}

// appendValues appends numbers or codes to the builder of their column; NaN is null.
func appendValues(to array.Builder, values []float64) {
	for _, v := range values {
		if math.IsNaN(v) {
			to.AppendNull()
			continue
		}
		switch b := to.(type) {
		case *array.Int32Builder:
			b.Append(int32(v))
		case *array.Int64Builder:
			b.Append(int64(v))
		case *array.Float64Builder:
			b.Append(v)
		}
	}
}
