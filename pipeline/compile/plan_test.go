package compile

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
)

func mustCompile(t *testing.T, text string, set ...string) *Plan {
	t.Helper()
	plan, err := compile(t, text, set...)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestDigestIsOfTheMeaning: comments, key order and written-out defaults do not
// change it; a setting does.
func TestDigestIsOfTheMeaning(t *testing.T) {
	spec, err := parse(t, good)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := spec.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	same := map[string]string{
		"comment":   "# a comment\n" + good,
		"key order": strings.Replace(good, "weir: 1\nname: test\n", "name: test\nweir: 1\n", 1),
		"default":   strings.Replace(good, "clean: {kind: clean}", "clean: {kind: clean, from: dataset}", 1),
		"canonical": string(canonical),
	}
	for name, text := range same {
		other, err := parse(t, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if other.Digest != spec.Digest {
			t.Errorf("%s changes the digest", name)
		}
	}
	for _, set := range []string{"seed=1", "stages.train.steps=51", "privacy.epsilon=2",
		"dataset.domain.columns[0].bounds=[0, 100]"} {
		other, err := parse(t, good, set)
		if err != nil {
			t.Errorf("%s: %v", set, err)
		} else if other.Digest == spec.Digest {
			t.Errorf("%s does not change the digest", set)
		}
	}
}

const two = head + `stages:
  first: {kind: learn, steps: 50}
  second: {kind: learn, from: dataset, steps: 500}
`

// TestSharesKeepTheirRatio: epsilons alone stand as the shares do, the joint
// epsilon is tight under the budget, and below their sum.
func TestSharesKeepTheirRatio(t *testing.T) {
	plan := mustCompile(t, two, "privacy.split={first: 0.25, second: 0.75}")
	a, b := *plan.Step("first").Alone, *plan.Step("second").Alone
	if ratio := b / a; math.Abs(ratio-3) > 0.01 {
		t.Errorf("epsilons alone are %g and %g, must stand 1 to 3", a, b)
	}
	if p := *plan.Epsilon.Proven; p > 1 || p < 0.999 {
		t.Errorf("proven epsilon is %g, must be in (0.999, 1]", p)
	}
	if *plan.Naive <= *plan.Epsilon.Proven {
		t.Errorf("naive addition gives %g, must be above the composition %g", *plan.Naive, *plan.Epsilon.Proven)
	}
}

func TestSplitIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ set, want string }{
		"none":        {"privacy.epsilon=1", "without a share for first, second"},
		"one missing": {"privacy.split={first: 1}", "without a share for second"},
		"not a stage": {"privacy.split={first: 0.5, third: 0.5}", "the name of a stage"},
		"sum":         {"privacy.split={first: 0.5, second: 0.6}", "sum to 1.1 (W19)"},
		"negative":    {"privacy.split={first: -1, second: 2}", "above 0"},
	} {
		if _, err := compile(t, two, c.set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, must say %q", name, err, c.want)
		}
	}
	_, err := compile(t, head+"stages:\n  a: {kind: clean}\n  b: {kind: learn}\n", "privacy.split={a: 0.5, b: 0.5}")
	if err == nil || !strings.Contains(err.Error(), "spends nothing") {
		t.Errorf("a share for a stage that spends nothing: %v", err)
	}
}

// TestStagesAreTurnedOff: --set stages.NAME=off takes a stage and its share out; who reads it is told so, and one that
// is not there is named.
func TestStagesAreTurnedOff(t *testing.T) {
	text := strings.Replace(two, "epsilon: 1,", "epsilon: 1, split: {first: 0.3, second: 0.7},", 1)
	plan := mustCompile(t, text, "stages.first=off")
	if plan.Step("first") != nil || plan.Step("second") == nil || *plan.Step("second").Alone < .99 {
		t.Errorf("the plan has %v", plan.Steps)
	}
	for set, want := range map[string]string{
		"stages.frist=off": "--set stages.frist: is off, and there is no such stage, must be a stage of the spec: first, " +
			"second; did you mean first?",
		"stages.a=off": `is "a", must be the name of a stage: dataset, b; --set stages.a=off took it out, and b reads it`,
	} {
		source := text
		if set == "stages.a=off" {
			source = head + "stages:\n  a: {kind: clean}\n  b: {kind: learn, from: a}\n"
		}
		if _, err := compile(t, source, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say %q", set, err, want)
		}
	}
}

// TestFixedNoise: a stage may fix its noise; the rest of the budget is split,
// and a bill above the budget is refused as a matter of privacy.
func TestFixedNoise(t *testing.T) {
	plan := mustCompile(t, two, "stages.first.noise_multiplier=3")
	if s := plan.Step("first"); s.Calibrated || *s.NoiseMultiplier != 3 || s.Share != nil {
		t.Errorf("first: %+v, must keep its noise", s)
	}
	if p := *plan.Epsilon.Proven; p > 1 || p < 0.999 {
		t.Errorf("proven epsilon is %g, must use up the budget", p)
	}
	for _, set := range [][]string{
		{"stages.first.noise_multiplier=0.3"},
		{"stages.first.noise_multiplier=0.3", "stages.second.noise_multiplier=0.3"},
	} {
		_, err := compile(t, two, set...)
		var ds spec.Diagnostics
		if !errors.As(err, &ds) || !ds.Privacy() {
			t.Errorf("%v: %v, must be over budget", set, err)
		}
	}
}

