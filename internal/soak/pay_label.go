package main

// byLabel lists the kinds with a GAN for each label.
func byLabel() map[string]func(*generator, ref) settings {
	return map[string]func(*generator, ref) settings{"dp_gan": dpGAN, "rdp_cgan": rdpCGAN}
}

// dpGAN trains for a few steps, on samples as dpWGAN draws them. Public labels are left out:
// nothing is proven of them.
func dpGAN(g *generator, t ref) settings {
	s := g.sampling()
	for name, value := range (settings{"label": g.label(t), "labels": pick(g.chance, "private", "equal"), "label_share": pick(g.chance, 0.01, 0.5),
		"loss": pick(g.chance, "cross_entropy", "wasserstein"), "critic_steps": g.between(1, 3), "generator_steps": g.between(1, 2),
		"optimiser": pick(g.chance, "rmsprop", "adam"), "average": pick(g.chance, 0, 0.5), "weight_clip": pick(g.chance, 0.05, 1, 10),
		"dropout": pick(g.chance, 0, 0.3), "generated_batch": g.between(1, 8), "generator": g.layers(), "critic": g.layers(), "checkpoint_every": g.between(1, 5)}) {
		s[name] = value
	}
	if g.yes(0.3) {
		s["generator"] = []int{}
	}
	if g.yes(0.5) {
		s["latent_dim"] = g.between(1, 4)
	}
	return s
}
