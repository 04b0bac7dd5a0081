package sweep

import (
	"slices"
	"strconv"
)

// Type is what the values of a column are.
type Type int

// The types of columns.
const (
	Text Type = iota
	Whole
	Number
)

// Column is one of a flat table; "" is a value that is missing.
type Column struct {
	Name   string
	Type   Type
	Values []string
}

// Flat is a table for files.
type Flat struct {
	Name    string
	Columns []Column
}

// Files are the flat tables: `table` has a row for each combination and metric, `differences` for
// each combination but the baselines and metric, `runs` for each run and metric, whether the run
// has it or not, `times` for each run and stage.
func (t *Table) Files() []Flat { return []Flat{t.summaries(), t.pairs(), t.singles(), t.times()} }

// flat collects rows: each has the columns of settings first.
type flat struct {
	Flat
	t *Table
}

// begin starts a table with the columns of settings: the cell, where there are cells, and each
// path of the grid and of cells.
func (t *Table) begin(name string, more ...Column) *flat {
	f := &flat{Flat{Name: name}, t}
	if len(t.Cells) > 0 {
		f.Columns = append(f.Columns, Column{Name: "cell"})
	}
	for _, path := range t.paths() {
		f.Columns = append(f.Columns, Column{Name: path})
	}
	f.Columns = append(f.Columns, more...)
	return f
}

func (f *flat) add(cell string, settings map[string]string, more ...string) {
	var row []string
	if len(f.t.Cells) > 0 {
		row = append(row, cell)
	}
	for _, path := range f.t.paths() {
		row = append(row, settings[path])
	}
	for i, x := range append(row, more...) {
		f.Columns[i].Values = append(f.Columns[i].Values, x)
	}
}

// paths are those of the settings that differ, the grid's first.
func (t *Table) paths() []string {
	list := slices.Clone(t.Grid)
	for _, p := range t.Own {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func epsilons() []Column {
	return []Column{{Name: "epsilon_published", Type: Number}, {Name: "epsilon_proven", Type: Number}, {Name: "delta", Type: Number}}
}

func sample() []Column {
	return []Column{{Name: "metric"}, {Name: "n", Type: Whole}, {Name: "mean", Type: Number}, {Name: "sd", Type: Number},
		{Name: "low", Type: Number}, {Name: "high", Type: Number}}
}

func (t *Table) summaries() Flat {
	f := t.begin("table", append(append(epsilons(), Column{Name: "runs", Type: Whole}), sample()...)...)
	for _, r := range t.Rows {
		for _, m := range t.Metrics {
			f.add(r.Cell, r.Settings, append([]string{exact(r.Published), exact(r.Proven), exact(&r.Delta), strconv.Itoa(r.Runs), m}, r.Metrics[m].texts()...)...)
		}
	}
	return f.Flat
}

func (t *Table) pairs() Flat {
	f := t.begin("differences", append([]Column{{Name: "against"}}, sample()...)...)
	for _, d := range t.Differences {
		f.add(d.Cell, d.Settings, append([]string{d.Against, d.Metric}, d.texts()...)...)
	}
	return f.Flat
}

func (t *Table) singles() Flat {
	f := t.begin("runs", append([]Column{{Name: "repeat", Type: Whole}, {Name: "public_seed"}, {Name: "run"}}, append(epsilons(),
		Column{Name: "metric"}, Column{Name: "value", Type: Number})...)...)
	for _, r := range t.Runs {
		for _, m := range t.Metrics {
			value := ""
			if x, has := r.Metrics[m]; has {
				value = exact(&x)
			}
			f.add(r.Cell, r.Settings, strconv.Itoa(r.Repeat), strconv.FormatUint(r.Seed, 10), r.ID, exact(r.Published), exact(r.Proven), exact(&r.Delta), m, value)
		}
	}
	return f.Flat
}

func (s Summary) texts() []string {
	return []string{strconv.Itoa(s.N), exact(s.Mean), exact(s.SD), exact(s.Low), exact(s.High)}
}

// exact is the shortest text that reads back as the number; "" where there is none.
func exact(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}
