package main

import (
	"maps"
	"slices"

	"weir/pipeline/domain"
)

// answering lists, by kind, how settings of a stage that answers questions are drawn.
func answering() map[string]func(g *generator, t ref) settings {
	return map[string]func(g *generator, t ref) settings{"dp_covariance": covariance, "dp_query": query,
		"dp_logistic_regression": logistic, "dp_poisson_regression": poisson}
}

// answer leads a table to answers.
func (g *generator) answer() {
	g.boundedNumbers()
	kind := pick(g.chance, slices.Sorted(maps.Keys(answering()))...)
	if answers, ok := g.step(kind, answering()[kind]); ok && g.yes(0.7) {
		tables := g.tables()
		g.try(settings{"kind": "compare_queries", "real": pick(g.chance, tables...).name, "synthetic": pick(g.chance,
			tables...).name, "answers": []string{answers}})
	}
}

// query asks what the columns of a table can be asked.
func query(g *generator, t ref) settings {
	var list []settings
	for i := range g.within(1, 5) {
		c := g.column(t)
		q := settings{"name": string(rune('a' + i)), "ask": "histogram", "column": c.Name}
		switch {
		case g.yes(0.2) && c.Type.Coded():
			q = settings{"name": q["name"], "ask": "count"}
		case isBounded(c) && g.yes(0.4):
			q["ask"] = "mean"
		case isBounded(c) && g.yes(0.6):
			q["ask"], q["quantile"] = "quantile", pick(g.chance, 0.1, 0.5, 0.99)
		case isBounded(c):
			q["edges"] = []float64{c.Bounds[0], c.Bounds[0] + 1, c.Bounds[1] + 2}
		}
		if c.Type.Coded() && (q["ask"] == "count" || g.yes(0.3)) {
			q["where"] = []settings{{"column": c.Name, "in": some(g.chance, c.Categories, 1)}}
		}
		list = append(list, q)
	}
	return g.several(settings{"questions": list})
}

// covariance takes every column that has one; where there are fewer than two the stage is
// refused.
func covariance(g *generator, t ref) settings {
	var names []string
	for _, c := range where(t, func(c domain.Column) bool {
		return !c.Nullable &&
			(isBounded(c) || len(c.Categories) == 2)
	}) {
		names = append(names, c.Name)
	}
	return g.several(settings{"columns": names})
}

// several draws what stages that answer questions have in common.
func (g *generator) several(s settings) settings {
	if g.yes(0.4) {
		s["queries"] = g.within(1, 30)
	}
	if g.yes(0.7) {
		s["noise_multiplier"] = g.logBetween(0.01, 50)
	}
	return s
}

// logistic explains a column of two categories; where there is none the stage is refused.
func logistic(g *generator, t ref) settings {
	return g.regression(t, func(c domain.Column) bool { return !c.Nullable && len(c.Categories) == 2 })
}

// poisson explains that, or a whole number, often with a number as exposure.
func poisson(g *generator, t ref) settings {
	s := g.regression(t, func(c domain.Column) bool {
		return !c.Nullable && (len(c.Categories) == 2 || c.Type == domain.Integer && isBounded(c))
	})
	if list := where(t, func(c domain.Column) bool { return isBounded(c) && c.Bounds[0] > 0 }); g.yes(0.6) &&
		len(list) > 0 {
		s["offset"] = pick(g.chance, list...).Name
	}
	if g.yes(0.5) {
		s["most_expected"] = g.logBetween(0.01, 100)
	}
	return s
}

func (g *generator) regression(t ref, explained func(domain.Column) bool) settings {
	s := settings{"target": "none", "columns": []string{"none"}}
	targets := where(t, explained)
	if len(targets) == 0 {
		return s
	}
	target := pick(g.chance, targets...).Name
	var names []string
	for _, c := range where(t, func(c domain.Column) bool {
		return !c.Nullable &&
			(isBounded(c) || len(c.Categories) > 0)
	}) {
		if c.Name != target && g.yes(0.8) {
			names = append(names, c.Name)
		}
	}
	s["target"], s["columns"], s["steps"] = target, names, g.within(1, 5)
	return g.several(s)
}
