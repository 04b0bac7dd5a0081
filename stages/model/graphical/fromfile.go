package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// tabled is a noisy marginal of a file: counts row-major over groups of cells along
// each column, ascending and apart.
type tabled struct {
	number  int64
	columns []int
	axes    [][]group
	y       []float64
	sigma   float64
	noise   string
}

func (t *tabled) wrong(found, accepted string) error {
	return fmt.Errorf("marginal %d: %s, must be %s", t.number, found, accepted)
}

// loose is a marginal while its rows come in.
type loose struct {
	tabled
	cells [][]int // by row, a group of each of the columns
}

// tableReader collects the rows of a file of noisy counts.
type tableReader struct {
	labels []labels
	known  []map[string]int // groups by label, by column
	groups [][]group
	list   []*loose
	at     map[int64]*loose
	rows   int64
	most   int64
}

// readTables reads a file of noisy counts, in memory that its rows explain. It is
// declared public, so errors quote it.
func readTables(ctx context.Context, t pipeline.Table, d *domain.Domain, most int64) ([]tabled, error) {
	grids, err := gridsOf(d)
	if err != nil {
		return nil, err
	}
	r := tableReader{labels: labelsOf(d, grids), known: make([]map[string]int, len(grids)), groups: make([][]group, len(grids)), at: map[int64]*loose{}, most: most}
	for j := range r.known {
		r.known[j] = map[string]int{}
	}
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for i := range int(rec.NumRows()) {
			if err := r.row(rec, i); err != nil {
				return nil, err
			}
		}
	}
	out := make([]tabled, len(r.list))
	for i, l := range r.list {
		if out[i], err = r.arrange(l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *tableReader) row(rec arrow.Record, i int) error {
	if r.rows++; r.rows > r.most {
		return fmt.Errorf("has more than %d cells, must have no more than max_model_size allows", r.most)
	}
	d := len(r.labels)
	one := &loose{tabled: tabled{number: rec.Column(0).(*array.Int64).Value(i), sigma: rec.Column(d + 2).(*array.Float64).Value(i)}}
	y := rec.Column(d + 1).(*array.Float64).Value(i)
	var cell []int
	for j := range d {
		a := rec.Column(1 + j).(*array.String)
		if a.IsNull(i) {
			continue
		}
		at, err := r.group(j, a.Value(i))
		if err != nil {
			return fmt.Errorf("marginal %d: %w", one.number, err)
		}
		one.columns, cell = append(one.columns, j), append(cell, at)
	}
	if !(one.sigma > 0 && one.sigma < 1e15) || !(math.Abs(y) < 1e15) {
		return one.wrong(fmt.Sprintf("a count is %g with sigma %g", y, one.sigma), "counts and, above 0, sigmas below 1e15")
	}
	l, known := r.at[one.number]
	if !known {
		r.at[one.number], r.list, l = one, append(r.list, one), one
	}
	if !slices.Equal(l.columns, one.columns) || len(cell) == 0 {
		return one.wrong("rows with labels in different columns, or in none", "over the same columns in all of its rows, at least one")
	}
	if l.sigma != one.sigma {
		return one.wrong(fmt.Sprintf("sigmas %g and %g", l.sigma, one.sigma), "of one sigma")
	}
	l.cells, l.y = append(l.cells, cell), append(l.y, y)
	return nil
}

// group is the number of a label of a column.
func (r *tableReader) group(j int, text string) (int, error) {
	if at, known := r.known[j][text]; known {
		return at, nil
	}
	g, err := r.labels[j].read(text)
	if err != nil {
		return 0, err
	}
	r.known[j][text] = len(r.groups[j])
	r.groups[j] = append(r.groups[j], g)
	return len(r.groups[j]) - 1, nil
}

// arrange puts a marginal's rows in order: each combination of its groups once.
func (r *tableReader) arrange(l *loose) (tabled, error) {
	t, place, cells := l.tabled, make([]map[int]int, len(l.columns)), 1
	for a, j := range l.columns {
		var used []int
		for _, cell := range l.cells {
			used = append(used, cell[a])
		}
		slices.Sort(used)
		used = slices.Compact(used)
		slices.SortFunc(used, func(x, y int) int { return r.groups[j][x].order() - r.groups[j][y].order() })
		place[a] = map[int]int{}
		var axis []group
		for k, at := range used {
			place[a][at], axis = k, append(axis, r.groups[j][at])
		}
		if err := r.apart(axis); err != nil {
			return t, fmt.Errorf("marginal %d: column %s: %w", t.number, r.labels[j].column.Name, err)
		}
		t.axes = append(t.axes, axis)
		if cells *= len(axis); cells > len(l.y) {
			break
		}
	}
	if cells != len(l.y) {
		return t, t.wrong(fmt.Sprintf("%d rows", len(l.y)), "a row for each combination of its cells, small counts too: what is left out for its count biases the rest")
	}
	return t, t.fill(l, place)
}

func (t *tabled) fill(l *loose, place []map[int]int) error {
	y, filled := make([]float64, len(l.y)), make([]bool, len(l.y))
	for i, cell := range l.cells {
		at := 0
		for a := range cell {
			at = at*len(t.axes[a]) + place[a][cell[a]]
		}
		if filled[at] {
			return t.wrong("a cell twice", "of cells that are all different")
		}
		y[at], filled[at] = l.y[i], true
	}
	t.y = y
	return nil
}

// apart refuses groups that share cells, and single points beside whole cells.
func (r *tableReader) apart(axis []group) error {
	seen, end := map[int]bool{}, 0
	for _, g := range axis {
		for _, cell := range g.list {
			if seen[cell] {
				return fmt.Errorf("two of its cells share values, must be apart")
			}
			seen[cell] = true
		}
		if g.list == nil && g.point == 0 && g.lo < end {
			return fmt.Errorf("two of its cells share values, must be apart")
		}
		if (g.point > 0) != (axis[0].point > 0) {
			return fmt.Errorf("single points stand beside whole cells of its public grid, must be in marginals of their own")
		}
		end = g.hi
	}
	return nil
}
