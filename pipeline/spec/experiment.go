package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"weir/pipeline"
	"weir/pipeline/domain"
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
	// FirstRepeat is 0 where all repeats are run: a spec that says 1 means the same.
	FirstRepeat int `yaml:"first_repeat,omitempty" json:"first_repeat,omitempty" min:"1" doc:"The repeat that is run first, for an experiment in parts: 6 with repeats: 10 runs the last five, with the public seeds that they have in the whole. Each run has its own noise and its own charge, on whatever machine; 1 by default, at most repeats."`
}

// settle gives an experiment that begins with repeat 1 one form, in which nothing says so.
func (e *Experiment) settle() {
	if e != nil && e.FirstRepeat == 1 {
		e.FirstRepeat = 0
	}
}

// Trial is one run of an experiment: what makes its spec of the one that holds the
// experiment, and which repeat it is.
type Trial struct {
	Cell   string   `json:"cell,omitempty"`
	Set    []string `json:"set"` // path=value of all settings that it changes, the grid's first
	Repeat int      `json:"repeat"`
	copies []copied
}

// copied is a value of the experiment that goes to a setting.
type copied struct{ to, from string }

// Settings returns the paths and values that the trial changes.
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

// ofCell returns the settings that come from the cell.
func (t Trial) ofCell() []string {
	var list []string
	for i, c := range t.copies {
		if schema.Within(c.from, "experiment.cells") {
			list = append(list, t.Set[i])
		}
	}
	return list
}

func (t Trial) withSetting(to string, value schema.Raw, from ...any) Trial {
	t.Set = append(slices.Clone(t.Set), to+"="+value.Text())
	t.copies = append(slices.Clone(t.copies), copied{to, schema.Path(append([]any{"experiment"}, from...)...)})
	return t
}

// maxTrials bounds an experiment; each trial is a charge of its own.
const maxTrials = 10000

// Trials lists the runs of an experiment: the grid outermost, then levels and cells, repeats
// innermost, from the first one that is run; one run where the spec has none. Over 10,000 runs are an error of type
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
				next = append(next, c.withSetting(axis.Name, value, "grid", axis.Name, i))
			}
		}
		combinations = next
	}
	combinations = e.atLevels(combinations)
	n, repeats := len(combinations)*max(1, len(e.Cells)), max(1, e.Repeats)-e.Skipped()
	if repeats > maxTrials/max(1, n) {
		return nil, tooMany("experiment", fmt.Sprintf("a plan of %.0f runs", float64(n)*float64(repeats)))
	}
	return e.repeated(e.inCells(combinations)), nil
}

// atLevels returns the combinations with each of the levels.
func (e *Experiment) atLevels(combinations []Trial) []Trial {
	if len(e.Levels) == 0 {
		return combinations
	}
	var all []Trial
	for _, c := range combinations {
		for i, level := range e.Levels {
			t := c
			for _, setting := range level {
				t = t.withSetting(setting.Name, setting.Value, "levels", i, setting.Name)
			}
			all = append(all, t)
		}
	}
	return all
}

// LevelPaths returns the settings of levels, that which names them first.
func (e *Experiment) LevelPaths() (paths []string) {
	if len(e.Levels) > 0 {
		for _, setting := range e.Levels[0] {
			paths = append(paths, setting.Name)
		}
	}
	return paths
}

// inCells returns the combinations with each of the cells.
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
				t = t.withSetting(setting.Name, setting.Value, "cells", cell.Name, setting.Name)
			}
			all = append(all, t)
		}
	}
	return all
}

// Skipped returns how many repeats of each combination lie before the first that is run; 0 without an experiment.
func (e *Experiment) Skipped() int {
	if e == nil {
		return 0
	}
	return max(1, e.FirstRepeat) - 1
}

func (e *Experiment) repeated(combinations []Trial) []Trial {
	var trials []Trial
	for _, c := range combinations {
		for c.Repeat = e.Skipped(); c.Repeat < max(1, e.Repeats); c.Repeat++ {
			trials = append(trials, c)
		}
	}
	return trials
}

func tooMany(path, found string) error {
	return schema.Problem{Path: path, Found: found, Accepted: fmt.Sprintf("one of at most %d runs", maxTrials)}
}

// experimentRules checks the rules of an experiment that a JSON Schema cannot say. The values
// are judged as settings, in the runs that have them.
func (p *parser) experimentRules(e *Experiment) {
	if e == nil || p.wrong("experiment") {
		return
	}
	for _, part := range []string{"grid", "cells"} {
		if path := "experiment." + part; p.doc.Has(path) && len(p.doc.Keys(path)) == 0 {
			p.problemAt(path, "empty", map[string]string{"grid": "a mapping from one or more settings to values",
				"cells": "a mapping from one or more names to settings"}[part], "")
		}
	}
	var axes []string
	for _, axis := range e.Grid {
		path := schema.Path("experiment", "grid", axis.Name)
		if len(axis.Value) == 0 {
			p.problemAt(path, "a list without values", "a list of one value or more", "")
		}
		p.axis(path, axis.Name, takenBy("the grid", axes))
		axes = append(axes, axis.Name)
	}
	p.firstRule(e)
	grid := takenBy("the grid", axes)
	p.levelRules(e, grid)
	p.cellRules(e, append(grid, takenBy("the levels", e.LevelPaths())...))
}

