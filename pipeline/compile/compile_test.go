package compile

import (
	"strings"
	"testing"

	"weir/pipeline"
)

const good = head + `stages:
  clean: {kind: clean}
  train: {kind: learn, steps: 50}
  sample: {kind: draw, rows: 10}
  judge: {kind: judge, real: clean, synthetic: sample}
  report: {kind: report}
`

func TestCompileOrdersTypesAndBills(t *testing.T) {
	plan, err := compile(t, good)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Step("sample"); got.Class != pipeline.Released {
		t.Errorf("sample: is %s, must be released", got.Class)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ stages, want string }{
		"unknown kind":   {"  a: {kind: clan}", "did you mean clean?"},
		"dangling too":   {"  a: {kind: clan, from: [c, b]}\n  b: {kind: clean}", `stages.a.from: is "c", must be the name`},
		"dangling":       {"  a: {kind: clean, from: b}", `is "b", must be the name of a stage`},
		"cycle":          {"  a: {kind: clean, from: b}\n  b: {kind: clean, from: a}", "a reads b reads a"},
		"column":         {"  a: {kind: clean, column: agge}", "no column of the table"},
		"wrong form":     {"  a: {kind: clean}\n  b: {kind: draw, rows: 1}", "which gives a table"},
		"unpaid":         {"  a: {kind: leak}", "W13"},
		"unbounded":      {"  a: {kind: mix}\n  b: {kind: learn}", "W03"},
		"unproven":       {"  b: {kind: learn, unproven: true}", "claims: published"},
		"setting":        {"  b: {kind: learn, stepps: 3}", "did you mean steps"},
		"missing":        {"  a: {kind: clean}\n  b: {kind: judge, real: a}", "stages.b.synthetic"},
		"dataset name":   {"  dataset: {kind: clean}", "other than dataset"},
		"range":          {"  b: {kind: learn, steps: 0}", "at least 1"},
		"no kind":        {"  b: {steps: 3}", "kind"},
		"unknown output": {"  a: {kind: clean}\n  b: {kind: clean, from: a.train}", "an output of a: out"},
	} {
		_, err := compile(t, head+"stages:\n"+c.stages+"\n")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
