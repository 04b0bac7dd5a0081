package prep

import (
	"strings"
	"testing"

	"weir/pipeline"
	compiler "weir/pipeline/compile"
	"weir/pipeline/pipelinetest"
	"weir/pipeline/spec"
)

// openSpec declares neither bounds nor categories.
const openSpec = `weir: 1
name: open
dataset:
  file: people.csv
  privacy_unit: {column: pid, max_rows: 3}
  domain:
    columns:
      - {name: pid, type: text}
      - {name: income, type: integer}
      - {name: weight, type: numeric, bounds: [30, 200]}
      - {name: town, type: text}
privacy: {epsilon: 1, delta: 1e-6, adjacency: add_remove}
stages:
`

func openPlan(stages string) (*compiler.Plan, error) {
	kinds, err := pipeline.NewRegistry(Kinds())
	if err != nil {
		return nil, err
	}
	s, err := spec.Parse(spec.Input{File: "open.yaml", Data: []byte(openSpec + stages)},
		kinds.Reading(pipelinetest.Sources()...))
	if err != nil {
		return nil, err
	}
	return compiler.Compile(s)
}

// TestBadReleases: what cannot be released, or not waited for, is refused when it is
// planned, by a sentence that names the way out.
func TestBadReleases(t *testing.T) {
	const bounds, towns = "  b: {kind: dp_bounds, noise_multiplier: 20}\n",
		"  c: {kind: dp_categories, noise_multiplier: 20}\n"
	for stages, want := range map[string]string{
		bounds + "  e: {kind: encode}\n": "of kind encode, which plans " +
			"by the bounds and categories of income, and these are released when the run is under way (stage b of a run)",
		bounds + "  e: {kind: discretize, columns: [weight], bins: 3}\n": "or have them declared in " +
			"dataset.domain: publicly, or by the domain that an earlier run has released",
		bounds + "  d: {kind: dp_bounds, columns: [income], noise_multiplier: 20}\n": "is income, whose bounds " +
			"another stage releases",
		bounds + "  d: {kind: bounds, bounds: {income: {upper: 4}}}\n": "stages.d.bounds.income: is " +
			"set for a column whose bounds or categories are released when the run is under way",
		bounds + "  d: {kind: impute_constant, numbers: {income: 4}}\n": "must be set in a stage " +
			"before the one that releases them",
		bounds + "  d: {kind: not_available, columns: {income: 99}}\n": "stages.d.columns.income: is " +
			"set for a column",
		towns + "  d: {kind: impute_constant, categories: {town: Arden}}\n": "stages.d.categories.town: " +
			"is set for a column",
		towns + "  d: {kind: filter, keep: 'town == \"Arden\"'}\n": "of town the plan knows " +
			"neither bounds nor categories",
		"  b: {kind: dp_bounds, columns: [weight]}\n": "is weight, which has " +
			"bounds, must be columns without bounds: what is publicly known costs nothing",
		"  b: {kind: dp_bounds, columns: [town]}\n": "is town, which is text, " +
			"must be numbers and dates",
		"  b: {kind: dp_bounds, low_exponent: 4, high_exponent: 4}\n": "is 4, must be above " +
			"low_exponent, which is 4",
		"  b: {kind: dp_bounds, high_exponent: 60}\n": "is 60, must be at most 51, " +
			"so that the values of income can be numbered",
		"  s: {kind: select, columns: [pid, weight]}\n  b: {kind: dp_bounds}\n": "every number of the table " +
			"has bounds",
		"  c: {kind: dp_categories, columns: [pid]}\n": "is pid, which names the " +
			"privacy unit, must be columns of values that many units share [W02]",
		"  c: {kind: dp_categories, columns: [income]}\n": "is income, which is " +
			"integer, must be columns of type text",
		"  c: {kind: dp_categories, delta: 0.001}\n": "is 0.001, must be below the " +
			"plan's delta, which is 1e-06",
		"  c: {kind: dp_categories, other: \"a\\tb\"}\n": "must be text without " +
			"control characters",
		"  s: {kind: drop, columns: [town]}\n  c: {kind: dp_categories}\n": "the table has no column of " +
			"text",
		"  k: {kind: impute_knn, scope: table, columns: [weight]}\n  b: {kind: dp_bounds}\n": "[W03]",
		"  k: {kind: impute_knn, scope: table, columns: [weight]}\n  n: {kind: dp_count}\n":  "[W03]",
		"  k: {kind: shard, shards: 3}\n  b: {kind: dp_bounds}\n": "it runs on rows, and one " +
			"changed unit may change a whole shard",
		"  n: {kind: dp_count, noise_multiplier: 0.0000001}\n":           "and the bill comes to",
		"  c: {kind: dp_categories, noise_multiplier: 4, delta: 9e-7}\n": "and the bill comes to none",
	} {
		if _, err := openPlan(stages); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nerror is %v\nmust hold %s", stages, err, want)
		}
	}
}

// TestAnotherProblemStandsAlone: what is wrong beside a late column is not blamed on it.
func TestAnotherProblemStandsAlone(t *testing.T) {
	_, err := openPlan("  c: {kind: dp_categories, noise_multiplier: 20}\n  d: {kind: drop, columns: [weigth]}\n")
	if err == nil || !strings.Contains(err.Error(), `is "weigth", an unknown column`) || strings.Contains(err.Error(),
		"knows neither bounds nor categories") {
		t.Errorf("error is %v", err)
	}
}

// TestStagesThatWait keep late columns late, by whatever way they pass them on.
func TestStagesThatWait(t *testing.T) {
	p, err := openPlan(`  c: {kind: dp_categories, noise_multiplier: 40}
  b: {kind: dp_bounds, noise_multiplier: 40}
  f: {kind: filter, keep: "weight > 40 and income > 10"}
  l: {kind: bounds, outside: clip}
  m: {kind: missing_indicator, columns: [weight]}
  n: {kind: derive, columns: [{name: heavy, formula: "weight > 100", type: boolean}]}
  o: {kind: select, columns: [pid, town, income, heavy]}
  p: {kind: split, train: 0.5, test: 0.5}
  w: {kind: write, from: p.test}
`)
	if err != nil {
		t.Fatal(err)
	}
	h := p.Step("w").Work.Out["out"]
	if got := strings.Join(h.LateColumns(), " "); got != "town income" {
		t.Errorf("late are %q", got)
	}
	if got := h.Domain.Column("income").Source; got != "stage b of a run" {
		t.Errorf("income comes from %q", got)
	}
	for _, s := range p.Plan.Steps { // three rows of a unit
		for _, spend := range s.Spends {
			if spend.Group != 3 {
				t.Errorf("%s.%s is priced for %d rows", s.ID, spend.Name, spend.Group)
			}
		}
	}
}
