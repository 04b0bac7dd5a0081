package main

import (
	"maps"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline/domain"
)

// pay leads a table to a model, and rows from it.
func (g *generator) pay() {
	extra, planted := g.plantedPayer()
	if !planted && !g.brief && g.yes(0.1) {
		g.screen()
	}
	if !planted && g.yes(0.15) {
		g.answer()
		return
	}
	measured := !planted && g.yes(0.35)
	gs := !planted && !measured && g.yes(0.45)
	mixed := !planted && !measured && !gs && g.yes(0.25)
	if gs {
		g.step("shard", sharding)
	}
	if measured || mixed {
		g.plain()
	} else if !planted {
		g.ready()
	}
	model, ok := "", false
	switch {
	case planted:
		model, ok = g.step(extra.kind.Name, extra.set)
	case measured:
		kind := pick(g.chance, slices.Sorted(maps.Keys(measuring()))...)
		model, ok = g.step(kind, measuring()[kind])
	case gs:
		kind, set := "gs_wgan", gsWGAN
		if !g.brief && g.yes(0.4) {
			kind, set = "pate_gan", pateGAN
		}
		model, ok = g.train(kind, set)
	case mixed:
		model, ok = g.step("mixture", mixing)
	default:
		kinds := sampling()
		if !g.brief && g.yes(0.3) {
			kinds = byLabel()
		}
		kind := pick(g.chance, slices.Sorted(maps.Keys(kinds))...)
		model, ok = g.train(kind, kinds[kind])
	}
	if ok && !planted {
		rows, drawn := g.try(settings{"kind": "sample", "from": model, "rows": g.IntN(30), "categorical": g.categorical(measured || mixed)})
		if measured && drawn {
			g.made(model, rows)
		}
	}
}

func (g *generator) plantedPayer() (extra, bool) {
	for _, e := range g.extras {
		if e.pays && g.yes(0.8) {
			return e, true
		}
	}
	return extra{}, false
}

// step adds a stage of a kind to the last table.
func (g *generator) step(kind string, set func(*generator, ref) settings) (string, bool) {
	t := g.last
	if t.name == "" {
		t = g.dataset()
	}
	s := set(g, t)
	s["kind"], s["from"] = kind, t.name
	return g.try(s)
}

// train is step with a kind that learns in batches, which may leave anomalies out of them.
func (g *generator) train(kind string, set func(*generator, ref) settings) (string, bool) {
	if g.finds != "" {
		id, ok := g.step(kind, func(g *generator, t ref) settings {
			s := set(g, t)
			s["detector"], s["remove_anomalies"] = g.finds, g.between(1, 2)
			return s
		})
		if ok {
			return id, true
		}
	}
	return g.step(kind, set)
}

// ready makes a table fit for a model: no text, no privacy unit, nothing missing, all encoded.
func (g *generator) ready() {
	for range 9 { // each of its own: one of them may be needed by a shard
		if !g.dropUseless() {
			break
		}
	}
	if g.yes(0.3) { // of one number the gradients of two critics can be opposite, which is as far as they can be apart
		g.step("select", func(g *generator, t ref) settings {
			return settings{"columns": []string{g.column(t).Name}}
		})
	}
	g.step("bounds", bounding)
	if t := g.last; t.name != "" && sharded(t) && g.yes(0.6) {
		g.step("impute_knn", fillingKNN)
	}
	if t := g.last; t.name != "" && len(where(t, isAbsent)) > 0 {
		g.step("impute_constant", func(g *generator, t ref) settings { return g.fill(where(t, isAbsent)) })
	}
	if g.yes(0.3) {
		g.step("discretize", binning)
	}
	if !g.brief && g.yes(0.5) {
		g.watch()
	}
	g.step("encode", encoding)
}

// dropUseless leaves out a column of which no model is made.
func (g *generator) dropUseless() bool {
	t := g.last
	if t.name == "" {
		t = g.dataset()
	}
	list := where(t, func(c domain.Column) bool { return isText(c) || g.isUnit(c) })
	if len(list) == 0 {
		return false
	}
	_, ok := g.step("drop", func(*generator, ref) settings { return settings{"columns": []string{list[0].Name}} })
	return ok
}

// logBetween is a positive number of any size in a range.
func (g *generator) logBetween(least, most float64) float64 {
	x := bitmath.Exp(bitmath.Log(least) + float64(g.Float64()*bitmath.Log(most/least)))
	return math.Round(x*1e6) / 1e6
}