func TestClaims(t *testing.T) {
	text := head + "stages:\n  train: {kind: learn, unproven: true, published: finite, noise_multiplier: 2}\n  sample: " +
		"{kind: draw, rows: 3}\n"
	plan := mustCompile(t, text, "privacy.claims=published")
	if plan.Epsilon.Proven != nil || plan.Epsilon.Published == nil || *plan.Epsilon.Published != 0.5 {
		t.Errorf("epsilon is %+v, must be published only", plan.Epsilon)
	}
	if !strings.HasPrefix(plan.Epsilon.Reason, "stage train: W13: ") || !strings.Contains(plan.Epsilon.Reason,
		"no noise") {
		t.Errorf("the reason is missing: %+v", plan.Epsilon)
	}
	plan = mustCompile(t, good, "privacy.epsilon=inf", "privacy.claims=none")
	for _, id := range []string{"train", "sample"} {
		if class := plan.Step(id).Class; class != pipeline.Private {
			t.Errorf("%s is %s without privacy, must be private", id, class)
		}
	}
	for _, set := range [][]string{{"privacy.epsilon=inf"}, {"privacy.claims=none"}} {
		if _, err := compile(t, good, set...); err == nil {
			t.Errorf("%v compiles", set)
		}
	}
}

// nameless returns what is good where sex is the privacy unit, which no model may learn.
func nameless() string {
	return strings.Replace(good, "  train: ", "  bare: {kind: drop, columns: [sex]}\n  train: ", 1)
}

func TestPrivacyUnit(t *testing.T) {
	plan := mustCompile(t, nameless(), "dataset.privacy_unit={column: sex, max_rows: 4}")
	if s := plan.Step("clean").Stability; s != "rows(4)" {
		t.Errorf("stability is %s, must be rows(4)", s)
	}
	if plan.Step("clean").Outputs["out"].Rows != 0 {
		t.Error("the row count after the rows beyond max_rows are dropped is private")
	}
	if _, err := compile(t, good, "dataset.privacy_unit={column: sexx, max_rows: 4}"); err == nil ||
		!strings.Contains(err.Error(), "did you mean sex?") {
		t.Errorf("unknown unit: %v", err)
	}
}

// TestNamelessRowsAreNoted: that rows without a unit are not capped is said where there may be
// any, with the spellings that make them.
func TestNamelessRowsAreNoted(t *testing.T) {
	const unit, missing = "dataset.privacy_unit={column: sex, max_rows: 4}", "dataset.domain={columns: [{name: age, " +
		"type: integer, bounds: [0, 120]}, {name: sex, type: text, missing: [NA]}]}"
	noted := func(set ...string) string {
		for _, f := range mustCompile(t, nameless(), set...).Findings {
			if f.Rule == "W25" && f.Level == pipeline.LevelNote && f.Acknowledged == "" {
				return f.Message
			}
		}
		return ""
	}
	if got := noted(unit, missing, "dataset.csv.missing=[none]"); !strings.Contains(got,
		"whose sex is missing (empty or NA, none)") {
		t.Errorf("the note is %q, must name both spellings", got)
	}
	if got := noted(unit) + noted(missing) + noted(unit, missing,
		"privacy.acknowledge={W25: each person has one row here}"); got != "" {
		t.Errorf("without missing units, with rows as units and once acknowledged the note is %q, must be none", got)
	}
}

// TestPlanIsData: the JSON has the keys that scripts rely on.
func TestPlanIsData(t *testing.T) {
	plan := mustCompile(t, good)
	text, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Stages  []map[string]any
		Epsilon map[string]any
		Delta   float64
		Digest  string
	}
	if err := json.Unmarshal(text, &data); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"id", "kind", "class", "events"} {
		for _, s := range data.Stages {
			if _, ok := s[key]; !ok {
				t.Errorf("stage %v has no %s", s["id"], key)
			}
		}
	}
	if data.Epsilon["published"] != nil || data.Epsilon["proven"] == nil || !strings.HasPrefix(data.Digest, "sha256:") ||
		data.Delta != 1e-5 {
		t.Errorf("plan: %s", text)
	}
}

func TestExperimentIsCounted(t *testing.T) {
	plan := mustCompile(t, good+"experiment: {grid: {privacy.epsilon: [0.1, 1], seed: [1, 2, 3]}, repeats: 4}\n")
	if len(plan.Findings) == 0 || plan.Findings[0].Rule != "W17" || !strings.Contains(plan.Findings[0].Message,
		"24 runs") {
		t.Errorf("findings: %+v, must be W17 for 24 runs", plan.Findings)
	}
	axis := "[" + strings.Repeat("1, ", 10000) + "2]"
	for _, many := range []string{"{repeats: 100000}", "{repeats: 9223372036854775807}",
		"{grid: {seed: [1, 2, 3, 4]}, repeats: 4611686018427387904}",
		"{grid: {seed: " + axis + "}}", "{grid: {seed: [], stages.train.steps: " + axis + "}}"} {
		if _, err := compile(t, good+"experiment: "+many+"\n"); err == nil {
			t.Errorf("%.70s compiles", many)
		}
	}
}

