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
		g.boundedNumbers()
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
		rows, drawn := g.try(settings{"kind": "sample", "from": model, "rows": g.IntN(30),
			"categorical": g.categorical(measured || mixed)})
		if measured && drawn {
			g.addModel(model, rows)
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

// train returns step with a kind that learns in batches, which may leave anomalies out of them.
func (g *generator) train(kind string, set func(*generator, ref) settings) (string, bool) {
	if g.finds != "" {
		id, ok := g.step(kind, func(g *generator, t ref) settings {
			s := set(g, t)
			s["detector"], s["remove_anomalies"] = g.finds, g.within(1, 2)
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

// logBetween returns a positive number of any size in a range.
func (g *generator) logBetween(least, most float64) float64 {
	x := bitmath.Exp(bitmath.Log(least) + float64(g.Float64()*bitmath.Log(most/least)))
	return math.Round(x*1e6) / 1e6
}

func (g *generator) layers() []int {
	list := []int{g.within(1, 6)}
	if g.yes(0.3) {
		list = append(list, g.within(1, 4))
	}
	return list
}

// sampling lists the kinds of DP-SGD on rows.
func sampling() map[string]func(*generator, ref) settings {
	return map[string]func(*generator, ref) settings{"dp_wgan": dpWGAN, "dp_vae": dpVAE, "dp_syn": dpSYN,
		"dp_auto_gan": dpAutoGAN}
}

// dpWGAN trains for a few steps.
func dpWGAN(g *generator, _ ref) settings {
	s := g.sampling()
	for name, value := range (settings{"critic_steps": g.within(1, 3), "generator_steps": g.within(1, 2),
		"optimiser": pick(g.chance, "rmsprop", "adam"),
		"average":   pick(g.chance, 0, 0.5), "weight_clip": pick(g.chance, 0.05, 1, 10), "generated_batch": g.within(1, 8),
		"latent_dim": g.within(1, 4),
		"generator":  g.layers(), "critic": g.layers(), "checkpoint_every": g.within(1, 5)}) {
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

// sampling returns how a few steps of DP-SGD draw their rows. Every third samples each row at
// each step, so that inputs can be measured whatever place the changed rows have.
func (g *generator) sampling() settings {
	s := settings{"steps": g.within(1, 6), "expected_batch_size": max(g.world.rowsPublic, g.within(1, 60)),
		"max_grad_norm": g.logBetween(1e-3, 3)}
	switch {
	case g.yes(0.35):
		s["sampling_rate"] = 1
	case g.world.rowsPublic > 0 && g.yes(0.4):
		s["expected_batch_size"] = g.within(1, g.world.rowsPublic)
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
	s := settings{"steps": g.within(1, 5), "batch_size": g.within(1, 6), "query": pick(g.chance, "sample", "mean"),
		"max_grad_norm": g.logBetween(1e-3, 3), "warm_steps": pick(g.chance, 0, 3, 20), "critic_steps": g.within(1, 2),
		"scheduled": g.within(0, 2),
		"penalty":   pick(g.chance, 0, 1, 10), "average": pick(g.chance, 0, 0.5), "latent_dim": g.within(1, 4),
		"generator": g.layers(), "critic": g.layers(), "checkpoint_every": g.within(1, 5), "learning_rate": pick(g.chance,
			0.001, 0.05, 0.5)}
	if g.yes(0.4) { // fast critics under a narrow clip come to differ by all that it allows
		s["learning_rate"], s["penalty"], s["warm_steps"], s["max_grad_norm"], s["batch_size"], s["steps"] = 0.5, 0, 10,
			0.001, g.within(1, 2), 8
	} else if s["query"] == "mean" && s["batch_size"] != 1 {
		s["critic_norm"] = pick(g.chance, "none", "batch")
	}
	g.noise(s)
	return s
}

// pateGAN takes a few votes.
func pateGAN(g *generator, _ ref) settings {
	s := settings{"steps": g.within(1, 4), "batch_size": g.within(1, 8), "noise": pick(g.chance, "gaussian", "laplace"),
		"teacher_features": pick(g.chance, "columns", "pairs"), "teacher_votes": pick(g.chance, "real", "half"),
		"student_learns": pick(g.chance, "share", "majority"), "student_loss": pick(g.chance, "cross_entropy", "wasserstein"),
		"student_norm": pick(g.chance, "none", "batch"), "optimiser": pick(g.chance, "adam", "rmsprop"),
		"weight_clip": pick(g.chance, 0, 0.01, 1),
		"average":     pick(g.chance, 0, 0.5), "latent_dim": g.within(1, 4), "generator": g.layers(), "student": g.layers(),
		"checkpoint_every": g.within(1, 5)}
	if g.yes(0.3) {
		s["logistic"] = settings{"steps": g.within(1, 5), "rate": pick(g.chance, 0.01, 1), "penalty": pick(g.chance, 0, 1)}
	}
	g.noise(s)
	return s
}

// byLabel lists the kinds with a GAN for each label.
func byLabel() map[string]func(*generator, ref) settings {
	return map[string]func(*generator, ref) settings{"dp_gan": dpGAN, "rdp_cgan": rdpCGAN}
}

// dpGAN trains for a few steps, on samples as dpWGAN draws them. Public labels are left out:
// nothing is proven of them.
func dpGAN(g *generator, t ref) settings {
	s := g.sampling()
	for name, value := range (settings{"label": g.label(t), "labels": pick(g.chance, "private", "equal"),
		"label_share": pick(g.chance, 0.01, 0.5),
		"loss":        pick(g.chance, "cross_entropy", "wasserstein"), "critic_steps": g.within(1, 3),
		"generator_steps": g.within(1, 2),
		"optimiser":       pick(g.chance, "rmsprop", "adam"), "average": pick(g.chance, 0, 0.5), "weight_clip": pick(g.chance,
			0.05,
			1, 10),
		"dropout": pick(g.chance, 0, 0.3), "generated_batch": g.within(1, 8), "generator": g.layers(), "critic": g.layers(),
		"checkpoint_every": g.within(1, 5)}) {
		s[name] = value
	}
	if g.yes(0.3) {
		s["generator"] = []int{}
	}
	if g.yes(0.5) {
		s["latent_dim"] = g.within(1, 4)
	}
	return s
}

// dpVAE trains for a few steps, on a sample as dpWGAN draws it.
func dpVAE(g *generator, _ ref) settings {
	s := g.coder()
	s["kl_weight"] = pick(g.chance, 0, 0.1, 1)
	return s
}

// dpSYN has a column for a label.
func dpSYN(g *generator, t ref) settings {
	s := g.coder()
	s["label"] = g.label(t)
	components := g.within(1, 3)
	s["mixture"] = settings{"components": components, "rounds": g.within(2, 4), "max_code_norm": pick(g.chance, 0.5, 2),
		"share": pick(g.chance, 0.1, 0.5)}
	return s
}

// label returns a one-hot column, where there is one.
func (g *generator) label(t ref) string {
	labels := where(t, func(c domain.Column) bool { return c.Encoding != nil && c.Encoding.Form == domain.OneHot })
	if len(labels) > 0 {
		return pick(g.chance, labels...).Name
	}
	return g.column(t).Name
}

// coder draws the settings that both kinds of autoencoder have.
func (g *generator) coder() settings {
	s := g.sampling()
	s["encoder"], s["decoder"], s["latent_dim"] = g.layers(), g.layers(), g.within(1, 4)
	s["activation"] = pick(g.chance, "leaky_relu", "relu", "tanh")
	s["average"], s["learning_rate"], s["checkpoint_every"] = pick(g.chance, 0, 0.5), pick(g.chance, 0.001, 0.1),
		g.within(1, 5)
	return s
}

// twoPhases draws the samples of two phases, as dpWGAN draws them; both have one rate.
func (g *generator) twoPhases() (first, second settings) {
	first, second = g.sampling(), g.sampling()
	second["sampling_rate"], second["expected_batch_size"] = first["sampling_rate"], first["expected_batch_size"]
	if first["sampling_rate"] == nil {
		delete(second, "sampling_rate")
	}
	return first, second
}

// dpAutoGAN trains for a few steps in each phase.
func dpAutoGAN(g *generator, _ ref) settings {
	first, second := g.twoPhases()
	for name, value := range (settings{"hidden": g.layers(), "code": g.within(1, 4), "activation": pick(g.chance,
		"leaky_relu", "relu", "tanh"),
		"heads": "columns", "loss": pick(g.chance, "mean", "sum"), "average": pick(g.chance, 0, 0.5)}) {
		first[name] = value
	}
	for name, value := range (settings{"critic_steps": 1, "optimiser": pick(g.chance, "rmsprop", "adam"),
		"norm":     pick(g.chance, "batch_norm", "layer_norm", "none"),
		"residual": g.yes(0.5), "weight_clip": pick(g.chance, 0.05, 1, 10), "average": pick(g.chance, 0, 0.5),
		"generated_batch": g.within(2, 8),
		"latent_dim":      g.within(1, 4), "generator": g.layers(), "critic": g.layers()}) {
		second[name] = value
	}
	return settings{"autoencoder": first, "gan": second, "checkpoint_every": g.within(1, 5)}
}

// rdpCGAN draws a stage as dpAutoGAN does, but of convolutions, a GAN a label.
func rdpCGAN(g *generator, t ref) settings {
	first, second := g.twoPhases()
	for name, value := range (settings{"code": g.within(1, 4), "norm": pick(g.chance, "instance_norm", "layer_norm",
		"none"), "average": pick(g.chance, 0, 0.5),
		"code_activation": pick(g.chance, "leaky_relu", "relu", "tanh"), "loss": pick(g.chance, "likelihood", "squares")}) {
		first[name] = value
	}
	for name, value := range (settings{"critic_steps": 1, "generator_norm": pick(g.chance, "batch_norm", "instance_norm",
		"layer_norm", "none"),
		"critic_norm": pick(g.chance, "instance_norm", "layer_norm", "none"), "weight_clip": pick(g.chance, 0, 0.05, 10),
		"average":         pick(g.chance, 0, 0.5),
		"generated_batch": g.within(2, 8), "latent_dim": g.within(1, 4)}) {
		second[name] = value
	}
	if g.yes(0.5) {
		first["encoder"], second["critic"] = g.convolutions(), g.convolutions()
	}
	if g.yes(0.5) {
		first["decoder"], second["generator"] = g.convolutions(), g.convolutions()
	}
	return settings{"label": g.label(t), "labels": pick(g.chance, "private", "equal"), "autoencoder": first, "gan": second,
		"checkpoint_every": g.within(1, 5)}
}

// convolutions draws a stack of layers, which may be too long for a narrow table.
func (g *generator) convolutions() (list []settings) {
	for range g.within(1, 2) {
		list = append(list, settings{"filters": g.within(1, 3), "kernel": g.within(1, 2), "stride": g.within(1, 2)})
	}
	return list
}

// mixing trains a mixture for a few steps, on samples as dpWGAN draws them: by strata where
// there are categories, of which the first is then fixed in one where it has another column.
func mixing(g *generator, t ref) settings {
	s := g.sampling()
	s["components"], s["checkpoint_every"] = g.within(1, 3), g.within(1, 5)
	s["average"], s["learning_rate"], s["sizes_share"] = pick(g.chance, 0, 0.5), pick(g.chance, 0.001, 0.1),
		pick(g.chance, 0.05, 0.5)
	if numbers := where(t, isNumber); len(numbers) > 0 && g.yes(0.5) {
		s["families"] = settings{pick(g.chance, numbers...).Name: pick(g.chance, "beta", "normal")}
	}
	coded := where(t, func(c domain.Column) bool { return c.Type.Coded() && len(c.Categories) <= 8 })
	if len(coded) > 0 && g.yes(0.6) {
		strata := coded[0]
		s["stratify"] = []string{strata.Name}
		if len(coded) > 1 && len(strata.Categories) > 0 && len(coded[1].Categories) > 0 && g.yes(0.5) {
			s["structural"] = []settings{{"where": settings{strata.Name: strata.Categories[0]},
				"set": settings{coded[1].Name: coded[1].Categories[0]}}}
		}
	}
	return s
}
