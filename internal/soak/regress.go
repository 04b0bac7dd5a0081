package main

import "weir/pipeline/domain"

// logistic explains a column of two categories; where there is none the stage is refused.
func logistic(g *generator, t ref) settings {
	return g.regression(t, func(c domain.Column) bool { return !c.Nullable && len(c.Categories) == 2 })
}

// poisson explains that, or a whole number, often with a number as exposure.
func poisson(g *generator, t ref) settings {
	s := g.regression(t, func(c domain.Column) bool {
		return !c.Nullable && (len(c.Categories) == 2 || c.Type == domain.Integer && isBounded(c))
	})
	if list := where(t, func(c domain.Column) bool { return isBounded(c) && c.Bounds[0] > 0 }); g.yes(0.6) && len(list) > 0 {
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
	for _, c := range where(t, func(c domain.Column) bool { return !c.Nullable && (isBounded(c) || len(c.Categories) > 0) }) {
		if c.Name != target && g.yes(0.8) {
			names = append(names, c.Name)
		}
	}
	s["target"], s["columns"], s["steps"] = target, names, g.between(1, 5)
	return g.several(s)
}
