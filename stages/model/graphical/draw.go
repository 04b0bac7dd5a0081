package graphical

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/histogram"
)

// Header returns the header of the rows that were measured: the same columns, types and history.
func (m *released) Header() pipeline.Header {
	return pipeline.TableHeader(m.Domain, pipeline.Header{Class: pipeline.Released, Ruled: true,
		Stability: pipeline.Unbounded()})
}

// A block is the rows that are drawn at a time: counts are rounded over all of them, and
// they are held as codes of two bytes, of which a wide table may not have more than so
// many.
const (
	blockRows   = 1 << 22
	blockValues = 1 << 27
)

// Draw draws codes from the model, in blocks, and values inside the bins from the
// released histograms. Both share rows out by rounding, so that counts are as near to
// the model's as whole rows can be; independent rows are not shared out.
func (m *released) Draw(d artifact.Drawing) (artifact.Rows, error) {
	if d.Argmax {
		return nil, errors.New("categorical: is argmax, must be sample for a model of marginals: its most probable row is " +
			"one row")
	}
	rules, err := m.newKeeping()
	if err != nil {
		return nil, err
	}
	w := &drawing{m: m, rules: rules, left: d.Rows, independent: d.Independent, codes: d.Random("codes"),
		values: d.Random("values")}
	if !w.independent {
		w.placings, w.scores = m.placings()
	}
	return w.next, nil
}

// block returns how many rows of the given number of columns are drawn at a time.
func block(columns int) int64 { return min(blockRows, blockValues/int64(columns)) }

type drawing struct {
	m             *released
	left          int64 // rows to come after the block
	independent   bool
	codes, values *rand.Rand
	block         [][]uint16 // what is left of a block, by column
	fillers       []*histogram.Filler
	rules         *keeping // nil: none

	placings []placing  // of numbers that are placed by ranks
	scores   []*scores  // of these
	placed   [][]uint16 // what is left of their cells in the block; nil of other columns
}

// next returns the next n rows. Rows beyond those that were announced begin another drawing
// of as many.
func (w *drawing) next(n int) (arrow.Record, error) {
	cells := make([][]uint16, len(w.m.Columns))
	for done := 0; done < n; {
		if len(w.block) == 0 || len(w.block[0]) == 0 {
			w.begin(int64(n - done))
		}
		take := min(n-done, len(w.block[0]))
		codes, placed := make([][]uint16, len(cells)), make([][]uint16, len(cells))
		for j := range cells {
			codes[j], w.block[j] = w.block[j][:take], w.block[j][take:]
			if w.placed[j] != nil {
				placed[j], w.placed[j] = w.placed[j][:take], w.placed[j][take:]
			} else {
				placed[j] = w.place(j, codes[j])
			}
			cells[j] = append(cells[j], placed[j]...)
		}
		if w.rules != nil {
			w.rules.take(take)
		}
		done += take
	}
	return w.record(cells, int64(n))
}

// begin draws a block.
func (w *drawing) begin(least int64) {
	rows := min(max(w.left, least), block(len(w.m.Columns)))
	w.left -= rows
	w.block, w.placed = nil, nil // whose memory the next one may have
	w.block = w.m.model.Sample(int(rows), w.independent, w.codes)
	w.fillers = make([]*histogram.Filler, len(w.block))
	for j := range w.block {
		c := &w.m.Columns[j]
		if w.independent {
			w.fillers[j] = histogram.NewFiller(c.Leaves, c.Bins, nil, w.values)
			continue
		}
		count := make([]int64, c.codes())
		for _, code := range w.block[j] {
			count[code]++
		}
		w.fillers[j] = histogram.NewFiller(c.Leaves, c.Bins, count[:len(c.Bins)], w.values)
	}
	w.rank()
	if w.rules != nil {
		w.keep()
	}
}

// place turns codes of column j into cells of its grid.
func (w *drawing) place(j int, codes []uint16) []uint16 {
	cells := make([]uint16, len(codes))
	w.fillers[j].Fill(cells, codes)
	if order := w.m.Columns[j].Order; order != nil {
		for i, at := range cells {
			cells[i] = uint16(order[at])
		}
	}
	return cells
}

func (w *drawing) record(cells [][]uint16, rows int64) (arrow.Record, error) {
	schema := w.m.Header().Schema
	arrays := make([]arrow.Array, len(schema.Fields()))
	for j, g := range w.m.grids {
		pos := w.m.places[j]
		b := array.NewBuilder(memory.DefaultAllocator, schema.Field(pos).Type)
		if w.rules != nil && w.rules.batch[j] != nil {
			appendValues(b, w.rules.batch[j])
			w.rules.batch[j] = w.rules.batch[j][:0]
		} else if err := g.Append(b, cells[j], w.values); err != nil {
			return nil, err
		}
		arrays[pos] = b.NewArray()
	}
	w.m.derive(schema, arrays)
	return array.NewRecord(schema, arrays, rows), nil
}

// keeping draws the values of columns that rules tie together, so that every row keeps
// every rule.
type keeping struct {
	placing *columns.Placing
	columns []int
	bins    [][]domain.Values // by column and code
	values  [][]float64       // of what is left of a block, by column; nil of columns of no rule
	batch   [][]float64       // of the rows of a batch
}

// newKeeping returns nil where there are no rules.
func (m *released) newKeeping() (*keeping, error) {
	rules, _ := domain.ReadRules(m.core) // CheckDomain has held them
	if len(rules) == 0 {
		return nil, nil
	}
	placing, err := columns.NewPlacing(m.core, rules)
	if err != nil {
		return nil, fmt.Errorf("domain.%w", err)
	}
	k := &keeping{placing: placing, bins: make([][]domain.Values, len(m.Columns)), values: make([][]float64,
		len(m.Columns)), batch: make([][]float64, len(m.Columns))}
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
		k.placing.Keep(columns.PlacedRow{Values: row,
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
			if k.keepsRules(i, row) && k.keepsRules(other, row) {
				break
			}
			v[i], v[other] = v[other], v[i]
		}
	}
}

// keepsRules tells whether a row of the block keeps all rules; room is for its values.
func (k *keeping) keepsRules(i int, room []float64) bool {
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

// again returns another cell for a code of a column.
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
func appendValues(dst array.Builder, values []float64) {
	for _, v := range values {
		if math.IsNaN(v) {
			dst.AppendNull()
			continue
		}
		switch b := dst.(type) {
		case *array.Int32Builder:
			b.Append(int32(v))
		case *array.Int64Builder:
			b.Append(int64(v))
		case *array.Float64Builder:
			b.Append(v)
		}
	}
}
