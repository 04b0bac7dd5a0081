package main

import "weir/pipeline/domain"

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
	components := g.between(1, 3)
	s["mixture"] = settings{"components": components, "rounds": g.between(2, 4), "max_code_norm": pick(g.chance, 0.5, 2), "share": pick(g.chance, 0.1, 0.5)}
	return s
}

// label is a one-hot column, where there is one.
func (g *generator) label(t ref) string {
	labels := where(t, func(c domain.Column) bool { return c.Encoding != nil && c.Encoding.Form == domain.OneHot })
	if len(labels) > 0 {
		return pick(g.chance, labels...).Name
	}
	return g.column(t).Name
}

// coder is what both have.
func (g *generator) coder() settings {
	s := g.sampling()
	s["encoder"], s["decoder"], s["latent_dim"] = g.layers(), g.layers(), g.between(1, 4)
	s["activation"] = pick(g.chance, "leaky_relu", "relu", "tanh")
	s["average"], s["learning_rate"], s["checkpoint_every"] = pick(g.chance, 0, 0.5), pick(g.chance, 0.001, 0.1), g.between(1, 5)
	return s
}

// twoPhases are samples of two phases, as dpWGAN draws them; both have one rate.
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
	for name, value := range (settings{"hidden": g.layers(), "code": g.between(1, 4), "activation": pick(g.chance, "leaky_relu", "relu", "tanh"),
		"heads": "columns", "loss": pick(g.chance, "mean", "sum"), "average": pick(g.chance, 0, 0.5)}) {
		first[name] = value
	}
	for name, value := range (settings{"critic_steps": 1, "optimiser": pick(g.chance, "rmsprop", "adam"), "norm": pick(g.chance, "batch_norm", "layer_norm", "none"),
		"residual": g.yes(0.5), "weight_clip": pick(g.chance, 0.05, 1, 10), "average": pick(g.chance, 0, 0.5), "generated_batch": g.between(2, 8),
		"latent_dim": g.between(1, 4), "generator": g.layers(), "critic": g.layers()}) {
		second[name] = value
	}
	return settings{"autoencoder": first, "gan": second, "checkpoint_every": g.between(1, 5)}
}

// rdpCGAN is dpAutoGAN of convolutions, a GAN a label.
func rdpCGAN(g *generator, t ref) settings {
	first, second := g.twoPhases()
	for name, value := range (settings{"code": g.between(1, 4), "norm": pick(g.chance, "instance_norm", "layer_norm", "none"), "average": pick(g.chance, 0, 0.5),
		"code_activation": pick(g.chance, "leaky_relu", "relu", "tanh"), "loss": pick(g.chance, "likelihood", "squares")}) {
		first[name] = value
	}
	for name, value := range (settings{"critic_steps": 1, "generator_norm": pick(g.chance, "batch_norm", "instance_norm", "layer_norm", "none"),
		"critic_norm": pick(g.chance, "instance_norm", "layer_norm", "none"), "weight_clip": pick(g.chance, 0, 0.05, 10), "average": pick(g.chance, 0, 0.5),
		"generated_batch": g.between(2, 8), "latent_dim": g.between(1, 4)}) {
		second[name] = value
	}
	if g.yes(0.5) {
		first["encoder"], second["critic"] = g.convolutions(), g.convolutions()
	}
	if g.yes(0.5) {
		first["decoder"], second["generator"] = g.convolutions(), g.convolutions()
	}
	return settings{"label": g.label(t), "labels": pick(g.chance, "private", "equal"), "autoencoder": first, "gan": second, "checkpoint_every": g.between(1, 5)}
}

// convolutions are a stack, which may be too long for a narrow table.
func (g *generator) convolutions() (list []settings) {
	for range g.between(1, 2) {
		list = append(list, settings{"filters": g.between(1, 3), "kernel": g.between(1, 2), "stride": g.between(1, 2)})
	}
	return list
}
