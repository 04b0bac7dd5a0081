package votes

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/training"
)

// conformance lists the cases of every kind.
func conformance(t *testing.T) map[string][]pipelinetest.Case {
	cases := map[string][]pipelinetest.Case{}
	runs, in := learners(t)
	removed := in
	removed.Header.Terms.Adjacency, removed.Header.Rows = privacy.AddRemove, 0
	for name, l := range runs {
		for what, in := range map[string]pipelinetest.Input{"": in, " add_remove": removed} {
			cases[l.Kind.Name] = append(cases[l.Kind.Name], pipelinetest.Case{Name: name + what,
				In: map[string]pipelinetest.Input{"in": in}, Stage: l.Stage})
		}
	}
	return cases
}

func TestConformance(t *testing.T) { pipelinetest.CheckKinds(t, Kinds(), conformance(t)) }

// TestRunSpendsThePlan: a run pays once for 12 steps of 6 votes each, 72 releases that one
// changed shard moves by 1. Under replace_one accountants double what moves, so that the
// multiplier of Gaussian votes is doubled, and discrete Laplace ones are pure
// (docs/accounting.md section 7: 1/b for each thresholded vote).
func TestRunSpendsThePlan(t *testing.T) {
	want := map[string]privacy.Event{
		"pate_gan":           privacy.Repeated{Count: 72, Event: privacy.Gaussian{NoiseMultiplier: 3}},
		"pate_gan published": privacy.Repeated{Count: 72, Event: privacy.Pure{Epsilon: math.Nextafter(1/1.5, 1)}},
	}
	runs, in := learners(t)
	for name, l := range runs {
		_, r := l.Trained(t, in)
		if len(r.Ledger.Plan) != 1 || r.Ledger.Taken("train") != 12 {
			t.Errorf("%s: %d mechanisms and %d uses, must be 1 and 12", name, len(r.Ledger.Plan), r.Ledger.Taken("train"))
		}
		if diff := cmp.Diff(want[name], r.Ledger.Plan[0].Event.Event); diff != "" {
			t.Errorf("%s: planned (-want +got):\n%s", name, diff)
		}
	}
}

// TestResumedRunGivesTheSameModel from each checkpoint.
func TestResumedRunGivesTheSameModel(t *testing.T) {
	runs, in := learners(t)
	for name, l := range runs {
		whole, r := l.Trained(t, in)
		if len(r.States) != 2 {
			t.Fatalf("%s: %d checkpoints of 12 steps, must be 2", name, len(r.States))
		}
		for i, state := range r.States {
			again := l.Pays(t, in)
			again.Resume, again.Ledger.Drawn = state, 1<<40
			resumed, err := again.Run(t, l.Stage(), in)
			must(t, err)
			if !bytes.Equal(pipelinetest.Bytes(t, whole), pipelinetest.Bytes(t, resumed)) || len(again.States) != 1-i {
				t.Errorf("%s: the model of a run resumed from checkpoint %d differs, or it starts anew", name, i)
			}
		}
	}
}

// TestModelHoldsNothingPrivate: the files are a description and the weights of the generator,
// 3 latents, 8 units, 1+1+3+2 outputs. No teacher, no student.
func TestModelHoldsNothingPrivate(t *testing.T) {
	runs, in := learners(t)
	for name, l := range runs {
		model, _ := l.Trained(t, in)
		files, err := pipeline.ReadFiles(t.Context(), model)
		must(t, err)
		numbers := 0
		for _, f := range files {
			if strings.HasPrefix(f.Name, "weights/") {
				numbers += len(f.Data) / 4
			} else if f.Name != "artifact.json" && f.Name != "model.json" {
				t.Errorf("%s: the model holds %s", name, f.Name)
			}
		}
		if want := (3+1)*8 + (8+1)*7; numbers != want || model.Class != pipeline.Released {
			t.Errorf("%s: a model of %d weights and class %s, must be %d and released", name, numbers, model.Class, want)
		}
	}
}

// TestWithoutRows: a private table without rows is voted on and released like any other.
func TestWithoutRows(t *testing.T) {
	runs, in := learners(t)
	in.Rows = in.Rows.NewSlice(0, 0)
	for name, l := range runs {
		model, r := l.Trained(t, in)
		if n := r.Ledger.Taken("train"); n != 12 {
			t.Errorf("%s: an empty table takes %d uses, must take all 12", name, n)
		}
		if _, err := artifact.Read[artifact.Model](t.Context(), model, pipeline.ReadersOf(Kinds())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProducts: of 7 encoded columns (two numbers, groups of 3 and 2) all pairs are products
// but those within a group: 28 - 6 - 3.
func TestProducts(t *testing.T) {
	d := ward(t, 5).Header.Domain
	s := small()
	list := s.products(d)
	seen := map[[2]int32]bool{}
	for _, p := range list {
		seen[p] = true
		if g := [2]bool{p[0] >= 2 && p[0] < 5, p[1] >= 2 && p[1] < 5}; g == [2]bool{true, true} || min(p[0], p[1]) >= 5 {
			t.Errorf("columns %v of one group are multiplied", p)
		}
	}
	if width := training.Width(d); width != 7 || len(seen) != 19 || s.features(d) != 7+19+1 {
		t.Errorf("%d columns, %d products, %d features", width, len(seen), s.features(d))
	}
	// With a target its 2 columns times the 5 others, and 2 squares.
	if s.Target = "smoker"; len(s.products(d)) != 12 || s.features(d) != 7+12+1 {
		t.Errorf("%d products with a target, %d features", len(s.products(d)), s.features(d))
	}
	if s = paper(); len(s.products(d)) != 0 || s.features(d) != 8 {
		t.Errorf("the paper's teachers have products")
	}
}

// TestPublishedCeiling: where the paper's accounting is shown it is the epsilon of its formula for
// 72 votes whose term is the data-independent one, at noise of scale 4: the least over orders l of
// (9 l(l+1) + ln 1e5)/l, which is 18 + ln 1e5 at 1. Gaussian votes have none.
func TestPublishedCeiling(t *testing.T) {
	s := paper()
	got, err := s.published().Epsilon(4, 1e-5)
	must(t, err)
	if want := 18 + math.Log(1e5); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%g, must be %g", got, want)
	}
	if small().published() != nil {
		t.Error("the paper has no accountant for Gaussian votes")
	}
}

// TestRefusals: tables and settings that the kind cannot take.
func TestRefusals(t *testing.T) {
	whole, fit := ward(t, 0).Header, ward(t, 5).Header
	for want, c := range map[string]struct {
		h      pipeline.Header
		change func(*PATEGAN)
	}{
		"W22":         {whole, func(*PATEGAN) {}},
		"batch_size":  {fit, func(s *PATEGAN) { s.BatchSize = 1 }},
		"weight_clip": {fit, func(s *PATEGAN) { s.WeightClip = 0.01 }},
		"student":     {fit, func(s *PATEGAN) { s.Student = make([]int, 65) }},
		"age, weight": {fit, func(s *PATEGAN) { s.Target = "wait" }},
		"target":      {fit, func(s *PATEGAN) { s.Target, s.TeacherFeatures = "smoker", "columns" }},
		"teachers":    {fit.WithShardColumn(1 << 30), func(*PATEGAN) {}},
	} {
		s := small()
		c.change(s)
		_, err := s.Plan(pipeline.Headers{"in": c.h})
		if text, _ := json.Marshal(err); err == nil || !strings.Contains(err.Error()+string(text), want) {
			t.Errorf("%v, must be a refusal with %s", err, want)
		}
	}
}