// firstRule holds that there is a repeat to begin with.
func (p *parser) firstRule(e *Experiment) {
	if last := max(1, e.Repeats); e.FirstRepeat > last {
		p.problemAt("experiment.first_repeat", "", fmt.Sprintf("at most %d, as experiment.repeats is", last), "")
	}
}

// levelRules: the levels set the same paths, and no two the same first value, by which tables tell them
// apart.
func (p *parser) levelRules(e *Experiment, grid []setBy) {
	if p.doc.Has("experiment.levels") && len(e.Levels) == 0 {
		p.problemAt("experiment.levels", "empty", "a list of one or more mappings from settings to values", "")
	}
	byName := map[string]bool{}
	for i, level := range e.Levels {
		path := schema.Path("experiment", "levels", i)
		var ownValue []string
		for _, setting := range level {
			p.axis(schema.Path("experiment", "levels", i, setting.Name), setting.Name,
				slices.Concat(grid, takenBy("this level", ownValue)))
			ownValue = append(ownValue, setting.Name)
		}
		want := e.LevelPaths()
		switch {
		case len(level) == 0:
			p.problemAt(path, "a level without settings", "a mapping from one or more settings to values", "")
		case !slices.Equal(ownValue, want):
			p.problemAt(path, "given settings "+strings.Join(ownValue, ", "), "the settings of the first level, in its order: "+
				strings.Join(want,
					", "), "")
		case byName[level[0].Value.Text()]:
			p.problemAt(path, ownValue[0]+" "+level[0].Value.Text()+", as an earlier level",
				"a first value of its own, which names the level", "")
		}
		if len(level) > 0 {
			byName[level[0].Value.Text()] = true
		}
	}
}

func (p *parser) cellRules(e *Experiment, before []setBy) {
	var names []string
	for _, cell := range e.Cells {
		path := schema.Path("experiment", "cells", cell.Name)
		if !cellName().MatchString(cell.Name) {
			p.problemAt(path, fmt.Sprintf("the name %q", cell.Name),
				"letters, digits, dots, _ and -, a letter or digit first, of at "+
					"most 64 bytes together", "")
		}
		if len(cell.Value) == 0 {
			p.problemAt(path, "a cell without settings", "a mapping from one or more settings to values; for a cell that "+
				"changes "+
				"nothing, one setting at the value that it has in the spec, such as seed", "")
		}
		var ownValue []string
		for _, setting := range cell.Value {
			path := schema.Path("experiment", "cells", cell.Name, setting.Name)
			created := before
			if setting.Value.Null() { // a cell may do without what grid and levels set in the others
				created = slices.DeleteFunc(slices.Clone(before), func(other setBy) bool {
					return schema.Within(other.setting,
						setting.Name)
				})
			}
			p.axis(path, setting.Name, slices.Concat(created, takenBy("this cell", ownValue)))
			ownValue = append(ownValue, setting.Name)
		}
		names = append(names, cell.Name)
	}
	p.figureRules(e)
	p.printedRules(e, names)
	if e.Baseline == "" {
		return
	}
	accepted := "left out where there are no cells"
	if len(names) > 0 {
		accepted = "the name of a cell: " + strings.Join(names, ", ")
	}
	if !slices.Contains(names, e.Baseline) {
		p.problemAt("experiment.baseline", "", accepted, schema.DidYouMean(e.Baseline, names))
	}
}

// figureRules: a figure is a metric of a stage that there is; which metrics a stage has is known once it
// has run.
func (p *parser) figureRules(e *Experiment) {
	for i, figure := range e.Figures {
		stage, metric, dot := strings.Cut(figure, ".")
		if known := slices.Contains(p.stages, stage); !known || !dot || metric == "" {
			hint := ""
			if !known {
				hint = schema.DidYouMean(stage, p.stages)
			}
			p.problemAt(schema.Path("experiment", "figures", i), "", "STAGE.METRIC, of a stage that the spec has: "+
				strings.Join(p.stages, ", "), hint)
		}
	}
}

