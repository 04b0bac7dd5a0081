package mixture

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/histogram"
)

// Header returns the header of the table that was learned: the same columns, types and history.
func (m *model) Header() pipeline.Header {
	return pipeline.TableHeader(m.Domain, pipeline.Header{Class: pipeline.Released, Stability: pipeline.Unbounded()})
}

// Draw draws rows of the posterior predictive. A stratum's probability p is its share of the
// noisy sizes. Independent rows each draw their stratum. Others are shared out over the n that
// were announced by systematic rounding from a uniform start (histogram.Systematic), in a
// uniform order: a stratum gets the whole number below or above n p, and n p on average,
// however few rows there are; each row is of it with probability p. Rows of one drawing are not
// independent then: of two strata that are one after the other and have n p of a half each,
// exactly one gets a row.
func (m *model) Draw(d artifact.Drawing) (artifact.Rows, error) {
	if d.Argmax {
		return nil, errors.New("categorical: is argmax, must be sample for a mixture: parameters are drawn for each row, " +
			"so that no category is the most probable one")
	}
	return m.drawing(d).next, nil
}

func (m *model) drawing(d artifact.Drawing) *drawing {
	w := &drawing{model: m, rows: max(d.Rows, 1), sizes: m.shares(), strata: d.Random("strata"),
		values: d.Random("values"), inside: d.Random("inside")}
	w.law.Prior, w.from = m.Prior, make([]int, len(m.layout.strata))
	if d.Independent {
		w.rows = 1 // one row shared out by a uniform start is drawn by the shares
	}
	pos := 0
	for i, s := range m.layout.strata {
		if w.from[i] = -1; !slices.Contains(m.PriorOnly, i) {
			w.from[i] = pos
			pos += s.Params()
		}
	}
	return w
}

type drawing struct {
	*model
	rows                   int64     // that are shared out together
	sizes                  []float64 // of strata
	strata, values, inside *rand.Rand
	// of the row's stratum: one for all, since it keeps as much as its widest column
	law  Predictive
	from []int   // of each stratum, in the law of all; -1 where it has the prior
	left []int64 // rows that each stratum is still to get
	all  int64   // the sum of left
}

// next returns the next n rows.
func (w *drawing) next(n int) (arrow.Record, error) {
	cells, strata := make([][]uint16, len(w.layout.grids)), make([]int, n)
	row := make([]int, len(cells))
	for i := range strata {
		strata[i] = w.stratum()
		w.row(strata[i], row)
		for j, cell := range row {
			cells[j] = append(cells[j], uint16(cell))
		}
	}
	h := w.Header()
	arrays := make([]arrow.Array, len(cells))
	for j := range w.layout.grids {
		b := array.NewBuilder(memory.DefaultAllocator, h.Schema.Field(j).Type)
		if err := w.append(b, j, cells[j], strata); err != nil {
			return nil, err
		}
		arrays[j] = b.NewArray()
	}
	return array.NewRecord(h.Schema, arrays, int64(n)), nil
}

// append appends a value of each cell of a column: where the row's stratum fixes it, the declared
// one, whatever others its cell has.
func (w *drawing) append(dst array.Builder, column int, cells []uint16, strata []int) error {
	g := w.layout.grids[column]
	if g.Coded() {
		return g.Append(dst, cells, w.inside)
	}
	for i, cell := range cells {
		v := g.Value(int(cell), w.inside)
		if f, is := w.layout.strata[strata[i]].fixed[column]; is && int(cell) < g.Values() {
			v = f.value
		}
		if math.IsNaN(v) {
			dst.AppendNull()
			continue
		}
		switch b := dst.(type) {
		case *array.Int64Builder:
			b.Append(int64(v))
		case *array.Float64Builder:
			b.Append(v)
		}
	}
	return nil
}

// stratum returns the stratum of the next row. When every row that is shared out has one, others are.
func (w *drawing) stratum() int {
	if len(w.from) == 1 {
		return 0
	}
	if w.all == 0 {
		w.left, w.all = histogram.Systematic(w.sizes, w.rows, w.strata.Float64()), w.rows
	}
	pos := int64(w.strata.Uint64N(uint64(w.all)))
	w.all--
	for i, n := range w.left {
		if pos < n {
			w.left[i]--
			return i
		}
		pos -= n
	}
	return len(w.left) - 1 // not reached: left sums to all
}

// shares returns the sizes of strata; where none has any row, all are alike.
func (m *model) shares() []float64 {
	sizes, all := make([]float64, len(m.Sizes)), int64(0)
	for i, n := range m.Sizes {
		sizes[i], all = float64(n), max(all, n)
	}
	if all == 0 {
		for i := range sizes {
			sizes[i] = 1
		}
	}
	return sizes
}

