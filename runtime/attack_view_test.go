package runtime

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/runtime/files"
)

// thief is a paid kind that does what it planned, releases the rows of nobody, and writes
// into the plan that it is given.
type thief struct {
	Does string `yaml:"does" json:"does" doc:"What it writes."`
}

func (s *thief) Plan(in pipeline.Headers) (pipeline.Work, error) {
	out := in["in"]
	out.Class, out.Stability = pipeline.Released, pipeline.Stability{}
	return pipeline.Work{Out: pipeline.Headers{"out": out}, OfPlan: true,
		Spends: []pipeline.Spend{{Name: "counts", Doc: "one count", Mechanism: func(scale float64) privacy.Mechanism {
			return mechanism.GaussianHistogram{NoiseMultiplier: scale, Releases: 1}
		}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			switch s.Does {
			case "rewires":
				for _, step := range env.Plan.Steps {
					if step.ID == "copy" {
						step.Inputs["in"][0] = pipeline.Ref{Stage: pipeline.DatasetID}
					}
				}
			case "understates":
				*env.Plan.Epsilon.Proven = 1e-5
			}
			paid, err := env.Privacy.Open("counts")
			if err != nil {
				return nil, err
			}
			if _, err := mechanism.ReleaseCounts(paid, []int64{1, 2}); err != nil {
				return nil, err
			}
			return pipeline.Tables{"out": pipeline.FromRecords(out)}, nil // no rows at all
		}}, nil
}

// copier passes on what it reads, as CSV.
type copier struct{}

func (copier) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return pipeline.Work{Out: pipeline.Headers{"out": in["in"]}, Write: []string{"csv"},
		Run: func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			return pipeline.Tables{"out": in["in"]}, nil
		}}, nil
}

func thiefPlan(t *testing.T, does string) *compile.Plan {
	t.Helper()
	port := []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}}
	out := []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "a table"}}
	reg, err := Registry([]pipeline.Kind{
		{Name: "thief", Version: 1, Doc: "Steals.", In: port, Out: out, New: func() pipeline.Stage { return &thief{} }},
		{Name: "copier", Version: 1, Doc: "Copies.", In: port, Out: out, New: func() pipeline.Stage { return &copier{} }},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := `weir: 1
name: theft
dataset: {demo: cardio, demo_rows: 50, rows_public: 50}
privacy: {epsilon: 1, delta: 1e-6, adjacency: replace_one}
stages:
  steal: {kind: thief, does: ` + does + `, from: dataset}
  copy: {kind: copier, from: steal}
`
	s, err := spec.Parse(spec.Input{File: "spec.yaml", Data: []byte(text)}, reg)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestAttackStageRewiresAnother: docs/design/safety.md says that what a stage writes into
// the plan is seen by nobody. A stage that changes Inputs of a later one makes that one read
// the private source, whose rows then leave in release/.
func TestAttackStageRewiresAnother(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(t.Context(), thiefPlan(t, "rewires"), testOptions(dir)); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "theft/*/release/copy*.csv"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(string(text), "\n") - 1; rows != 0 {
		t.Errorf("the release holds %d raw private rows, must hold none:\n%.200s", rows, text)
	}
}

// TestAttackStageUnderstatesEpsilon: nor may it change what the release documents promise.
func TestAttackStageUnderstatesEpsilon(t *testing.T) {
	dir := t.TempDir()
	plan := thiefPlan(t, "understates")
	want := *plan.Epsilon.Proven
	result, err := Run(t.Context(), plan, testOptions(dir))
	if err != nil {
		t.Fatal(err)
	}
	if got := *result.Record.Terms.Proven; got != want {
		t.Errorf("run.json says epsilon %g is proven, must be %g", got, want)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "theft/*/release/PRIVACY.md"))
	text, err := os.ReadFile(files[0])
	if err != nil || strings.Contains(string(text), "epsilon = 1e-05") {
		t.Errorf("PRIVACY.md (%v): %.300s", err, text)
	}
}

// TestAttackStoredRowsSkipTheRowCount: rows_public is not part of the address of the stored
// source, and the check of the row count is made only when the source is read.
func TestAttackStoredRowsSkipTheRowCount(t *testing.T) {
	out, dir := t.TempDir(), t.TempDir()
	rows := "a\n" + strings.Repeat("7\n", 60)
	for name, text := range map[string]string{"d.csv": rows,
		"d.yaml": "columns:\n  - {name: a, type: integer, bounds: [0, 9]}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := files.OpenFolder(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	const text = `weir: 1
name: rows
dataset: {file: d.csv, domain: d.yaml, rows_public: 50}
privacy: {epsilon: inf, claims: none, delta: 1e-6, adjacency: ADJ}
stages:
  clean: {kind: pass}
  a: {kind: reader, from: clean}
  b: {kind: reader, from: clean}
`
	run := func(adjacency string) error {
		plan := planFile(t, strings.Replace(text, "ADJ", adjacency, 1), folder)
		opts := testOptions(out)
		opts.Dir = dir
		_, err := Run(t.Context(), plan, opts)
		return err
	}
	if err := run("replace_one"); err == nil {
		t.Fatal("60 rows pass for 50")
	}
	if err := run("add_remove"); err != nil {
		t.Fatal(err)
	}
	if err := run("replace_one"); err == nil || !strings.Contains(err.Error(), "rows_public") {
		t.Errorf("after a run under add_remove has stored the rows, 60 rows pass for a public 50 under replace_one: %v", err)
	}
}

func planFile(t *testing.T, text string, folder *files.Folder) *compile.Plan {
	t.Helper()
	table := []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}}
	one := []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "a table"}}
	reg, err := Registry([]pipeline.Kind{
		{Name: "pass", Version: 1, Doc: "Passes rows on.", In: table, Out: one,
			New: func() pipeline.Stage { return &pass{} }},
		{Name: "reader", Version: 1, Doc: "Reads.", In: table, Out: []pipeline.Port{{Name: "out", Form: pipeline.FormMetrics,
			Doc: "figures"}}, New: func() pipeline.Stage { return &reader{} }},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSpec("spec.yaml", []byte(text), nil, folder, reg)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestStageSeesWhatItsRecipeHolds of the plan: one that goes by the budget sees nothing else
// that a run of another plan could change.
func TestStageSeesWhatItsRecipeHolds(t *testing.T) {
	plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
	r := &run{plan: plan}
	step := &plan.Steps[0]
	if got := r.view(step); got != nil {
		t.Errorf("a stage that asks for nothing sees %+v", got)
	}
	step.Work.OfBudget = true
	if got, want := r.view(step), (&pipeline.Plan{Budget: plan.Budget, Delta: plan.Delta,
		Adjacency: plan.Adjacency}); !reflect.DeepEqual(got, want) {
		t.Errorf("a stage that goes by the budget sees %+v, must see %+v", got, want)
	}
	step.Work.OfPlan = true
	if got := r.view(step); got.Name != plan.Name {
		t.Errorf("a stage that shows the plan sees %+v", got)
	}
}
