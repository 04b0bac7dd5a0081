//go:build long

package specs_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime"
	"weir/runtime/audit"
	"weir/runtime/source"
	"weir/specs"
)

// auditedRows is how many rows of nobody a spec is audited on.
const auditedRows = 240

// TestSomeSpecsAreSound audits specs of a few kinds, shrunken, on rows of nobody, and the first example with all of its
// stages; TestEverySpecIsSound all.
func TestSomeSpecsAreSound(t *testing.T) {
	for _, name := range []string{"ganad-mst-cervical", "jalko-carat-like", "ganad-pate-gan-cervical"} {
		sound(t, name, embedded(name), shrunken, 5)
	}
	sound(t, "quickstart", example("../examples/cardio/quickstart.yaml"), func(*compile.Plan) []string {
		return []string{"dataset.demo_rows=600", "dataset.rows_public=600", "stages.sample.rows=300"}
	}, 4)
}

// TestEverySpecIsSound audits every embedded spec and every example, shrunken, on rows of nobody.
func TestEverySpecIsSound(t *testing.T) {
	for i, name := range specs.Names() {
		if testing.Short() && i%20 > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) { sound(t, name, embedded(name), shrunken, 8) })
	}
	if testing.Short() {
		return
	}
	examples, err := filepath.Glob("../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range examples {
		if planned := example(path); filepath.Ext(path[:len(path)-len(".yaml")]) != ".domain" {
			t.Run(filepath.Base(filepath.Dir(path))+"-"+filepath.Base(path), func(t *testing.T) {
				sound(t, path, planned, shrunken, 8)
			})
		}
	}
}

// planner plans a spec with settings.
type planner func(set ...string) (*compile.Plan, error)

func embedded(name string) planner {
	return func(set ...string) (*compile.Plan, error) { return planOf(name, set...) }
}

func example(path string) planner {
	return func(set ...string) (*compile.Plan, error) {
		reg, err := kinds()
		if err != nil {
			return nil, err
		}
		s, err := runtime.LoadSpec(path, set, false, reg)
		if err != nil {
			return nil, err
		}
		return compile.Compile(s)
	}
}

// sound audits a spec with settings that follow from its plan. What its mechanisms reached is logged.
func sound(t *testing.T, name string, planned planner, settings func(*compile.Plan) []string, neighbours int) {
	t.Helper()
	whole, err := planned()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(whole.Plan.Steps, func(s *pipeline.Step) bool { return len(s.Spends) > 0 }) {
		return // nothing is released of rows
	}
	plan, err := planned(settings(whole)...)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	report := auditOf(t, plan, audit.Settings{Neighbours: neighbours, Pairs: true, Seed: audit.Seed{1}})
	for _, f := range report.Faults {
		t.Errorf("%s: %s: %s (%s)", name, f.Stage, f.Text, strings.Join(f.Seen, "; "))
	}
	for _, l := range report.Stages {
		if l.Mechanism != "" && l.Reached != nil {
			t.Logf("%s: %s %s: %d compared, %.3f reached", name, l.Stage, l.Mechanism, l.Compared, *l.Reached)
		} else if l.Mechanism != "" {
			t.Logf("%s: %s %s: not compared (%s)", name, l.Stage, l.Mechanism, l.NoClaim)
		}
	}
}

func auditOf(t *testing.T, plan *compile.Plan, settings audit.Settings) *audit.Report {
	t.Helper()
	subject, err := audit.Open(plan, runtime.Local(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer subject.Close()
	report, err := subject.Audit(t.Context(), settings)
	if err != nil {
		t.Fatalf("%s: %v", plan.Name, err)
	}
	return report
}

// shrunken returns the settings by which a plan becomes one of seconds: rows of nobody, no stage of which nothing
// leaves, trainings of three steps.
func shrunken(plan *compile.Plan) []string {
	set := append(source.Invented(plan.Spec.Dataset.Declared, auditedRows), "dataset.budget=null", "experiment=null")
	if plan.Spec.Dataset.RowsPublic > 0 {
		set = append(set, fmt.Sprintf("dataset.rows_public=%d", auditedRows))
	}
	for i := range plan.Steps {
		step := &plan.Steps[i]
		if !leaves(plan, step) {
			set = append(set, "stages."+step.ID+"=off")
			continue
		}
		var settings map[string]any
		if json.Unmarshal(step.Settings, &settings) == nil {
			set = append(set, smaller("stages."+step.ID, settings)...)
		}
	}
	return append(set, budget(plan, set)...)
}

// budget returns an epsilon that covers a shrunken plan, in which fewer rows are sampled at higher rates.
func budget(plan *compile.Plan, set []string) []string {
	switch programmed := func(s string) bool { return strings.Contains(s, ".program.epsilon=") }; {
	case plan.Budget.Infinite():
		return nil
	case slices.ContainsFunc(set, programmed):
		return []string{"privacy.epsilon=5000"}
	}
	return []string{"privacy.epsilon=200"}
}

// leaves reports whether something that a stage makes leaves, or goes into what does.
func leaves(plan *compile.Plan, step *compile.Step) bool {
	if len(step.Work.Spends) > 0 {
		return true
	}
	for _, h := range step.Work.Out {
		if h.Class == pipeline.Released {
			return true
		}
	}
	for i := range plan.Steps {
		for _, refs := range plan.Steps[i].Inputs {
			for _, ref := range refs {
				if ref.Stage == step.ID && leaves(plan, &plan.Steps[i]) {
					return true
				}
			}
		}
	}
	return false
}

// most returns the greatest values of settings of a shrunken spec.
func most() map[string]float64 {
	return map[string]float64{"steps": 8, "warm_steps": 8, "epochs": 1, "critic_steps": 2, "expected_batch_size": 60,
		"shards": 6, "teachers": 6, "rows": 50, "generated_batch": 16, "max_train_rows": 100, "release_every": 1,
		"restarts": 2}
}

// smaller returns smaller values for settings of a stage that are too great, at any depth.
func smaller(path string, settings map[string]any) (set []string) {
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		switch v := settings[key].(type) {
		case map[string]any:
			set = append(set, smaller(path+"."+key, v)...)
			if _, counts := v["epsilon"]; counts && key == "program" { // a paper's own accountant, which ends the training
				set = append(set, path+".program.epsilon=1000")
			}
		case float64:
			if limit, is := most()[key]; is && v > limit {
				set = append(set, fmt.Sprintf("%s.%s=%g", path, key, limit))
			}
		}
	}
	return set
}