// printedRules: what a paper prints is of cells that there are, a number for each figure.
func (p *parser) printedRules(e *Experiment, cells []string) {
	for _, subject := range e.Printed {
		if !slices.Contains(cells, subject.Name) {
			p.problemAt(schema.Path("experiment", "printed", subject.Name), "not a cell", "one of "+strings.Join(cells, ", "),
				schema.DidYouMean(subject.Name, cells))
		}
		for _, i := range subject.Value {
			if len(i.Value) != len(e.Figures) {
				p.problemAt(schema.Path("experiment", "printed", subject.Name, i.Name), fmt.Sprintf("a list of %d numbers",
					len(i.Value)),
					fmt.Sprintf("one for each of the %d experiment.figures", len(e.Figures)), "")
			}
		}
	}
}

// cellName returns what files, columns and pages can show as it is.
func cellName() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) }

// axis refuses a setting that runs of one experiment cannot differ in, one of a stage that
// is not there, and one that another axis sets too.
func (p *parser) axis(path, setting string, before []setBy) {
	if one, err := schema.Respelled(setting); err == nil && one != setting {
		p.problemAt(path, fmt.Sprintf("the path %q", setting), "spelled "+one, "") // the rules below compare texts
		return
	}
	if stage, of := strings.CutPrefix(setting, "stages."); of {
		name, _, _ := strings.Cut(stage, ".")
		if ids := p.stages; !slices.Contains(ids, name) {
			p.problemAt(path, fmt.Sprintf("a setting of %q", name), "one of a stage that the spec has: "+strings.Join(ids, ", "),
				schema.DidYouMean(name, ids))
			return
		}
	}
	if shared(setting) {
		p.problemAt(path, "a setting that all runs of an experiment share",
			"one outside of weir, name, experiment and dataset (dataset.domain and dataset.csv may differ)", "")
	}
	for _, other := range before {
		p.once(path, setting, other)
	}
}

// setBy is a setting that something else of the experiment gives.
type setBy struct{ setting, by string }

func takenBy(key string, settings []string) []setBy {
	list := make([]setBy, len(settings))
	for i, s := range settings {
		list[i] = setBy{s, key}
	}
	return list
}

func (p *parser) once(path, setting string, other setBy) {
	if related(other.setting, setting) {
		p.problemAt(path, fmt.Sprintf("set by %s too, as %s", other.by, other.setting), "a setting that is given once", "")
	}
}

// shared tells of what the runs of an experiment have in common: its name, itself, and the
// dataset whose budget they share.
func shared(setting string) bool {
	if schema.Within(setting, "dataset.domain") || schema.Within(setting, "dataset.csv") {
		return false
	}
	return slices.ContainsFunc([]string{"weir", "name", "experiment", "dataset"},
		func(own string) bool { return schema.Within(setting, own) })
}

// origin is what a spec was read from, of which the trials of its experiment are read too.
type origin struct {
	src   Input
	reg   *pipeline.Registry
	known known
	aims  map[string]string // by stage that an override takes out: the column that it predicts

	once sync.Once
	doc  *schema.Document // with the overrides, as no trial has changed it; nil before the first trial
}

// known is what the specs of one origin have in common. It is safe for concurrent use.
type known struct {
	checked schema.Checked

	lock    sync.Mutex
	domains map[string]*domain.Domain // by what was read; nobody changes one
}

// Trial returns the spec of a run of the experiment: this spec with the settings of the trial, which come after the
// overrides, and with stages of its own. What the trial leaves as it is was checked before, and is not checked again.
// The error is of type Diagnostics.
func (s *Spec) Trial(t Trial) (*Spec, error) {
	o := s.from
	o.once.Do(func() { o.doc, _ = o.read() }) // without problems, as when this spec was read
	return o.parse(o.doc.Clone(), t)
}

// read parses the words of the spec and applies the overrides.
func (o *origin) read() (*schema.Document, []schema.Problem) {
	doc, problems := schema.Parse(o.src.File, o.src.Data)
	if doc == nil {
		return nil, problems
	}
	if other := specForeign(o.src.File, doc); other != nil {
		return nil, other
	}
	stages, aims := doc.Keys("stages"), map[string]string{}
	for _, set := range o.src.Set {
		if id := offStage(set); id != "" {
			aims[id] = aimOf(doc, id, o.reg)
		}
		problems = append(problems, override(doc, set, o.reg)...)
	}
	if o.aims == nil { // else trials may read it
		o.aims = aims
	}
	doc.Remember(&o.known.checked)
	return doc, append(problems, strangers(doc, o.src.Set, stages)...)
}

// domain returns the domain that text describes; read reads it where no spec of the origin has read it soundly.
func (k *known) domain(text string, read func() (*domain.Domain, []schema.Problem)) (*domain.Domain, []schema.Problem) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if d := k.domains[text]; d != nil {
		return d, nil
	}
	d, problems := read()
	if len(problems) == 0 {
		if k.domains == nil {
			k.domains = map[string]*domain.Domain{}
		}
		k.domains[text] = d
	}
	return d, problems
}
