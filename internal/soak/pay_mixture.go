package main

import "weir/pipeline/domain"

// mixing trains a mixture for a few steps, on samples as dpWGAN draws them: by strata where
// there are categories, of which the first is then fixed in one where it has another column.
func mixing(g *generator, t ref) settings {
	s := g.sampling()
	s["components"], s["checkpoint_every"] = g.between(1, 3), g.between(1, 5)
	s["average"], s["learning_rate"], s["sizes_share"] = pick(g.chance, 0, 0.5), pick(g.chance, 0.001, 0.1), pick(g.chance, 0.05, 0.5)
	if numbers := where(t, isNumber); len(numbers) > 0 && g.yes(0.5) {
		s["families"] = settings{pick(g.chance, numbers...).Name: pick(g.chance, "beta", "normal")}
	}
	coded := where(t, func(c domain.Column) bool { return c.Type.Coded() && len(c.Categories) <= 8 })
	if len(coded) > 0 && g.yes(0.6) {
		strata := coded[0]
		s["stratify"] = []string{strata.Name}
		if len(coded) > 1 && len(strata.Categories) > 0 && len(coded[1].Categories) > 0 && g.yes(0.5) {
			s["structural"] = []settings{{"where": settings{strata.Name: strata.Categories[0]}, "set": settings{coded[1].Name: coded[1].Categories[0]}}}
		}
	}
	return s
}
