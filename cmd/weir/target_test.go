package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"weir/record"
)

// TestTargetIsPartOfWhatIsPaid: a model that takes its target from the evaluation is the
// one that is told so, whatever the evaluation is called: its recipe, which names its noise
// and its charge, is the same. For another target it is another.
func TestTargetIsPartOfWhatIsPaid(t *testing.T) {
	s := newStudy(t, 300)
	s.write("spec.yaml", `weir: 1
name: study
dataset: {file: data.csv, domain: domain.yaml, rows_public: 300}
privacy: {epsilon: 1, delta: 1e-6, adjacency: replace_one, acknowledge: {W25: a made-up table, W39: a made-up table}}
seed: 3
stages:
  features: {kind: drop, columns: [id]}
  clean: {kind: bounds, outside: missing}
  train: {kind: auto}
  sample: {kind: sample, rows: 50}
  utility: {kind: downstream, real: clean, synthetic: sample, target: flag}
`)
	filled := s.recipe()
	s.edit("spec.yaml", "  utility:", "  judged:")
	if renamed := s.recipe(); renamed != filled {
		t.Errorf("under another name of the evaluation: %s, must be %s", renamed, filled)
	}
	if other := s.recipe("--set", "stages.judged.target=group"); other == filled {
		t.Error("another target has the same recipe")
	}
	if given := s.recipe("--set", "stages.judged.target=group", "--set", "stages.train.target=flag"); given != filled {
		t.Errorf("given by hand: %s, must be %s", given, filled)
	}
}

// recipe runs the study and reads the recipe of the stage train in its record.
func (s study) recipe(args ...string) string {
	s.t.Helper()
	var rec record.Run
	if err := json.Unmarshal([]byte(s.read(filepath.Join(rel(s.t, s.dir, s.result(args...).Run), "run.json"))),
		&rec); err != nil {
		s.t.Fatal(err)
	}
	for _, stage := range rec.Stages {
		if stage.ID == "train" {
			return stage.Recipe
		}
	}
	return "none"
}
