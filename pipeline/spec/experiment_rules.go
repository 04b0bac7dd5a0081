package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"weir/schema"
)

// experimentRules are those of an experiment that a JSON Schema cannot say. The values
// are judged as settings, in the runs that have them.
func (p *parser) experimentRules(e *Experiment) {
	if e == nil || p.wrong("experiment") {
		return
	}
	for _, part := range []string{"grid", "cells"} {
		if path := "experiment." + part; p.doc.Has(path) && len(p.doc.Keys(path)) == 0 {
			p.at(path, "empty", map[string]string{"grid": "a mapping from one or more settings to values",
				"cells": "a mapping from one or more names to settings"}[part], "")
		}
	}
	var axes []string
	for _, axis := range e.Grid {
		path := schema.Path("experiment", "grid", axis.Name)
		if len(axis.Value) == 0 {
			p.at(path, "a list without values", "a list of one value or more", "")
		}
		p.axis(path, axis.Name, takenBy("the grid", axes))
		axes = append(axes, axis.Name)
	}
	grid := takenBy("the grid", axes)
	p.levelRules(e, grid)
	p.cellRules(e, append(grid, takenBy("the levels", e.LevelPaths())...))
}

// levelRules: the levels set the same paths, and no two the same first value, by which tables tell them
// apart.
func (p *parser) levelRules(e *Experiment, grid []taken) {
	if p.doc.Has("experiment.levels") && len(e.Levels) == 0 {
		p.at("experiment.levels", "empty", "a list of one or more mappings from settings to values", "")
	}
	names := map[string]bool{}
	for i, level := range e.Levels {
		path := schema.Path("experiment", "levels", i)
		var ours []string
		for _, setting := range level {
			p.axis(schema.Path("experiment", "levels", i, setting.Name), setting.Name,
				slices.Concat(grid, takenBy("this level", ours)))
			ours = append(ours, setting.Name)
		}
		want := e.LevelPaths()
		switch {
		case len(level) == 0:
			p.at(path, "a level without settings", "a mapping from one or more settings to values", "")
		case !slices.Equal(ours, want):
			p.at(path, "given settings "+strings.Join(ours, ", "), "those of the first level, in its order: "+strings.Join(want,
				", "), "")
		case names[level[0].Value.Text()]:
			p.at(path, ours[0]+" "+level[0].Value.Text()+", as an earlier level",
				"a first value of its own, which names the level", "")
		}
		if len(level) > 0 {
			names[level[0].Value.Text()] = true
		}
	}
}

func (p *parser) cellRules(e *Experiment, before []taken) {
	var names []string
	for _, cell := range e.Cells {
		path := schema.Path("experiment", "cells", cell.Name)
		if !cellName().MatchString(cell.Name) {
			p.at(path, fmt.Sprintf("the name %q", cell.Name), "letters, digits, dots, _ and -, a letter or digit first, of at "+
				"most 64 bytes together", "")
		}
		if len(cell.Value) == 0 {
			p.at(path, "a cell without settings", "a mapping from one or more settings to values; for a cell that changes "+
				"nothing, one setting at the value that it has in the spec, such as seed", "")
		}
		var ours []string
		for _, setting := range cell.Value {
			path := schema.Path("experiment", "cells", cell.Name, setting.Name)
			given := before
			if setting.Value.Null() { // a cell may do without what grid and levels set in the others
				given = slices.DeleteFunc(slices.Clone(before), func(other taken) bool {
					return schema.Within(other.setting,
						setting.Name)
				})
			}
			p.axis(path, setting.Name, slices.Concat(given, takenBy("this cell", ours)))
			ours = append(ours, setting.Name)
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
		p.at("experiment.baseline", "", accepted, schema.DidYouMean(e.Baseline, names))
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
			p.at(schema.Path("experiment", "figures", i), "", "STAGE.METRIC, of a stage that the spec has: "+
				strings.Join(p.stages, ", "), hint)
		}
	}
}

// printedRules: what a paper prints is of cells that there are, a number for each figure.
func (p *parser) printedRules(e *Experiment, cells []string) {
	for _, of := range e.Printed {
		if !slices.Contains(cells, of.Name) {
			p.at(schema.Path("experiment", "printed", of.Name), "no cell", "one of "+strings.Join(cells, ", "),
				schema.DidYouMean(of.Name, cells))
		}
		for _, at := range of.Value {
			if len(at.Value) != len(e.Figures) {
				p.at(schema.Path("experiment", "printed", of.Name, at.Name), fmt.Sprintf("a list of %d numbers", len(at.Value)),
					fmt.Sprintf("one for each of the %d experiment.figures", len(e.Figures)), "")
			}
		}
	}
}

// cellName is what files, columns and pages can show as it is.
func cellName() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) }

// axis refuses a setting that runs of one experiment cannot differ in, one of a stage that
// is not there, and one that another axis sets too.
func (p *parser) axis(path, setting string, before []taken) {
	if one, err := schema.Respelled(setting); err == nil && one != setting {
		p.at(path, fmt.Sprintf("the path %q", setting), "spelled "+one, "") // the rules below compare texts
		return
	}
	if stage, of := strings.CutPrefix(setting, "stages."); of {
		name, _, _ := strings.Cut(stage, ".")
		if ids := p.stages; !slices.Contains(ids, name) {
			p.at(path, fmt.Sprintf("a setting of %q", name), "one of a stage that the spec has: "+strings.Join(ids, ", "),
				schema.DidYouMean(name, ids))
			return
		}
	}
	if shared(setting) {
		p.at(path, "a setting that all runs of an experiment share",
			"one outside of weir, name, experiment and dataset (dataset.domain and dataset.csv may differ)", "")
	}
	for _, other := range before {
		p.once(path, setting, other)
	}
}

// taken is a setting that something else of the experiment gives.
type taken struct{ setting, by string }

func takenBy(column string, settings []string) []taken {
	list := make([]taken, len(settings))
	for i, s := range settings {
		list[i] = taken{s, column}
	}
	return list
}

func (p *parser) once(path, setting string, other taken) {
	if related(other.setting, setting) {
		p.at(path, fmt.Sprintf("set by %s too, as %s", other.by, other.setting), "a setting that is given once", "")
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
