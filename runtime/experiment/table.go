// Package experiment carries out a spec's experiment: its trials, the bill of all of them, and one table of what they
// show, with means, spreads and intervals by combination of settings, and paired differences. The table follows from
// the figures of the runs alone: runs go in, tables and text come out.
//
// Figures against real rows are private, so whatever is made of them here is too.
package experiment

import (
	"maps"
	"slices"
)

// Experiment is what was run.
type Experiment struct {
	Name     string   `json:"name"`
	Grid     []string `json:"grid"`               // paths of settings that every cell takes every value of
	Own      []string `json:"cell_settings"`      // paths that cells set
	Cells    []string `json:"cells"`              // their names
	Baseline string   `json:"baseline,omitempty"` // the cell that differences are taken from; "" is the first
	Dataset  string   `json:"dataset,omitempty"`
	Claims   string   `json:"claims,omitempty"`
	Figures  []string `json:"figures,omitempty"` // metrics that the experiment is about
	Headline []string `json:"headline"`          // metrics that people look at first

	References map[string]Reference `json:"-"` // of real rows, by metric
	// Printed is what a paper prints, by cell and by the values of a combination, in the order of Figures.
	Printed  map[string]map[string][]float64 `json:"printed,omitempty"`
	Stages   []string                        `json:"stages"` // in the order of the plan
	Bill     Bill                            `json:"bill"`
	Insecure bool                            `json:"not_private,omitempty"` // noise from a seed
	Foretold bool                            `json:"foretold,omitempty"`    // on made-up rows: no row of anybody is behind a figure, and nothing was charged
	Runs     []RunRow                        `json:"runs"`
}

// Reference is what real rows reach in a metric.
type Reference struct {
	Metric string // under which runs have it
	Words  string // what it is, such as other real rows
}

// Bill is what all runs together cost.
type Bill struct {
	Runs       int      `json:"runs"`
	Proven     *float64 `json:"epsilon_proven"`    // of all together, as one plan fixed ahead; nil where nothing is proven
	Naive      *float64 `json:"epsilon_naive_sum"` // the proven epsilons of the runs, added up; nil where one has none
	NaiveDelta float64  `json:"delta_naive_sum"`
	Published  *float64 `json:"epsilon_published"` // the published epsilons of what is charged, added up; nil where one has none
	Delta      float64  `json:"delta"`
	Adjacency  string   `json:"adjacency"`
	Accountant string   `json:"accountant"`
	Reason     string   `json:"reason,omitempty"` // why Proven is nil, or how it was read

	Unprotected int `json:"runs_without_privacy,omitempty"` // with epsilon: inf: they charge nothing, and nothing above counts them
}

// RunRow is one run of a table: the settings that it does not share with all others, and what came out.
type RunRow struct {
	ID        string             `json:"run"`
	Path      string             `json:"path"`             // of its folder
	Report    string             `json:"report,omitempty"` // of its page, seen from the table's folder
	Cell      string             `json:"cell,omitempty"`
	Settings  map[string]string  `json:"settings"`    // by path
	Repeat    int                `json:"repeat"`      // from 1
	Seed      uint64             `json:"public_seed"` // runs of equal ones can be paired
	Delta     float64            `json:"delta"`
	Published *float64           `json:"epsilon_published"`
	Proven    *float64           `json:"epsilon_proven"`
	Metrics   map[string]float64 `json:"metrics"`
	Notes     map[string]string  `json:"notes,omitempty"` // on figures that the experiment is about, or on what they are means of
	Seconds   map[string]float64 `json:"seconds"`         // by the clock, of each stage that was computed in the experiment
}

// Table is what the runs show. Lists are in the order of the experiment, metrics by name.
type Table struct {
	Experiment
	Metrics     []string     `json:"metric_names"`
	Rows        []Row        `json:"table"`
	Differences []Difference `json:"differences"`
}

// Row is one combination of settings.
type Row struct {
	Cell      string             `json:"cell,omitempty"`
	Settings  map[string]string  `json:"settings"`
	Runs      int                `json:"runs"`
	Delta     float64            `json:"delta"`
	Published *float64           `json:"epsilon_published"`
	Proven    *float64           `json:"epsilon_proven"`
	Metrics   map[string]Summary `json:"metrics"` // of all metrics; where no run has it, N is 0
	Seconds   map[string]Summary `json:"seconds"` // of all stages
	of        []RunRow
}

// Difference is how far one combination lies above its baseline in one metric, over runs of
// both that share a public seed.
type Difference struct {
	Cell     string            `json:"cell,omitempty"`
	Settings map[string]string `json:"settings"`
	Against  string            `json:"against"` // the baseline, in words
	Metric   string            `json:"metric"`
	Summary
}

// Tabulate makes the table of runs.
func Tabulate(e Experiment) *Table {
	t := &Table{Experiment: e, Metrics: metricNames(e.Runs), Rows: rows(e), Differences: []Difference{}}
	for i := range t.Rows {
		r := &t.Rows[i]
		r.Runs, r.Metrics, r.Seconds = len(r.of), map[string]Summary{}, map[string]Summary{}
		for _, m := range t.Metrics {
			r.Metrics[m] = Summarize(values(r.of, m))
		}
		for _, stage := range t.Stages {
			r.Seconds[stage] = Summarize(seconds(r.of, stage))
		}
	}
	t.differences()
	return t
}

// rows puts the runs of equal settings together. A value that is given twice is the same run, which
// counts once: the interval of twice as many runs would be too narrow.
func rows(e Experiment) []Row {
	var list []Row
	for _, run := range e.Runs {
		i := slices.IndexFunc(list, func(r Row) bool { return r.Cell == run.Cell && maps.Equal(r.Settings, run.Settings) })
		if i < 0 {
			i = len(list)
			list = append(list, Row{Cell: run.Cell, Settings: run.Settings, Delta: run.Delta, Published: run.Published,
				Proven: run.Proven})
		}
		if !slices.ContainsFunc(list[i].of, func(r RunRow) bool { return r.ID == run.ID }) {
			list[i].of = append(list[i].of, run)
		}
	}
	return list
}

func metricNames(runs []RunRow) []string {
	names := map[string]bool{}
	for _, r := range runs {
		for m := range r.Metrics {
			names[m] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// values returns the values of a metric in the runs that have it.
func values(runs []RunRow, metric string) []float64 {
	var list []float64
	for _, r := range runs {
		if x, has := r.Metrics[metric]; has {
			list = append(list, x)
		}
	}
	return list
}

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

// against returns the row that another is compared with. Of cells it is the baseline cell with the
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

// baseline returns the name of the cell that differences are taken from.
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
func (t *Table) sameGrid(a, b Row, values map[string]string) bool {
	want := maps.Clone(b.Settings)
	for _, path := range t.Grid {
		value := want[path]
		if other, is := values[path]; is {
			value = other
		}
		if a.Settings[path] != value {
			return false
		}
	}
	return true
}

// paired returns the differences of runs that share repeat and public seed and both have the metric.
func paired(a, b []RunRow, metric string) []float64 {
	type pair struct {
		repeat int
		seed   uint64
	}
	items := map[pair]float64{}
	for _, r := range b {
		if x, has := r.Metrics[metric]; has {
			items[pair{r.Repeat, r.Seed}] = x
		}
	}
	var list []float64
	for _, r := range a {
		y, both := items[pair{r.Repeat, r.Seed}]
		if x, has := r.Metrics[metric]; has && both {
			list = append(list, x-y)
		}
	}
	return list
}