func (g *generator) layers() []int {
	list := []int{g.between(1, 6)}
	if g.yes(0.3) {
		list = append(list, g.between(1, 4))
	}
	return list
}

// sampling lists the kinds of DP-SGD on rows.
func sampling() map[string]func(*generator, ref) settings {
	return map[string]func(*generator, ref) settings{"dp_wgan": dpWGAN, "dp_vae": dpVAE, "dp_syn": dpSYN, "dp_auto_gan": dpAutoGAN}
}

// dpWGAN trains for a few steps.
func dpWGAN(g *generator, _ ref) settings {
	s := g.sampling()
	for name, value := range (settings{"critic_steps": g.between(1, 3), "generator_steps": g.between(1, 2), "optimiser": pick(g.chance, "rmsprop", "adam"),
		"average": pick(g.chance, 0, 0.5), "weight_clip": pick(g.chance, 0.05, 1, 10), "generated_batch": g.between(1, 8), "latent_dim": g.between(1, 4),
		"generator": g.layers(), "critic": g.layers(), "checkpoint_every": g.between(1, 5)}) {
		s[name] = value
	}
	if g.yes(0.3) {
		s["clip"] = "tensor"
	}
	if g.yes(0.2) {
		s["style"] = "uclanesl"
	}
	return s
}

// sampling is how a few steps of DP-SGD draw their rows. Every third samples each row at
// each step, so that inputs can be measured whatever place the changed rows have.
func (g *generator) sampling() settings {
	s := settings{"steps": g.between(1, 6), "expected_batch_size": max(g.world.rowsPublic, g.between(1, 60)), "max_grad_norm": g.logBetween(1e-3, 3)}
	switch {
	case g.yes(0.35):
		s["sampling_rate"] = 1
	case g.world.rowsPublic > 0 && g.yes(0.4):
		s["expected_batch_size"] = g.between(1, g.world.rowsPublic)
	default:
		s["sampling_rate"] = g.logBetween(0.05, 1)
	}
	g.noise(s)
	return s
}

func (g *generator) noise(s settings) {
	if g.yes(0.7) {
		s["noise_multiplier"] = g.logBetween(0.7, 50)
	}
}

func gsWGAN(g *generator, _ ref) settings {
	s := settings{"steps": g.between(1, 5), "batch_size": g.between(1, 6), "query": pick(g.chance, "sample", "mean"),
		"max_grad_norm": g.logBetween(1e-3, 3), "warm_steps": pick(g.chance, 0, 3, 20), "critic_steps": g.between(1, 2), "scheduled": g.between(0, 2),
		"penalty": pick(g.chance, 0, 1, 10), "average": pick(g.chance, 0, 0.5), "latent_dim": g.between(1, 4),
		"generator": g.layers(), "critic": g.layers(), "checkpoint_every": g.between(1, 5), "learning_rate": pick(g.chance, 0.001, 0.05, 0.5)}
	if g.yes(0.4) { // fast critics under a narrow clip come to differ by all that it allows
		s["learning_rate"], s["penalty"], s["warm_steps"], s["max_grad_norm"], s["batch_size"], s["steps"] = 0.5, 0, 10, 0.001, g.between(1, 2), 8
	} else if s["query"] == "mean" && s["batch_size"] != 1 {
		s["critic_norm"] = pick(g.chance, "none", "batch")
	}
	g.noise(s)
	return s
}

// pateGAN takes a few votes.
func pateGAN(g *generator, _ ref) settings {
	s := settings{"steps": g.between(1, 4), "batch_size": g.between(1, 8), "noise": pick(g.chance, "gaussian", "laplace"),
		"teacher_features": pick(g.chance, "columns", "pairs"), "teacher_votes": pick(g.chance, "real", "half"),
		"student_learns": pick(g.chance, "share", "majority"), "student_loss": pick(g.chance, "cross_entropy", "wasserstein"),
		"student_norm": pick(g.chance, "none", "batch"), "optimiser": pick(g.chance, "adam", "rmsprop"), "weight_clip": pick(g.chance, 0, 0.01, 1),
		"average": pick(g.chance, 0, 0.5), "latent_dim": g.between(1, 4), "generator": g.layers(), "student": g.layers(), "checkpoint_every": g.between(1, 5)}
	if g.yes(0.3) {
		s["logistic"] = settings{"steps": g.between(1, 5), "rate": pick(g.chance, 0.01, 1), "penalty": pick(g.chance, 0, 1)}
	}
	g.noise(s)
	return s
}
