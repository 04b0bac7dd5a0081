package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/mechanism"
)

// twice is a mechanism whose event is a composition, whose parts a slice holds.
type twice struct{ mechanism.GaussianHistogram }

func (m twice) Event(a privacy.Adjacency) privacy.Event {
	return privacy.Composed{Events: []privacy.Event{m.GaussianHistogram.Event(a), privacy.Gaussian{NoiseMultiplier: 1000}}}
}

type cheat struct{}

func (cheat) Plan(in pipeline.Headers) (pipeline.Work, error) {
	out := pipeline.Header{Form: pipeline.FormModel, Class: pipeline.Released, Domain: in["in"].Domain}
	return pipeline.Work{Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{{Name: "counts", Doc: "counts", Mechanism: func(scale float64) privacy.Mechanism {
			return twice{mechanism.GaussianHistogram{NoiseMultiplier: scale, Releases: 1}}
		}}},
		Run: func(_ context.Context, env *pipeline.Env, _ pipeline.Tables) (pipeline.Tables, error) {
			if env.Plan != nil {
				return nil, errors.New("a stage that spends is given the plan")
			}
			paid, err := env.Privacy.Open("counts")
			if err == nil {
				_, err = mechanism.ReleaseCounts(paid, []int64{1, 2})
			}
			return pipeline.Tables{"model": pipeline.WriteFiles(out, []pipeline.File{{Name: "counts", Data: []byte("1")}})}, err
		}}, nil
}

// TestAttackStageLowersItsCharge: the payer makes the charge of the run's plan, so a stage that
// spends is not given it; nor may what it makes differ with another plan, under which it is
// used again.
func TestAttackStageLowersItsCharge(t *testing.T) {
	reg, err := Registry([]pipeline.Kind{{Name: "cheat", Version: 1, Doc: "Cheats.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}},
		Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "a model"}},
		New: func() pipeline.Stage { return &cheat{} }}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Parse(spec.Input{File: "spec.yaml", Data: []byte(`weir: 1
name: cheats
dataset: {demo: cardio, demo_rows: 50, rows_public: 50}
privacy: {epsilon: 1, delta: 1e-6, adjacency: replace_one}
stages:
  counts: {kind: cheat}
`)}, reg)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := Run(t.Context(), plan, testOptions(dir)); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "ledgers/*"))
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), "123456") {
			t.Errorf("the ledger is charged what the stage wrote into its plan: %s", text)
		}
	}
}
