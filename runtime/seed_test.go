package runtime

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
)

// TestPublicSeeds: the first repeat has the spec's own seed; others have their own, which fit
// into a double, and no other seed's repeat shares them.
func TestPublicSeeds(t *testing.T) {
	if PublicSeed(7, 0) != 7 {
		t.Error("the first repeat has another seed")
	}
	seen := map[uint64]bool{}
	for _, seed := range []uint64{0, 7, 8, 1 << 60} {
		for repeat := 1; repeat < 100; repeat++ {
			s := PublicSeed(seed, repeat)
			if seen[s] || s >= 1<<53 || s != PublicSeed(seed, repeat) {
				t.Errorf("seed %d, repeat %d: %d", seed, repeat, s)
			}
			seen[s] = true
		}
	}
}

// TestRepeatsShareWhatLiesBeforeNoise: their public randomness differs from the noisy stage on.
func TestRepeatsShareWhatLiesBeforeNoise(t *testing.T) {
	plan := planOf("split", "real", "train", "sample", "utility")
	reads := map[string][]string{"split": {"dataset"}, "real": {"split"}, "train": {"split"}, "sample": {"train"},
		"utility": {"real", "sample"}}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		s.Inputs = map[string][]pipeline.Ref{}
		for _, of := range reads[s.ID] {
			s.Inputs[of] = []pipeline.Ref{{Stage: of}}
		}
		if s.ID == "train" {
			s.Work.Spends = []pipeline.Spend{{Name: "noise"}}
		}
	}
	plan.Plan = &pipeline.Plan{Seed: 7}
	seed := seedsOf(plan, 2)
	later := func(s *compile.Step) bool { return seed(s) == PublicSeed(7, 2) }
	for i := range plan.Steps {
		s := &plan.Steps[i]
		if want := s.ID == "train" || s.ID == "sample" || s.ID == "utility"; later(s) != want || !want && seed(s) != 7 {
			t.Errorf("%s has seed %d", s.ID, seed(s))
		}
	}
}

// TestPublicRandIsAFunctionOfItsNames and of nothing else.
func TestPublicRandIsAFunctionOfItsNames(t *testing.T) {
	a := PublicRand(1, "train", "weights").Uint64()
	if a != PublicRand(1, "train", "weights").Uint64() {
		t.Error("the same names give other numbers")
	}
	for _, b := range []uint64{PublicRand(2, "train", "weights").Uint64(), PublicRand(1, "trai", "nweights").Uint64(),
		PublicRand(1, "train", "latent").Uint64()} {
		if a == b {
			t.Error("other names give the same numbers")
		}
	}
}
