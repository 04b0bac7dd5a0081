package graphical

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/train/histogram"
)

// likelihood gives rows their probability under a model: that of their codes, times
// that of each value inside its bin, as rows are drawn (draw.go). Rules of the domain
// that codes do not show leave it as it is.
type likelihood struct {
	model   *released
	columns []cellReader
	codes   [][]uint16  // of each cell, by column of the model
	within  [][]float64 // logarithm of a cell's share of its code, by column
	least   float64
}

// newLikelihood prepares a model for tables of a header.
func newLikelihood(m *released, h pipeline.Header) (*likelihood, error) {
	l := &likelihood{model: m, least: float64(leastOfColumn * len(m.Columns))}
	var ps pipeline.Problems
	if needKnown(h.Domain, m.Domain, &ps); len(ps) > 0 {
		return nil, ps.Err() // both domains are public, or released
	}
	for j := range m.Columns {
		l.columns = append(l.columns, newCellReader(m.Domain.Columns[j], m.grids[j], h))
		l.codes = append(l.codes, m.Columns[j].codeOf())
		l.within = append(l.within, m.Columns[j].within())
	}
	return l, nil
}

// within are the logarithms of the shares that cells have of their codes.
func (c *coded) within() []float64 {
	out := make([]float64, c.Cells)
	for _, bin := range c.Bins {
		leaves := c.Leaves[bin[0]:bin[1]]
		for i, share := range histogram.Shares(leaves) {
			for place := leaves[i].Lo; place < leaves[i].Hi; place++ {
				cell := place
				if c.Order != nil {
					cell = c.Order[place]
				}
				out[cell] = math.Log(share / float64(leaves[i].Hi-leaves[i].Lo))
			}
		}
	}
	return out
}

// record adds scores to batches, for a table of header out.
func (l *likelihood) record(out pipeline.Header) func(arrow.Record) (arrow.Record, error) {
	at := len(out.Domain.Columns) - 1
	return func(r arrow.Record) (arrow.Record, error) {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		b.AppendValues(l.scores(r), nil)
		return array.NewRecord(out.Schema, slices.Insert(slices.Clone(r.Columns()), at, arrow.Array(b.NewArray())), r.NumRows()), nil
	}
}

// scores are those of a batch, each a function of its row alone.
func (l *likelihood) scores(r arrow.Record) []float64 {
	scores, row := make([]float64, r.NumRows()), make([]uint16, len(l.columns))
	for i := range scores {
		scores[i] = l.score(r, i, row)
	}
	return scores
}

func (l *likelihood) score(r arrow.Record, i int, row []uint16) float64 {
	sum := 0.0
	for j := range l.columns {
		cell, x, ok := l.columns[j].cell(r, i)
		if !ok {
			return l.least
		}
		row[j] = l.codes[j][cell]
		sum += l.within[j][cell] + l.point(j, cell, x)
	}
	sum += l.model.model.LogProb(row)
	if !(sum > l.least) {
		return l.least
	}
	return min(sum, 0)
}

// point is the logarithm of a value's share of its cell, where that has several points.
func (l *likelihood) point(j, cell int, x float64) float64 {
	g := &l.model.grids[j]
	if g.Points() == 1 || cell >= g.Values() || l.columns[j].column.Step == 0 && l.columns[j].column.Type == pipeline.Numeric {
		return 0
	}
	counts := l.model.Columns[j].Within[cell]
	if counts == nil {
		return -math.Log(float64(g.PointsIn(cell)))
	}
	return math.Log(counts[g.PointOf(x)] / total(counts))
}

// cellReader finds the cell of a value in a column of a table. ok is false for a value
// that the model never draws.
type cellReader struct {
	at     int // of the column in the table
	column pipeline.Column
	grid   columns.Grid
	to     []int // of each category of the table, that of the model; -1: none
}

func newCellReader(c pipeline.Column, g columns.Grid, h pipeline.Header) cellReader {
	r := cellReader{at: h.Domain.Index(c.Name), column: c, grid: g}
	for _, name := range h.Domain.Columns[r.at].Categories {
		r.to = append(r.to, slices.Index(c.Categories, name))
	}
	return r
}

func (c *cellReader) cell(r arrow.Record, i int) (cell int, x float64, ok bool) {
	a := r.Column(c.at)
	x = math.NaN()
	if a.IsValid(i) {
		x = numberAt(a, i)
	}
	switch {
	case math.IsNaN(x):
		return c.grid.Values(), x, c.column.Nullable
	case c.grid.Coded():
		if x < 0 || int(x) >= len(c.to) || c.to[int(x)] < 0 {
			return 0, x, false
		}
		return c.to[int(x)], x, true
	}
	return c.grid.Cell(x), x, x >= c.column.Bounds[0] && x <= c.column.Bounds[1]
}

// numberAt is a value of a column of plain form; NaN of any other.
func numberAt(a arrow.Array, i int) float64 {
	switch a := a.(type) {
	case *array.Int32:
		return float64(a.Value(i))
	case *array.Int64:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	}
	return math.NaN()
}
