package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"weir/pipeline"
)

// recipe is what determines a stage's output: its digest names the output in
// the cache. Two stages of one recipe give the same bytes.
type recipe struct {
	Kind       string              `json:"kind"`
	Version    int                 `json:"version"`
	Stage      string              `json:"stage"` // public randomness is a function of the stage's name
	Settings   json.RawMessage     `json:"settings"`
	Inputs     map[string][]string `json:"inputs"`
	Seed       uint64              `json:"seed"`
	Key        string              `json:"key,omitempty"` // commitment of the noise key, where the stage draws from it
	Multiplier float64             `json:"multiplier,omitempty"`
	Files      []string            `json:"files,omitempty"` // digests of further files
}

func (r recipe) digest() string {
	data, err := json.Marshal(r)
	if err != nil {
		panic(fmt.Sprintf("recipe: %v", err)) // plain data always marshals
	}
	return sum(data)
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(h[:])
}

// recipeOf is the digest of step's recipe, given those of the stages and files
// that it reads.
func recipeOf(step *pipeline.Step, digests map[string]string, files []string, seed uint64, key string) string {
	r := recipe{Kind: step.Kind, Version: step.Version, Stage: step.ID, Settings: step.Settings, Seed: seed, Files: files, Inputs: map[string][]string{}}
	for port, refs := range step.Inputs {
		for _, ref := range refs {
			r.Inputs[port] = append(r.Inputs[port], digests[ref.Stage]+"#"+ref.Port)
		}
	}
	if step.Outline.Cost != nil || step.Outline.Secret {
		r.Key = key
	}
	if step.NoiseMultiplier != nil {
		r.Multiplier = *step.NoiseMultiplier
	}
	return r.digest()
}