// TestPartsAreCounted: of an experiment in parts the runs from the first repeat on are counted, listed and bounded; one
// run of many is a choice among them all the same.
func TestPartsAreCounted(t *testing.T) {
	plan := mustCompile(t, good+"experiment: {grid: {seed: [1, 2]}, repeats: 1000000, first_repeat: 999998}\n")
	trials, err := plan.Spec.Experiment.Trials()
	if err != nil || len(trials) != 6 || trials[0].Repeat != 999997 || trials[2].Repeat != 999999 ||
		trials[3].Repeat != 999997 || trials[5].Set[0] != "seed=2" {
		t.Errorf("%v, %+v", err, trials)
	}
	if _, err := compile(t, good+"experiment: {repeats: 9223372036854775807, first_repeat: 2}\n"); err == nil {
		t.Error("a part of all but one run of very many compiles")
	}
	f := mustCompile(t, good+"experiment: {repeats: 5, first_repeat: 5}\n").Findings
	const want = "the experiment is 1 run over the private data, repeat 5 alone;"
	if len(f) < 2 || !strings.HasPrefix(f[0].Message, want) || f[1].Rule != "W18" {
		t.Errorf("findings: %+v", f)
	}
}

// TestFirstRepeatHasOneForm: 1 is no setting in the canonical form, another number is. All have one digest, since each
// run is the same run.
func TestFirstRepeatHasOneForm(t *testing.T) {
	form := func(setting string) (text, digest string) {
		plan := mustCompile(t, good+"experiment: {repeats: 5"+setting+"}\n")
		canonical, err := plan.Spec.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		return string(canonical), plan.Digest
	}
	none, run := form("")
	first, same := form(", first_repeat: 1")
	second, other := form(", first_repeat: 2")
	if first != none || strings.Contains(none, "first_repeat") || !strings.Contains(second, "first_repeat: 2") {
		t.Errorf("the canonical forms are\n%s\n%s\n%s", none, first, second)
	}
	if run != same || run != other {
		t.Errorf("the digests are %s, %s and %s, must be one", run, same, other)
	}
}

// TestAxesHaveOneSpelling: a quote where none is needed takes no setting past the rules, such
// as the budget that all runs share.
func TestAxesHaveOneSpelling(t *testing.T) {
	for path, want := range map[string]string{`"dataset".budget.epsilon`: "dataset.budget.epsilon", `"name"`: "name",
		`"experiment".repeats`: "experiment.repeats", `stages."train".steps`: "stages.train.steps"} {
		for _, in := range []string{"grid: {'" + path + "': [100]}", "cells: {a: {'" + path + "': 100}}"} {
			if _, err := compile(t, good+"experiment: {"+in+"}\n"); err == nil || !strings.Contains(err.Error(),
				"must be spelled "+want) {
				t.Errorf("%s: %v", in, err)
			}
		}
	}
}

// TestOverrides: an empty value takes a setting out; choosing a source takes the settings of the others out.
func TestOverrides(t *testing.T) {
	if _, err := compile(t, good, "stages.train.steps="); err != nil {
		t.Error(err)
	}
	spec, err := parse(t, good, "dataset.demo=cardio")
	if err != nil {
		t.Fatal(err)
	}
	if demo, ok := spec.Dataset.Source.(*fakeDemo); !ok || demo.Demo != "cardio" || spec.Dataset.Declared.Kind != "demo" {
		t.Errorf("the source is %+v of kind %q", spec.Dataset.Source, spec.Dataset.Declared.Kind)
	}
	spec, err = parse(t, good, "dataset.demo=cardio", "dataset.demo_rows=7", "dataset.file=other.csv")
	if err != nil {
		t.Fatal(err)
	}
	if file, ok := spec.Dataset.Source.(*fakeFile); !ok || file.File != "other.csv" ||
		spec.Dataset.Declared.Kind != "file" {
		t.Errorf("the source is %+v of kind %q", spec.Dataset.Source, spec.Dataset.Declared.Kind)
	}
}

// TestFilterOfTheBudget: a budget composes by rdp unless the spec says otherwise.
func TestFilterOfTheBudget(t *testing.T) {
	const budget = "dataset.budget={epsilon: 9, delta: 1e-6"
	for set, want := range map[string]string{budget + "}": "rdp", budget + ", filter: gaussian}": "gaussian",
		budget + ", filter: basic}": "basic"} {
		if spec, err := parse(t, good, set); err != nil || spec.Dataset.Budget.Filter != want {
			t.Errorf("%s: %+v, %v, must be %s", set, spec, err, want)
		}
	}
	if _, err := parse(t, good, budget+", filter: pld}"); err == nil || !strings.Contains(err.Error(),
		"dataset.budget.filter") {
		t.Errorf("filter pld: %v", err)
	}
}