// row draws the cells of a row of a stratum.
func (w *drawing) row(pos int, row []int) {
	s := &w.layout.strata[pos]
	for i, column := range w.layout.stratify {
		row[column] = s.codes[i]
	}
	for column, f := range s.fixed {
		row[column] = f.cell
	}
	values := make([]float64, len(s.Places))
	w.law.MixtureShape, w.law.Mean, w.law.LogDeviation = s.MixtureShape, nil, nil
	if from := w.from[pos]; from >= 0 {
		w.law.Mean, w.law.LogDeviation = w.mean[from:][:s.Params()], w.log[from:][:s.Params()]
	}
	w.law.Draw(values, w.values)
	missing := -1
	for i, place := range s.Places {
		p := w.layout.parts[place]
		switch {
		case p.absent:
			if missing = -1; values[i] == 1 {
				missing = p.column
			}
		case p.of.Family == Bernoulli || p.of.Family == Categorical:
			row[p.column] = int(values[i])
		case p.column == missing:
			row[p.column] = w.layout.grids[p.column].Values()
		default:
			row[p.column] = w.layout.cell(p, values[i])
		}
	}
}

// placed is a row as a mixture meets it: the value and the cell of each column, and how many
// points the cell has.
type placed struct {
	of     *model
	values []float64 // a code where the column is coded; NaN where it is missing
	cells  []int
	points []float64 // logarithms
	spans  []Span
}

func newPlaced(m *model) *placed {
	n := len(m.layout.grids)
	return &placed{of: m, values: make([]float64, n), cells: make([]int, n), points: make([]float64, n)}
}

// read takes row i of columns that stand like the columns of the model; false for a row that the model
// never draws.
func (p *placed) read(of []*columns.Column, i int) bool {
	for j, source := range of {
		c, g := &p.of.Domain.Columns[j], p.of.layout.grids[j]
		switch {
		case source.Absent(i):
			p.values[j] = math.NaN()
		case source.Coded():
			p.values[j] = float64(source.Codes[i])
		default:
			p.values[j] = source.Numbers[i]
		}
		p.cells[j] = g.Cell(p.values[j])
		if p.cells[j] >= g.Cells() || !c.Type.Coded() && (p.values[j] < c.Bounds[0] || p.values[j] > c.Bounds[1]) {
			return false
		}
		if p.points[j] = 0; g.Points() > 1 && p.cells[j] < g.Values() && !(c.Step == 0 && c.Type == domain.Numeric) {
			p.points[j] = bitmath.Log(float64(g.PointsIn(p.cells[j])))
		}
	}
	return true
}

// allows tells whether a row has the values that its stratum fixes.
func (s *stratum) allows(row *placed) bool {
	for j, f := range s.fixed {
		missing := f.cell >= row.of.layout.grids[j].Values()
		if row.cells[j] != f.cell || !missing && row.values[j] != f.value {
			return false
		}
	}
	return true
}

// stratum returns the number of the stratum of a row of cells: the last column of stratify counts up first.
func (l *layout) stratum(cells []int) (pos int) {
	for _, j := range l.stratify {
		pos = pos*l.grids[j].Cells() + cells[j]
	}
	return pos
}

// span returns where a row of cells lies in a part: the inverse of what draws cells (layout.cell), so that
// the first and the last cell have what lies beyond.
func (l *layout) span(p part, cells []int) Span {
	cell, values := cells[p.column], l.grids[p.column].Values()
	switch {
	case p.absent && cell >= values:
		return Span{Lo: 1}
	case p.absent:
		return Span{}
	case p.of.Family == Bernoulli || p.of.Family == Categorical:
		return Span{Lo: float64(cell)}
	case cell >= values:
		return Span{Any: true}
	}
	s := Span{Lo: float64(cell), Hi: float64(cell + 1)}
	switch p.of.Family {
	case Beta:
		s = Span{Lo: s.Lo / float64(values), Hi: s.Hi / float64(values)}
	case Normal:
		s = Span{Lo: 2*s.Lo/float64(values) - 1, Hi: 2*s.Hi/float64(values) - 1}
	}
	if cell == 0 && p.of.Family == Normal {
		s.Lo = math.Inf(-1)
	}
	if cell == values-1 {
		s.Hi = math.Inf(1)
	}
	return s
}

// flat returns minus the logarithm of the chance of a part where nothing was learned: all codes or
// cells alike.
func (l *layout) flat(p part, cells []int) float64 {
	switch g := l.grids[p.column]; {
	case p.absent:
		return math.Ln2
	case g.Coded():
		return bitmath.Log(float64(g.Cells()))
	case cells[p.column] >= g.Values():
		return 0
	default:
		return bitmath.Log(float64(g.Values()))
	}
}
