package stages

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/pipelinetest"
	"weir/pipeline/spec"
)

// visits is a table of which a person has up to 4 rows.
const visits = `weir: 1
name: visits
dataset:
  file: visits.csv
  privacy_unit: {column: pid, max_rows: 4}
  domain:
    columns:
      - {name: pid, type: integer, bounds: [0, 999]}
      - {name: age, type: integer, bounds: [0, 99]}
      - {name: sick, type: categorical, categories: ["no", "yes"]}
privacy: {epsilon: 1, delta: 1e-6, adjacency: add_remove}
stages:
`

// visitsFaults compiles stages on the table of visits and returns what is wrong with them.
func visitsFaults(t *testing.T, stages string) string {
	t.Helper()
	kinds, err := pipeline.NewRegistry(Kinds())
	if err != nil {
		t.Fatal(err)
	}
	s, err := spec.Parse(spec.Input{File: "visits.yaml", Data: []byte(visits + stages), More: compile.Faults},
		kinds.Reading(pipelinetest.Sources()...))
	if err == nil {
		_, err = compile.Compile(s)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// modelled lists the kinds that make a model, or a detector, of a table.
func modelled(t *testing.T) (names []string) {
	for _, k := range Kinds() {
		if made := k.Out[0].Form; made != pipeline.FormModel && made != pipeline.FormDetector {
			continue
		}
		for _, port := range k.In {
			if port.Name == "in" && port.Form == pipeline.FormTable {
				names = append(names, k.Name)
			}
		}
	}
	if len(names) < 15 {
		t.Errorf("only %v make a model of a table: the list is wrong", names)
	}
	return names
}

// TestNoKindModelsTheUnit: every kind that makes a model of a table refuses the column of the
// privacy unit, as it is, as a bin and as a code, and names the stage to add; behind that stage
// nothing is said of it.
func TestNoKindModelsTheUnit(t *testing.T) {
	const fix = "put a stage {kind: drop, columns: [pid]} between the two, behind the last one that needs the unit " +
		"(split, shard)"
	for _, kind := range modelled(t) {
		for name, before := range map[string]string{
			"dataset": "",
			"ends":    "  ends: {kind: bounds, columns: [pid]}\n",
			"binned":  "  binned: {kind: discretize, columns: [pid], bins: 5}\n",
			"coded":   "  coded: {kind: encode}\n",
			"again":   `  again: {kind: derive, columns: [{name: pid, formula: "pid", type: integer, bounds: [0, 999]}]}` + "\n",
			"halves":  "  halves: {kind: split, test: 0.2}\n",
			"parts":   "  parts: {kind: shard, shards: 5}\n",
		} {
			got := visitsFaults(t, before+fmt.Sprintf("  train: {kind: %s, from: %s}\n", kind, name))
			line := 13 + strings.Count(before, "\n")
			want := fmt.Sprintf("visits.yaml:%d:%d: stages.train.from: is %s", line, len("  train: {kind: , from: ")+len(kind)+1,
				name)
			if !strings.Contains(got, want) || !strings.Contains(got, fix) {
				t.Errorf("%s of %s: %q, must be refused in line %d with %q", kind, name, got, line, fix)
			}
		}
		got := visitsFaults(t, fmt.Sprintf("  parts: {kind: shard, shards: 5}\n  bare: {kind: drop, columns: [pid]}\n  "+
			"train: {kind: %s}\n", kind))
		if strings.Contains(got, "names the privacy unit") {
			t.Errorf("%s without the column: %s", kind, got)
		}
	}
}

// TestNoKindModelsWhatIsComputedFromTheUnit: a column that a stage computes from the unit's, under a
// name of its own or over another column, is refused as the unit's is, with both names, also where
// the unit's own column is gone and the copy is of the third hand.
func TestNoKindModelsWhatIsComputedFromTheUnit(t *testing.T) {
	const copied = `  more: {kind: derive, columns: [{name: copy, formula: "pid", type: integer, bounds: [0, 999]}]}` +
		"\n"
	const bare = "  bare: {kind: drop, columns: [pid]}\n"
	for before, want := range map[string]string{
		copied:        "with the column pid, copy (computed from pid), which",
		copied + bare: "with the column copy (computed from pid), which",
		copied + bare +
			"  some: {kind: filter, keep: age > 3}\n": "with the column copy (computed from pid), which",
		copied + bare +
			"  code: {kind: discretize, columns: [copy], bins: 5}\n": "with the column copy (computed from pid), which",
		copied + bare +
			"  code: {kind: encode}\n": "with the column copy (computed from pid), which",
		copied + bare +
			"  code: {kind: encode}\n  back: {kind: decode}\n": "with the column copy (computed from pid), which",
		copied + bare +
			"  mark: {kind: missing_indicator, columns: [copy]}\n": "with the column copy (computed from pid), copy_missing " +
			"(computed from pid), which",
		copied + bare +
			"  mark: {kind: not_available, columns: {copy: 9}}\n": "with the column copy (computed from pid), " +
			"copy_not_available (computed from pid), which",
		copied + bare +
			"  fill: {kind: impute_knn, scope: table, columns: [copy]}\n": "with the column copy (computed from pid), which",
		"  over: {kind: derive, columns: [{name: age, formula: \"max(age, pid)\", type: integer, bounds: [0, 999]}]}\n" +
			bare: "with the column age (computed from pid), which",
		"  more: {kind: derive, columns: [{name: a, formula: \"pid % 7\", type: integer, bounds: [0, 6]}, {name: b, " +
			"formula: \"a > 3\", type: boolean}]}\n" +
			"  bare: {kind: drop, columns: [pid, a]}\n": "with the column b (computed from pid), which",
		copied + "  bare: {kind: drop, columns: [pid, copy]}\n": "",
		copied + bare + `  over: {kind: derive, columns: [{name: copy, formula: "age", type: integer, bounds: [0, 99]}]}` +
			"\n": "",
	} {
		for _, kind := range []string{"independent", "mst", "dp_wgan"} {
			got := visitsFaults(t, before+fmt.Sprintf("  train: {kind: %s}\n", kind))
			if !strings.Contains(got, want) || (want == "") != !strings.Contains(got, "names the privacy unit") {
				t.Errorf("%s behind\n%s%q, must say %q", kind, before, got, want)
			}
		}
	}
}

// TestVisitsAreModelled: with the stage that the refusal names the spec compiles, and so does
// one whose unit is a row, which has no column of its own.
func TestVisitsAreModelled(t *testing.T) {
	const stages = "  halves: {kind: split, test: 0.2}\n  bare: {kind: drop, columns: [pid]}\n  train: {kind: " +
		"independent}\n  sample: {kind: sample, rows: 9}\n"
	if got := visitsFaults(t, stages); got != "" {
		t.Error(got)
	}
}

// TestNothingIsAskedOfTheUnit: questions, regressions and released bounds that name the column
// are refused at its place, whatever else is wrong; those that do not name it are not.
func TestNothingIsAskedOfTheUnit(t *testing.T) {
	const said = "pid, which names the privacy unit, must be a column of values that many units share"
	for stage, want := range map[string]string{
		"kind: dp_query, questions: [{name: a, ask: mean, column: pid}]":                             "train.questions[0].column: is " + said,
		"kind: dp_query, questions: [{name: a, ask: quantile, quantile: 0.5, column: pid}]":          "train.questions[0].column: is " + said,
		"kind: dp_query, questions: [{name: a, ask: histogram, column: pid, edges: [0, 9]}]":         "train.questions[0].column: is " + said,
		"kind: dp_query, questions: [{name: a, ask: count, where: [{column: pid, from: 3, to: 3}]}]": "train.questions[0].where[0].column: is " + said,
		"kind: dp_query, questions: [{name: a, ask: mean, column: age}]":                             "",
		"kind: dp_covariance":                                        "is " + said,
		"kind: dp_covariance, columns: [age, pid]":                   "train.columns[1]: is " + said,
		"kind: dp_covariance, columns: [age, sick]":                  "",
		"kind: dp_logistic_regression, target: sick, columns: [pid]": "train.columns[0]: is " + said,
		"kind: dp_logistic_regression, target: sick, columns: [age]": "",
		"kind: dp_poisson_regression, target: pid, columns: [age]":   "train.target: is " + said,
		"kind: dp_bounds, columns: [pid]":                            "train.columns: is " + said,
		"kind: dp_count":                                             "",
	} {
		got := visitsFaults(t, "  train: {"+stage+"}\n")
		copied := visitsFaults(t,
			`  more: {kind: derive, columns: [{name: copy, formula: "pid", type: integer, bounds: [0, 999]}]}`+
				"\n  train: {"+strings.ReplaceAll(stage, "pid", "copy")+"}\n")
		if said := strings.ReplaceAll(want, "is pid,", "is copy (computed from pid),"); strings.Contains(stage, "pid") &&
			!strings.Contains(copied, said) {
			t.Errorf("%s of a copy: %q, must say %q", stage, copied, said)
		}
		if !strings.Contains(got, want) || (want == "") != !strings.Contains(got, "names the privacy unit") {
			t.Errorf("%s: %q, must say %q", stage, got, want)
		}
	}
}
