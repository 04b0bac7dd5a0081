package compile

import (
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
)

const mixed = head + `stages:
  before: {kind: learn, from: dataset, steps: 50}
  mixed: {kind: mix, from: dataset}
  train: {kind: learn, steps: 50, published: finite}
  after: {kind: learn, from: dataset, steps: 50}
`

// TestNothingProvenStandsForTheWhole: beside a stage without a proof, no number of the plan
// could be taken for one of the plan. What is proven of the others alone is said of them
// alone, and what adds up stops where the proof does.
func TestNothingProvenStandsForTheWhole(t *testing.T) {
	plan := mustCompile(t, mixed, "privacy.claims=published", "privacy.split={before: 0.2, train: 0.5, after: 0.3}")
	train, before, after := plan.Step("train"), plan.Step("before"), plan.Step("after")
	if plan.Epsilon.Proven != nil || plan.Epsilon.Published != nil || plan.Naive != nil || train.Alone != nil ||
		train.Cumulative != nil || after.Cumulative != nil {
		t.Errorf("a number is taken for a bound: %+v, %v, %+v, %+v", plan.Epsilon, plan.Naive, train.Cost, after.Cost)
	}
	if before.Alone == nil || before.Cumulative == nil || after.Alone == nil {
		t.Errorf("%+v, %+v: what is proven of these is lost", before.Cost, after.Cost)
	}
	if train.Published == nil || train.Unproven.Rule != "W03" || !strings.HasPrefix(plan.Epsilon.Reason,
		"stage train: W03: a mechanism on mixed, ") {
		t.Errorf("%+v, %q, must name W03", train.Cost, plan.Epsilon.Reason)
	}
	if train.Class != pipeline.Released {
		t.Errorf("the model is %s; what a paper released is released", train.Class)
	}
}

// TestUnboundedInputIsPricedAsThePaperDoes: the event of a mechanism on a table that may
// change anywhere is that on a unit's own rows, or its shard, and the bill says so.
func TestUnboundedInputIsPricedAsThePaperDoes(t *testing.T) {
	const rows = "stages:\n  a: {kind: mix}\n  bare: {kind: drop, columns: [sex]}\n  train: {kind: learn, " +
		"noise_multiplier: 9, published: finite}\n"
	const shards = "stages:\n  a: {kind: mix}\n  p: {kind: cut, shards: 5}\n  bare: {kind: drop, columns: [sex]}\n  " +
		"train: {kind: learn, law: shards, shards: 5, noise_multiplier: 9, published: finite}\n"
	for name, c := range map[string]struct {
		stages, words string
		rows          int
		set           []string
	}{
		"rows":   {rows, "1 (L2) when a row is added or removed, were that all that changes", 1, nil},
		"units":  {rows, "4 (L2) when 4 rows are added or removed, were that all that changes", 4, []string{unit}},
		"shards": {shards, "1 (L2) when a shard changes, were that all that changes", 1, []string{unit}},
	} {
		s := mustCompile(t, head+c.stages, append(c.set, "privacy.claims=published")...).Step("train").Spends[0]
		want, err := privacy.Group(s.Value.Event(privacy.AddRemove), c.rows)
		if err != nil || s.Event.Event != want || s.Sensitivity != c.words {
			t.Errorf("%s: %v and %q, must be %v and %q (%v)", name, s.Event.Event, s.Sensitivity, want, c.words, err)
		}
	}
}

// TestBudgetByPublishedArithmetic: where nothing is proven, the paper's arithmetic (1/noise in
// these tests) finds the noise, share by share, beside what an accountant finds for the rest.
func TestBudgetByPublishedArithmetic(t *testing.T) {
	const tight = 1e-3 // of the search, from below
	published := "privacy.claims=published"
	alone := mustCompile(t, head+"stages:\n  a: {kind: mix}\n  train: {kind: learn, published: finite}\n", published,
		"privacy.epsilon=4").Step("train")
	near(t, "noise", *alone.NoiseMultiplier, 1/4., tight, 0)
	if *alone.Published > 4 || !alone.Calibrated {
		t.Errorf("%+v, must be calibrated and within the budget", alone.Cost)
	}

	plan := mustCompile(t, mixed, published, "privacy.epsilon=4", "privacy.split={before: 0.2, train: 0.5, after: 0.3}")
	near(t, "noise of half the budget", *plan.Step("train").NoiseMultiplier, 1/2., tight, 0)
	rest := mustCompile(t, head+"stages:\n  before: {kind: learn, steps: 50}\n  after: {kind: learn, from: dataset, "+
		"steps: 50}\n", "privacy.epsilon=2", "privacy.split={before: 0.4, after: 0.6}")
	near(t, "noise of the others", *plan.Step("after").NoiseMultiplier, *rest.Step("after").NoiseMultiplier, tight, 0)

	fixed := mustCompile(t, mixed, published, "privacy.epsilon=4", "stages.train.noise_multiplier=0.5",
		"privacy.split={before: 0.4, after: 0.6}")
	near(t, "noise beside a fixed one", *fixed.Step("after").NoiseMultiplier, *rest.Step("after").NoiseMultiplier, tight,
		0)
}

// TestPublishedOverBudget: what a paper's arithmetic says is over the budget is refused,
// together with what is proven of the others, and exactly the budget is not.
func TestPublishedOverBudget(t *testing.T) {
	one := head + "stages:\n  a: {kind: mix}\n  train: {kind: learn, published: finite}\n"
	for _, c := range []struct {
		text string
		set  []string
		over bool
	}{
		{one, []string{"stages.train.noise_multiplier=1"}, false},
		{one, []string{"stages.train.noise_multiplier=0.9999"}, true},
		{one, []string{"stages.train.noise_multiplier=1", "stages.train.published=infinite"}, true},
		{mixed, []string{"stages.train.noise_multiplier=1", "privacy.split={before: 0.5, after: 0.5}"}, true},
		{mixed, []string{"stages.train.noise_multiplier=1.1", "stages.before.noise_multiplier=0.9",
			"stages.after.noise_multiplier=0.9"}, true},
		{mixed, []string{"stages.train.noise_multiplier=1.1", "stages.before.noise_multiplier=90",
			"stages.after.noise_multiplier=90"}, false},
	} {
		_, err := compile(t, c.text, append(c.set, "privacy.claims=published")...)
		if over := err != nil && strings.Contains(err.Error(), "[budget]"); over != c.over || (err != nil) != c.over {
			t.Errorf("%v: %v, must be over budget: %v", c.set, err, c.over)
		}
	}
}
