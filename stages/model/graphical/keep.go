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
	values  [][]float64       // of what is left of a block, by column; nil of columns of no rule
	batch   [][]float64       // of the rows of a batch
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
	k := &keeping{placing: placing, bins: make([][]domain.Values, len(m.Columns)), values: make([][]float64, len(m.Columns)), batch: make([][]float64, len(m.Columns))}
	k.columns = k.placing.Columns()
	for _, j := range k.columns {
		k.bins[j] = m.Columns[j].values(m.grids[j])
	}
	return k, nil
}

// keep finds the values of a block in the columns of rules, such that every row keeps every
// rule. Rows that break one first swap a value with another row of the same bin, so that no
// column has other values by it; those that find none are drawn again (masks.Placing).
func (w *drawing) keep() {
	k, row := w.rules, make([]float64, len(w.block))
	for _, j := range k.columns {
		if w.placed[j] == nil {
			w.placed[j] = w.place(j, w.block[j])
		}
		k.values[j] = make([]float64, len(w.block[j]))
		for i, cell := range w.placed[j] {
			k.values[j][i] = w.m.grids[j].Value(int(cell), w.values)
		}
	}
	if !w.independent { // a row that swaps is not drawn by itself
		w.swap()
	}
	for i := range w.block[0] {
		k.row(i, row)
		k.placing.Keep(masks.Row{Values: row,
			Bin:  func(j int) domain.Values { return k.bins[j][w.block[j][i]] },
			Draw: func(j int) float64 { return w.m.grids[j].Value(w.again(j, w.block[j][i]), w.values) },
		})
		for _, j := range k.columns {
			k.values[j][i] = row[j]
		}
	}
}

// swaps is how many rows of its bin a row that breaks a rule tries.
const swaps = 64

// swap lets rows that break a rule exchange the value of a column of it with rows of the same
// code, where both keep all rules then.
func (w *drawing) swap() {
	k, row := w.rules, make([]float64, len(w.block))
	orders, starts := make([][]int32, len(w.block)), make([][]int, len(w.block))
	for _, j := range k.columns {
		orders[j], starts[j] = byCode(w.block[j], w.m.Columns[j].codes())
	}
	for i := range w.block[0] {
		k.row(i, row)
		columns := k.placing.Broken(row)
		for try := 0; columns != nil && try < swaps; try++ {
			j := columns[try%len(columns)]
			code := w.block[j][i]
			alike := orders[j][starts[j][code]:starts[j][code+1]]
			other := int(alike[w.values.IntN(len(alike))])
			v := k.values[j]
			v[i], v[other] = v[other], v[i]
			if k.keeps(i, row) && k.keeps(other, row) {
				break
			}
			v[i], v[other] = v[other], v[i]
		}
	}
}

// keeps tells whether a row of the block keeps all rules; room is for its values.
func (k *keeping) keeps(i int, room []float64) bool {
	k.row(i, room)
	return k.placing.Broken(room) == nil
}

// row fills in the values of a row of the block.
func (k *keeping) row(i int, values []float64) {
	for _, j := range k.columns {
		values[j] = k.values[j][i]
	}
}

// take moves the values of the next rows of the block to the batch.
func (k *keeping) take(n int) {
	for _, j := range k.columns {
		k.batch[j], k.values[j] = append(k.batch[j], k.values[j][:n]...), k.values[j][n:]
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
