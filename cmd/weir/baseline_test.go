package main

import (
	"testing"
)

// TestBaselineIsThatOfTheBudget: independent columns are simulated with the noise of the
// spec's epsilon, and never taken from a run of another epsilon, though all rows are the
// same.
func TestBaselineIsThatOfTheBudget(t *testing.T) {
	s := newStudy(t, 600)
	s.write("spec.yaml", `weir: 1
name: study
dataset: {file: data.csv, domain: domain.yaml, rows_public: 600}
privacy: {epsilon: 1, delta: 1e-6, adjacency: replace_one}
seed: 3
stages:
  features: {kind: drop, columns: [id]}
  halves: {kind: split, train: 0.5, test: 0.5}
  judge: {kind: marginals, real: halves.test, synthetic: halves.train}
`)
	found := map[string]float64{}
	for _, epsilon := range []string{"0.05", "5"} {
		found[epsilon] = s.result("--set", "privacy.epsilon="+epsilon).Metrics["judge.total_variation_2way_baseline"]
	}
	if !(found["0.05"] > found["5"] && found["5"] > 0) {
		t.Errorf("independent columns at epsilon 0.05 and 5 have %v", found)
	}
}
