package runtime

import (
	"testing"

	"weir/pipeline"
	"weir/privacy/noise"
	"weir/runtime/book"
	"weir/runtime/files"
)

// namesOf gives the names of secrets in a run whose key and reuse are given: of a split of the source, of
// one that lends the header of a detector, and of one behind what the detector kept.
func namesOf(t *testing.T, recipe string, key byte, earlier *book.Earlier) map[string]string {
	t.Helper()
	plan := shape("early lazy: dataset", "detect full: early", "kept lazy: early detect", "late lazy: kept", "lent lazy: early ~detect")
	plan.Step("detect").Spends = []pipeline.Planned{{}}
	r := runOf(plan, &opened{}, &files.Held{}, Options{})
	r.key, r.recipes = noise.Key{key}, map[string]string{}
	for _, s := range plan.Steps {
		r.recipes[s.ID] = s.ID + " " + recipe
	}
	if earlier != nil {
		r.earlier["detect"] = earlier
	}
	names := map[string]string{}
	for _, id := range []string{"early", "late", "lent"} {
		names[id] = r.secretName(plan.Step(id))
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
		"the run again":            {namesOf(t, "v1", 1, nil), map[string]bool{"early": true, "late": true, "lent": true}},
		"noise drawn anew":         {namesOf(t, "v1", 2, nil), map[string]bool{"early": true}},
		"noise of the first again": {namesOf(t, "v1", 2, &book.Earlier{Run: "first", Commitment: paid.Commitment()}), map[string]bool{"early": true, "late": true, "lent": true}},
		"another version":          {namesOf(t, "v2", 1, nil), map[string]bool{}},
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
