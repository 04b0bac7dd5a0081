package runtime

import (
	"crypto/sha256"
	"encoding/binary"

	"weir/pipeline/compile"
)

// PublicSeed is the seed of public randomness in a repeat of an experiment: the spec's own in
// the first, in later ones 53 bits (which every reader of JSON holds) that follow from it. Runs
// of one repeat share it whatever else they differ in, so that their figures can be paired.
func PublicSeed(seed uint64, repeat int) uint64 {
	if repeat == 0 {
		return seed
	}
	b := binary.LittleEndian.AppendUint64([]byte("weir repeat\x00"), seed)
	digest := sha256.Sum256(binary.LittleEndian.AppendUint64(b, uint64(repeat)))
	return binary.LittleEndian.Uint64(digest[:]) >> 11
}

// repeated names the stages that a repeat does again: those that draw noise, and all that
// read what comes of it. What lies before them, a split of the rows too, is the same in all
// repeats, so that one cached output serves all.
func repeated(plan *compile.Plan) map[string]bool {
	again := map[string]bool{}
	for i := range plan.Steps { // a stage stands behind those it reads
		step := &plan.Steps[i]
		again[step.ID] = len(step.Work.Spends) > 0
		for _, refs := range step.Inputs {
			for _, ref := range refs {
				again[step.ID] = again[step.ID] || again[ref.Stage]
			}
		}
	}
	return again
}

// seedsOf gives the seed of each step's public randomness in a repeat.
func seedsOf(plan *compile.Plan, repeat int) func(*compile.Step) uint64 {
	again := repeated(plan)
	return func(step *compile.Step) uint64 {
		if !again[step.ID] {
			return plan.Seed
		}
		return PublicSeed(plan.Seed, repeat)
	}
}
