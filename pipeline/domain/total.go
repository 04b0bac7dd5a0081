package domain

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// total is public counts of cells; a cell of no rows is impossible.
type total struct {
	cells []TotalCell
	// By column, points and which cells hold the values from each to the next (cellsOf).
	points [][]float64
	holds  [][][]uint64
}

func (f total) keeps(values []float64) bool {
	i := f.cell(values)
	return i < 0 || f.cells[i].Rows > 0
}

// cell returns the place of the cell that holds a row, the first where two share an end; -1
// where none does.
func (f total) cell(values []float64) int {
	for w := range (len(f.cells) + 63) / 64 {
		left := ^uint64(0)
		for i, v := range values {
			pos := f.point(i, v)
			if pos < 0 {
				return -1
			}
			left &= f.holds[i][pos][w]
		}
		if left != 0 {
			return 64*w + bits.TrailingZeros64(left)
		}
	}
	return -1
}

// point returns the place of the last point of a column that is at most v; -1 where there is
// none.
func (f total) point(column int, v float64) int {
	list := f.points[column]
	n := len(list)
	if n > 0 && absent(list[n-1]) {
		n--
	}
	switch {
	case !absent(v):
		return sort.SearchFloat64s(list[:n], math.Nextafter(v, math.Inf(1))) - 1
	case n < len(list):
		return n
	}
	return -1
}

// indexed prepares a total for looking up cells.
func indexed(d *Domain, rule *Rule) total {
	f := total{cells: rule.Total}
	for i, at := range rule.Columns {
		list := points(&d.Columns[at], f.sets(i))
		f.points = append(f.points, list)
		f.holds = append(f.holds, cellsOf(rule, i, list))
	}
	return f
}

func (f total) sets(column int) []Values {
	list := make([]Values, len(f.cells))
	for i := range f.cells {
		list[i] = f.cells[i].Values[column]
	}
	return list
}

// Cell returns the place in r.Total, which must be a total, of the cell that holds a row; -1
// where none does.
func (r *Rule) Cell(values []float64) int { return r.form.(total).cell(values) }

// Rows returns the size of the table that a total is about: the sum of its cells.
func (r *Rule) Rows() (n int64) {
	for _, c := range r.Total {
		n += c.Rows
	}
	return n
}

func (r reader) total(path string, cells []Cell) Rule {
	names := slices.Sorted(maps.Keys(cells[0].Where))
	rule := Rule{Label: "total of " + strings.Join(names, ":")}
	for _, name := range names {
		rule.Columns = append(rule.Columns, r.column(joinPath(path+"[0].where", name), name))
	}
	if len(names) == 0 {
		r.ps.Add(path+"[0].where", "empty", "values of one column or more")
	}
	before := len(*r.ps)
	if slices.Contains(rule.Columns, -1) || before > 0 && len(names) == 0 {
		return rule
	}
	for i, cell := range cells {
		rule.Total = append(rule.Total, r.cell(fmt.Sprintf("%s[%d]", path, i), names, rule.Columns, cell))
	}
	if len(*r.ps) > before {
		return rule
	}
	rule.form = indexed(r.d, &rule)
	if r.strict {
		r.cells(path, &rule)
	}
	if rule.Rows() <= 0 {
		r.ps.Add(path, "counts that sum to 0", "the counts of a table with rows")
	}
	return rule
}

// mostCount bounds the rows of a cell, so that sums are whole numbers of 63 bits.
const mostCount = 1e12

// cell reads the values of one cell.
func (r reader) cell(path string, names []string, columns []int, cell Cell) TotalCell {
	one := TotalCell{Rows: cell.Count}
	if got := slices.Sorted(maps.Keys(cell.Where)); !slices.Equal(got, names) {
		r.ps.Add(path+".where", "of the columns "+strings.Join(got, ", "),
			"of the columns of the first cell: "+strings.Join(names, ", "))
		return one
	}
	if cell.Count < 0 || cell.Count > mostCount {
		r.ps.Add(path+".count", fmt.Sprint(cell.Count), fmt.Sprintf("from 0 to %d", int64(mostCount)))
	}
	for i, name := range names {
		one.Values = append(one.Values, r.values(joinPath(path+".where", name), columns[i], cell.Where[name]))
	}
	return one
}
