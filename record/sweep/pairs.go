package sweep

import (
	"maps"
	"slices"
)

// epsilonPath is the axis that curves are drawn over.
const epsilonPath = "privacy.epsilon"

// differences compares each row with its baseline, metric by metric.
func (t *Table) differences() {
	alone := t.epsilonAlone()
	for i := range t.Rows {
		row := &t.Rows[i]
		base := t.against(*row, alone)
		if base == nil || base == row {
			continue
		}
		for _, m := range t.Metrics {
			if d := paired(row.of, base.of, m); len(d) > 0 {
				t.Differences = append(t.Differences, Difference{row.Cell, row.Settings, t.Label(*base), m, Summarize(d)})
			}
		}
	}
}

// against is the row that another is compared with. Of cells it is the baseline cell with the
// same values of the grid. Without cells it is the row whose settings beside the epsilon have
// their first values, at the same epsilon; where epsilon alone differs, the first row.
func (t *Table) against(row Row, epsilonAlone bool) *Row {
	first := t.Rows[0]
	epsilon := map[string]string{epsilonPath: row.Settings[epsilonPath]}
	if epsilonAlone {
		epsilon = nil
	}
	for i := range t.Rows {
		other := &t.Rows[i]
		switch {
		case len(t.Cells) > 0 && other.Cell == t.baseline() && t.sameGrid(*other, row, nil):
			return other
		case len(t.Cells) == 0 && t.sameGrid(*other, first, epsilon):
			return other
		}
	}
	return nil
}

// baseline is the name of the cell that differences are taken from.
func (t *Table) baseline() string {
	if t.Baseline == "" && len(t.Cells) > 0 {
		return t.Cells[0]
	}
	return t.Baseline
}

// epsilonAlone tells whether the rows have the same values of all other settings of the grid.
func (t *Table) epsilonAlone() bool {
	return !slices.ContainsFunc(t.Rows, func(r Row) bool {
		return !t.sameGrid(t.Rows[0], r, map[string]string{epsilonPath: t.Rows[0].Settings[epsilonPath]})
	})
}

// sameGrid tells whether a has the values of b, or those given, of all settings of the grid.
func (t *Table) sameGrid(a, b Row, given map[string]string) bool {
	want := maps.Clone(b.Settings)
	for _, path := range t.Grid {
		value := want[path]
		if other, is := given[path]; is {
			value = other
		}
		if a.Settings[path] != value {
			return false
		}
	}
	return true
}

// paired are the differences of runs that share repeat and public seed and both have the metric.
func paired(a, b []Run, metric string) []float64 {
	type pair struct {
		repeat int
		seed   uint64
	}
	of := map[pair]float64{}
	for _, r := range b {
		if x, has := r.Metrics[metric]; has {
			of[pair{r.Repeat, r.Seed}] = x
		}
	}
	var list []float64
	for _, r := range a {
		y, both := of[pair{r.Repeat, r.Seed}]
		if x, has := r.Metrics[metric]; has && both {
			list = append(list, x-y)
		}
	}
	return list
}
