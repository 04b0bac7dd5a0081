package constraint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/pipeline"
)

// total is public counts of cells; a cell of no rows is impossible.
type total struct{ cells []Count }

func (f total) keeps(values []float64) bool {
	i := f.cell(values)
	return i < 0 || f.cells[i].Rows > 0
}

// cell is the place of the cell that holds a row; -1 where none does.
func (f total) cell(values []float64) int {
	return slices.IndexFunc(f.cells, func(c Count) bool {
		for i, s := range c.Values {
			if !s.Has(values[i]) {
				return false
			}
		}
		return true
	})
}

func (f total) sets(column int) []Values {
	list := make([]Values, len(f.cells))
	for i := range f.cells {
		list[i] = f.cells[i].Values[column]
	}
	return list
}

// Cell is the place in r.Total of the cell that holds a row; -1 where none does.
func (r *Rule) Cell(values []float64) int { return total{r.Total}.cell(values) }

// Rows is the size of the table that a total is about: the sum of its cells.
func (r *Rule) Rows() (n int64) {
	for _, c := range r.Total {
		n += c.Rows
	}
	return n
}

func (r reader) total(path string, cells []pipeline.Cell) Rule {
	names := slices.Sorted(maps.Keys(cells[0].Where))
	rule := Rule{Label: "total of " + strings.Join(names, ":")}
	for _, name := range names {
		rule.Columns = append(rule.Columns, r.column(under(path+"[0].where", name), name))
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
	rule.form = total{rule.Total}
	if len(*r.ps) > before {
		return rule
	}
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
func (r reader) cell(path string, names []string, columns []int, cell pipeline.Cell) Count {
	one := Count{Rows: cell.Count}
	if got := slices.Sorted(maps.Keys(cell.Where)); !slices.Equal(got, names) {
		r.ps.Add(path+".where", "of the columns "+strings.Join(got, ", "), "of those of the first cell: "+strings.Join(names, ", "))
		return one
	}
	if cell.Count < 0 || cell.Count > mostCount {
		r.ps.Add(path+".count", fmt.Sprint(cell.Count), fmt.Sprintf("from 0 to %d", int64(mostCount)))
	}
	for i, name := range names {
		one.Values = append(one.Values, r.values(under(path+".where", name), columns[i], cell.Where[name]))
	}
	return one
}
