package main

import (
	"maps"
	"slices"

	"weir/pipeline"
)

// answering lists, by kind, how settings of a stage that answers questions are drawn.
func answering() map[string]func(g *generator, t ref) settings {
	return map[string]func(g *generator, t ref) settings{"dp_covariance": covariance, "dp_logistic_regression": logistic, "dp_poisson_regression": poisson}
}

// answer leads a table to answers.
func (g *generator) answer() {
	g.plain()
	kind := pick(g.chance, slices.Sorted(maps.Keys(answering()))...)
	g.step(kind, answering()[kind])
}

// covariance takes every column that has one; where there are fewer than two the stage is
// refused.
func covariance(g *generator, t ref) settings {
	var names []string
	for _, c := range where(t, func(c pipeline.Column) bool { return !c.Nullable && (isBounded(c) || len(c.Categories) == 2) }) {
		names = append(names, c.Name)
	}
	return g.several(settings{"columns": names})
}

// several draws what stages that answer questions have in common.
func (g *generator) several(s settings) settings {
	if g.yes(0.4) {
		s["queries"] = g.between(1, 30)
	}
	if g.yes(0.7) {
		s["noise_multiplier"] = g.logBetween(0.01, 50)
	}
	return s
}
