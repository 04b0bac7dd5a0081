package main

import (
	"slices"

	"weir/pipeline/domain"
)

// measuring lists, by kind, how settings of a marginal model are drawn.
func measuring() map[string]func(g *generator, t ref) settings {
	return map[string]func(g *generator, t ref) settings{"marginal_tree": marginalTree, "independent": independent,
		"auto": auto,
		"mst":  spanningTree, "aim": inRounds, "privbayes": network}
}

// boundedNumbers makes a table fit for marginals: no text, no privacy unit, and numbers with bounds.
func (g *generator) boundedNumbers() {
	unbounded := func(c domain.Column) bool { return isText(c) || g.isUnit(c) || isNumber(c) && c.Bounds == nil }
	for range 9 { // each column of its own, like texts
		t := g.last
		if t.name == "" {
			t = g.dataset()
		}
		list := where(t, unbounded)
		if len(list) == 0 {
			return
		}
		if _, ok := g.step("drop", func(*generator, ref) settings {
			return settings{"columns": []string{list[0].Name}}
		}); !ok {
			return
		}
	}
}

func marginalTree(g *generator, t ref) settings {
	s := aimed(g, t)
	if g.yes(0.4) {
		s["select"] = pick(g.chance, 0.02, 0.15)
	}
	return s
}

func spanningTree(g *generator, t ref) settings {
	s := aimed(g, t)
	if g.yes(0.4) {
		s["select"] = pick(g.chance, 0.05, 0.9)
	}
	return s
}

// inRounds has few sets of columns: each round looks at all of them.
func inRounds(g *generator, t ref) settings {
	s := spanningTree(g, t)
	s["selection"] = pick(g.chance, "exponential", "gaussian")
	if names := t.header.Domain.Names(); len(names) > 4 {
		s["workload"] = []settings{{"columns": names[:3]}, {"columns": names[len(names)-2:], "weight": 2}}
	}
	return s
}

func network(g *generator, t ref) settings {
	s := numbersCut(g, t)
	s["one_way"], s["max_model_size"], s["score"] = pick(g.chance, 0.05, 0.5), pick(g.chance, 1, 40),
		pick(g.chance, "released", "published")
	if g.yes(0.4) {
		s["network"], s["usefulness"] = pick(g.chance, 0.1, 0.6), pick(g.chance, 0.01, 4, 30)
	}
	return s
}

// aimed draws what the kinds that choose marginals have in common.
func aimed(g *generator, t ref) settings {
	s := numbersCut(g, t)
	s["one_way"], s["max_model_size"] = pick(g.chance, 0.1, 0.35, 0.8), pick(g.chance, 1, 40)
	if g.yes(0.5) {
		s["target"], s["target_weight"] = g.column(t).Name, pick(g.chance, 0.5, 2, 8)
	}
	if names := t.header.Domain.Names(); g.yes(0.3) && len(names) > 1 {
		s["workload"] = []settings{{"columns": names[:2], "weight": pick(g.chance, 0.5, 3)},
			{"columns": names[max(0, len(names)-3):]}}
	}
	return s
}

// auto states few rows or many, so that it takes either kind.
func auto(g *generator, t ref) settings {
	s := marginalTree(g, t)
	delete(s, "one_way")
	delete(s, "select")
	if g.yes(0.5) {
		s["rows"] = pick(g.chance, 1, 10, 100000)
	}
	return s
}

func independent(g *generator, t ref) settings { return numbersCut(g, t) }

// numbersCut draws bins, edges and noise: little of it, so that pairs are measured.
func numbersCut(g *generator, t ref) settings {
	s := settings{}
	if g.yes(0.3) {
		s["bins"] = g.within(2, 12)
	}
	if numbers := where(t, isBounded); g.yes(0.4) && len(numbers) > 0 {
		c := pick(g.chance, numbers...)
		edges := []float64{c.Bounds[0], (c.Bounds[0] + c.Bounds[1]) / 2, c.Bounds[1]}
		s["edges"] = settings{c.Name: slices.Compact(edges)}
	}
	if g.yes(0.7) {
		s["noise_multiplier"] = g.logBetween(0.01, 50)
	}
	return s
}

// categorical returns how sample chooses a category; models of marginals take one way.
func (g *generator) categorical(measured bool) string {
	if measured {
		return "sample"
	}
	return pick(g.chance, "sample", "argmax")
}

