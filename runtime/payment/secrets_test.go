package payment

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/noise"
)

// namesOf gives the names of secrets in a run whose key and reuse are given: of a split of the source, of
// one that lends the header of a detector, and of one behind what the detector kept.
func namesOf(t *testing.T, recipe string, key byte, earlier *Earlier) map[string]string {
	t.Helper()
	ports := func(in ...string) map[string][]pipeline.Ref {
		refs := map[string][]pipeline.Ref{}
		for i, stage := range in {
			port := []string{"in", "like"}[i]
			refs[port] = append(refs[port], pipeline.Ref{Stage: stage})
		}
		return refs
	}
	step := func(id string, in ...string) compile.Step {
		return compile.Step{Step: &pipeline.Step{ID: id, Inputs: ports(in...)},
			Ports: []pipeline.Port{{Name: "in"}, {Name: "like", Lends: true}}}
	}
	plan := &compile.Plan{Plan: &pipeline.Plan{}, Steps: []compile.Step{step("early", pipeline.DatasetID),
		step("detect", "early"),
		step("kept", "early", "detect"), step("late", "kept"), step("lent", "early", "detect")}}
	plan.Step("detect").Spends = []pipeline.Planned{{}}
	recipes := map[string]string{}
	for _, s := range plan.Steps {
		recipes[s.ID] = s.ID + " " + recipe
	}
	p := NewPurse(Blank(Dataset{}, Place{}), &Task{Plan: plan, Recipes: recipes}, Attempt{Key: noise.Key{key}})
	if earlier != nil {
		p.earlier["detect"] = earlier
	}
	names := map[string]string{}
	for _, id := range []string{"early", "late", "lent"} {
		names[id] = p.secretName(plan.Step(id))
	}
	return names
}

// TestSecretsFollowTheNoiseBeforeThem: two runs share the secrets of a stage where no noise was drawn
// before it, or where both have the same noise; a run that draws it anew meets other rows and has
// secrets of its own, and so has another recipe.
func TestSecretsFollowTheNoiseBeforeThem(t *testing.T) {
	paid := noise.Key{1}
	first := namesOf(t, "v1", 1, nil)
	for what, c := range map[string]struct {
		again map[string]string
		same  map[string]bool
	}{
		"the run again":    {namesOf(t, "v1", 1, nil), map[string]bool{"early": true, "late": true, "lent": true}},
		"noise drawn anew": {namesOf(t, "v1", 2, nil), map[string]bool{"early": true}},
		"noise of the first again": {namesOf(t, "v1", 2, &Earlier{Run: "first", Commitment: paid.Commitment()}),
			map[string]bool{"early": true, "late": true, "lent": true}},
		"another version": {namesOf(t, "v2", 1, nil), map[string]bool{}},
	} {
		for id, name := range first {
			if (c.again[id] == name) != c.same[id] {
				t.Errorf("%s: the secrets of %s are the same: %t, must be %t", what, id, c.again[id] == name, c.same[id])
			}
		}
	}
	if first["late"] == first["lent"] || first["late"] == first["early"] {
		t.Error("two stages share their secrets")
	}
}
