package main

// screening trains a detector of anomalies for a few steps, on a sample as dpWGAN draws it.
func screening(g *generator, _ ref) settings {
	s := g.sampling()
	s["optimiser"], s["learning_rate"] = pick(g.chance, "adam", "sgd"), pick(g.chance, 0.001, 0.1)
	s["average"], s["checkpoint_every"] = pick(g.chance, 0, 0.5), g.between(1, 5)
	return s
}

// foresting counts in a few small trees.
func foresting(g *generator, _ ref) settings {
	s := settings{"trees": g.between(1, 4), "depth": g.between(1, 5)}
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
	g.plain()
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
			s["remove"] = g.between(1, 3) // so that rows are left, and noise decides which
		} else if g.yes(0.6) {
			s["remove"] = g.between(1, 20)
		} else {
			s["above"] = g.logBetween(0.01, 20)
		}
		return s
	})
	return ok
}
