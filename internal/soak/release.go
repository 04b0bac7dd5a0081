package main

import "weir/pipeline/domain"

// findingBounds pays for the bounds of some numbers, of all by default.
func findingBounds(g *generator, t ref) settings {
	s := settings{"low_exponent": pick(g.chance, -10, 0, 3), "high_exponent": pick(g.chance, 4, 10, 20), "failure": pick(g.chance, 0.001, 0.5, 0.9), "noise_multiplier": g.logBetween(0.3, 30)}
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
