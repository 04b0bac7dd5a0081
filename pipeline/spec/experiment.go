package spec

import (
	"fmt"
	"slices"
	"strings"

	"weir/schema"
)

// Experiment runs the spec over settings: every combination of the grid with every level and
// every cell, each as often as repeats says.
type Experiment struct {
	Grid     schema.Ordered[[]schema.Raw]               `yaml:"grid,omitempty" json:"grid,omitempty" doc:"Values by dotted path; every combination is run."`
	Levels   []schema.Ordered[schema.Raw]               `yaml:"levels,omitempty" json:"levels,omitempty" doc:"Sets of settings by dotted path that are one more axis, for an axis along which several settings change, such as an epsilon with its steps. All set the same paths; the values of the first one name the level."`
	Cells    schema.Ordered[schema.Ordered[schema.Raw]] `yaml:"cells,omitempty" json:"cells,omitempty" doc:"Named sets of settings by dotted path, for settings that change together; each is run with every combination of the grid. The names are public."`
	Baseline string                                     `yaml:"baseline,omitempty" json:"baseline,omitempty" doc:"The cell that differences are taken from; the first one by default."`
	Figures  []string                                   `yaml:"figures,omitempty" json:"figures,omitempty" minItems:"1" uniqueItems:"true" doc:"Metrics that the experiment is about, such as utility.auroc: shown first, by cell, with standard deviations, and judged against the baseline, corrected for how many are."`
	Printed  schema.Ordered[schema.Ordered[[]float64]]  `yaml:"printed,omitempty" json:"printed,omitempty" doc:"What a paper prints, by cell and then by value of the grid or level (of several, joined by a space): a number for each of figures. Shown beside what comes out."`
	Repeats  int                                        `yaml:"repeats,omitempty" json:"repeats,omitempty" min:"1" doc:"Runs of each combination, each with its own noise and its own charge; 1 by default."`
}

// Trial is one run of an experiment: what makes its spec of the one that holds the
// experiment, and which repeat it is.
type Trial struct {
	Cell   string   `json:"cell,omitempty"`
	Set    []string `json:"set"` // path=value of all settings that it changes, those of the grid first
	Repeat int      `json:"repeat"`
	copies []copied
}

// copied is a value of the experiment that goes to a setting.
type copied struct{ to, from string }

// Settings are the paths and values that the trial changes.
func (t Trial) Settings() map[string]string {
	values := map[string]string{}
	for i, c := range t.copies {
		values[c.to] = strings.TrimPrefix(t.Set[i], c.to+"=")
	}
	return values
}

// Name says in one line which combination the trial is of.
func (t Trial) Name() string {
	words := slices.Clone(t.Set)
	if t.Cell != "" {
		words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(t.ofCell(), w) })
		words = append([]string{"cell " + t.Cell}, words...)
	}
	return strings.ReplaceAll(strings.Join(words, " "), "\n", `\n`)
}

// ofCell are the settings that come from the cell.
func (t Trial) ofCell() []string {
	var list []string
	for i, c := range t.copies {
		if schema.Within(c.from, "experiment.cells") {
			list = append(list, t.Set[i])
		}
	}
	return list
}

func (t Trial) with(to string, value schema.Raw, from ...any) Trial {
	t.Set = append(slices.Clone(t.Set), to+"="+value.Text())
	t.copies = append(slices.Clone(t.copies), copied{to, schema.Path(append([]any{"experiment"}, from...)...)})
	return t
}

// maxTrials bounds an experiment; each trial is a charge of its own.
const maxTrials = 10000

// Trials lists the runs of an experiment: the grid outermost, then levels and cells, repeats
// innermost; one run where the spec has none. Over 10,000 runs are an error of type
// schema.Problem.
func (e *Experiment) Trials() ([]Trial, error) {
	if e == nil {
		return []Trial{{}}, nil
	}
	combinations := []Trial{{}}
	for _, axis := range e.Grid {
		if len(axis.Value) > maxTrials/max(1, len(combinations)) {
			return nil, tooMany("experiment.grid", fmt.Sprintf("a grid of more than %d combinations", maxTrials))
		}
		var next []Trial
		for _, c := range combinations {
			for i, value := range axis.Value {
				next = append(next, c.with(axis.Name, value, "grid", axis.Name, i))
			}
		}
		combinations = next
	}
	combinations = e.atLevels(combinations)
	n, repeats := len(combinations)*max(1, len(e.Cells)), max(1, e.Repeats)
	if repeats > maxTrials/max(1, n) {
		return nil, tooMany("experiment", fmt.Sprintf("a plan of %.0f runs", float64(n)*float64(repeats)))
	}
	return e.repeated(e.inCells(combinations)), nil
}

// atLevels are the combinations with each of the levels.
func (e *Experiment) atLevels(combinations []Trial) []Trial {
	if len(e.Levels) == 0 {
		return combinations
	}
	var all []Trial
	for _, c := range combinations {
		for i, level := range e.Levels {
			t := c
			for _, setting := range level {
				t = t.with(setting.Name, setting.Value, "levels", i, setting.Name)
			}
			all = append(all, t)
		}
	}
	return all
}

// LevelPaths are the settings of levels, that which names them first.
func (e *Experiment) LevelPaths() (paths []string) {
	if len(e.Levels) > 0 {
		for _, setting := range e.Levels[0] {
			paths = append(paths, setting.Name)
		}
	}
	return paths
}

// inCells are the combinations with each of the cells.
func (e *Experiment) inCells(combinations []Trial) []Trial {
	if len(e.Cells) == 0 {
		return combinations
	}
	var all []Trial
	for _, c := range combinations {
		for _, cell := range e.Cells {
			t := c
			t.Cell = cell.Name
			for _, setting := range cell.Value {
				t = t.with(setting.Name, setting.Value, "cells", cell.Name, setting.Name)
			}
			all = append(all, t)
		}
	}
	return all
}

func (e *Experiment) repeated(combinations []Trial) []Trial {
	var trials []Trial
	for _, c := range combinations {
		for r := range max(1, e.Repeats) {
			c.Repeat = r
			trials = append(trials, c)
		}
	}
	return trials
}

func tooMany(path, found string) error {
	return schema.Problem{Path: path, Found: found, Accepted: fmt.Sprintf("one of at most %d runs", maxTrials)}
}