// addModel adds stages that read a released model of marginals, or what was drawn from it.
func (g *generator) addModel(model, rows string) {
	if g.yes(0.3) {
		if again, ok := g.try(settings{"kind": "marginals_from", "model": model, "max_model_size": pick(g.chance, 1,
			40)}); ok {
			g.try(settings{"kind": "sample", "from": again, "rows": g.IntN(30), "copies": g.within(2, 3)})
		}
	}
	if g.yes(0.3) {
		s := settings{"kind": "intervals", "from": model, "copies": g.within(2, 4)}
		if g.yes(0.5) {
			s["marginals"] = [][]string{names(some(g.chance, g.plan.Step(model).Work.Out["model"].Domain.Columns, 1))}
		}
		g.try(s)
	}
	if g.yes(0.3) {
		g.try(settings{"kind": "measured", "from": model, "listed": g.IntN(9)})
	}
	if g.yes(0.5) {
		from := pick(g.chance, rows, g.last.name, g.dataset().name)
		g.try(settings{"kind": "score", "from": from, "model": model, "as": pick(g.chance, "score", "likelihood")})
	}
}

// findingBounds pays for the bounds of some numbers, of all by default.
func findingBounds(g *generator, t ref) settings {
	s := settings{"low_exponent": pick(g.chance, -10, 0, 3), "high_exponent": pick(g.chance, 4, 10, 20),
		"failure": pick(g.chance, 0.001, 0.5, 0.9), "noise_multiplier": g.logBetween(0.3, 30)}
	open := where(t, func(c domain.Column) bool { return isNumber(c) && c.Bounds == nil })
	if len(open) > 0 && g.yes(0.4) {
		s["columns"] = names(some(g.chance, open, 1))
	}
	return s
}

// findingCategories pays for the categories of some columns of text. Much delta lets values
// of few rows pass, so that neighbours differ in them.
func findingCategories(g *generator, t ref) settings {
	s := settings{"other": pick(g.chance, "other", "plain"), "noise_multiplier": g.logBetween(0.3, 30)}
	if g.yes(0.5) {
		s["delta"] = pick(g.chance, 1e-6, 9e-6)
	}
	if texts := where(t, isText); len(texts) > 0 && g.yes(0.4) {
		s["columns"] = names(some(g.chance, texts, 1))
	}
	return s
}

// countingRows pays for the number of rows.
func countingRows(g *generator, _ ref) settings {
	return settings{"noise_multiplier": g.logBetween(0.3, 30)}
}

// screening trains a detector of anomalies for a few steps, on a sample as dpWGAN draws it.
func screening(g *generator, _ ref) settings {
	s := g.sampling()
	s["optimiser"], s["learning_rate"] = pick(g.chance, "adam", "sgd"), pick(g.chance, 0.001, 0.1)
	s["average"], s["checkpoint_every"] = pick(g.chance, 0, 0.5), g.within(1, 5)
	return s
}

// foresting counts in a few small trees.
func foresting(g *generator, _ ref) settings {
	s := settings{"trees": g.within(1, 4), "depth": g.within(1, 5)}
	g.noise(s)
	return s
}

// watch leads the table that encode is going to read to what scores its rows, for a model that
// leaves anomalies out of its batches.
func (g *generator) watch() {
	if g.yes(0.5) {
		g.finds, _ = g.step("anomaly_forest", foresting)
	} else {
		g.finds, _ = g.step("anomaly_detector", screening)
	}
}

// screen leads a table to a detector, or a model that tells how probable a row is, and takes out
// of it the rows with the highest scores. It reports whether it did.
func (g *generator) screen() bool {
	g.boundedNumbers()
	kind := pick(g.chance, "anomaly_detector", "anomaly_forest", "independent", "mst", "mixture")
	set := map[string]func(*generator, ref) settings{"anomaly_detector": screening, "anomaly_forest": foresting,
		"independent": independent, "mst": spanningTree, "mixture": mixing}[kind]
	detector, ok := g.step(kind, set)
	if !ok {
		return false
	}
	_, ok = g.step("remove_anomalies", func(g *generator, _ ref) settings {
		s := settings{"placement": "pre", "detector": detector}
		if g.paired {
			s["remove"] = g.within(1, 3) // so that rows are left, and noise decides which
		} else if g.yes(0.6) {
			s["remove"] = g.within(1, 20)
		} else {
			s["above"] = g.logBetween(0.01, 20)
		}
		return s
	})
	return ok
}
