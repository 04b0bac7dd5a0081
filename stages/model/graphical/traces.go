package graphical

import (
	"context"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// traced tells of each row how far the released counts speak for it (pipeline.Work.Traces): over all measured marginals
// the logarithm of how much likelier the count of its cell is with the row than without it, were the other rows of that
// cell there by fair coins. A cell in which one of others lies says nothing, because how many of them were counted
// there is not known for sure.
func traced(ctx context.Context, made pipeline.Tables, rows, others pipeline.Table) ([]float64, error) {
	m, err := unfitted(ctx, made["model"])
	if err != nil {
		return nil, err
	}
	wanted, err := m.cellsOf(ctx, rows)
	if err != nil {
		return nil, err
	}
	known, err := m.cellsOf(ctx, others)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, wanted.rows)
	for _, x := range m.Measured {
		if place, counted := m.locating(x); counted {
			wanted.trace(x, place, known, scores)
		}
	}
	return scores, nil
}

// tracked is rows by the cells of the grids of a model's columns.
type tracked struct {
	rows    int
	columns [][]int // -1: of a column that the rows do not have as the model does
}

// trace adds what a marginal says of each row.
func (c tracked) trace(x measured, place locating, others tracked, scores []float64) {
	occupied, sharing := map[int]bool{}, map[int]float64{}
	for i := range others.rows {
		occupied[place(others, i)] = true
	}
	for i := range c.rows {
		sharing[place(c, i)]++
	}
	for i := range c.rows {
		if k := place(c, i); k >= 0 && !occupied[k] {
			mates := sharing[k] - 1
			scores[i] += (x.Y[k] - float64(mates/2) - 0.5) / (float64(x.Sigma*x.Sigma) + float64(mates/4))
		}
	}
}

// locating returns the place of a row among the counts of a marginal; -1 where it has none that is known.
type locating func(c tracked, row int) int

// locating returns where rows lie in a marginal. Points within a cell are not traced: their cell is.
func (m *released) locating(x measured) (locating, bool) {
	if x.Within != nil {
		return nil, false
	}
	codes := make([]func(cell int) int, len(x.Columns))
	for a, j := range x.Columns {
		codes[a] = m.code(x, j)
	}
	return func(c tracked, row int) int {
		place := 0
		for a, j := range x.Columns {
			code := -1
			if cell := c.columns[j][row]; cell >= 0 {
				code = codes[a](cell)
			}
			if code < 0 {
				return -1
			}
			place = place*m.Columns[j].codes() + code // of one column it is the code itself
		}
		return place
	}, true
}

// code returns the place of a cell along a column of a marginal.
func (m *released) code(x measured, j int) func(cell int) int {
	switch {
	case x.Cells != nil:
		return func(cell int) int {
			k := sort.Search(len(x.Cells), func(k int) bool { return x.Cells[k][1] > cell })
			if k == len(x.Cells) || x.Cells[k][0] > cell {
				return -1
			}
			return k
		}
	case len(x.Columns) == 1 && len(x.Y) == m.Columns[j].Cells:
		return func(cell int) int { return cell }
	}
	to := m.Columns[j].codeOf()
	return func(cell int) int { return int(to[cell]) }
}

// cellsOf reads the columns of rows that the model has too.
func (m *released) cellsOf(ctx context.Context, t pipeline.Table) (c tracked, err error) {
	all, err := t.Collect(ctx)
	if err != nil {
		return c, err
	}
	c.rows, c.columns = int(all.NumRows()), make([][]int, len(m.grids))
	for j, g := range m.grids {
		c.columns[j] = make([]int, c.rows)
		value := sourceValue(t.Domain, &m.core.Columns[j], all)
		for i := range c.columns[j] {
			c.columns[j][i] = -1
			if x, known := value(i); known {
				c.columns[j][i] = g.Cell(x)
			}
		}
	}
	return c, nil
}

// sourceValue returns a function that gives the value of a column in a row, as the model codes it, and whether it is
// known. Categories are matched by their spelling, since the model's list may be shorter than the source's. A missing
// value counts as unknown: it says little of one row, because many rows have it.
func sourceValue(d *domain.Domain, want *domain.Column, all arrow.Record) func(row int) (float64, bool) {
	place := d.Index(want.Name)
	if place < 0 || d.Columns[place].Encoding != nil || d.Columns[place].Type.Coded() != want.Type.Coded() {
		return func(int) (float64, bool) { return 0, false }
	}
	column, code := all.Column(place), recoded(d.Columns[place].Categories, want.Categories)
	return func(row int) (float64, bool) {
		if column.IsNull(row) {
			return 0, false
		}
		switch a := column.(type) {
		case *array.Float64:
			return a.Value(row), true
		case *array.Int64:
			return float64(a.Value(row)), true
		case *array.Int32:
			return code(int(a.Value(row)))
		}
		return 0, false
	}
}

// recoded returns the code in a list of categories of a code in another; booleans may have none.
func recoded(source, model []string) func(code int) (float64, bool) {
	if len(model) == 0 {
		return func(code int) (float64, bool) { return float64(code), true }
	}
	places := map[string]int{}
	for k, name := range model {
		places[name] = k
	}
	return func(code int) (float64, bool) {
		if code >= len(source) {
			return 0, false
		}
		k, known := places[source[code]]
		return float64(k), known
	}
}
