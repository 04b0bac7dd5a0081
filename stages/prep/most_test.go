package prep

import (
	"maps"
	"slices"
	"testing"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
)

// outputs keeps what came out of the last use.
type outputs struct{ last any }

func (o *outputs) Release(r privacy.Released) any {
	o.last = r.Out
	return r.Out
}

// TestMostCategoriesGoByNoisyCounts: which of too many categories are kept follows from the
// counts that were released, though in exact counts b is ahead of a by one row.
func TestMostCategoriesGoByNoisyCounts(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "town", Type: domain.Text}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1),
		Terms: pipeline.Terms{Adjacency: privacy.AddRemove, Delta: 1e-5}})
	rows := pipelinetest.Rows(d, append(slices.Repeat([]any{"a"}, 400), slices.Repeat([]any{"b"}, 401)...))
	k, seen := dpCategoriesKind(), map[string]int{}
	for key := range byte(40) {
		stage := k.New().(*DPCategories)
		stage.Most = 1
		w := must(stage.Plan(pipeline.Headers{"in": h}))
		probe, env := &outputs{}, pipelinetest.Env(1)
		env.Privacy = &pipelinetest.Ledger{Key: noise.Key{key}, Plan: must(bill.Price(&k, pipeline.Headers{"in": h}, w, 5,
			privacy.AddRemove)), Probe: probe}
		out := must(w.Run(t.Context(), env, pipeline.Tables{"in": pipeline.FromRecords(h, rows)}))
		noisy := probe.last.(map[string]int64)
		names := slices.Sorted(maps.Keys(noisy))
		slices.SortStableFunc(names, func(x, y string) int { return int(noisy[y] - noisy[x]) })
		if got := out["out"].Domain.Columns[0].Categories; !slices.Equal(got, []string{names[0], "other"}) {
			t.Fatalf("%v of noisy counts %v", got, noisy)
		}
		seen[names[0]]++
	}
	if seen["a"] == 0 || seen["b"] == 0 {
		t.Errorf("%v: noise never changed the order, the test is blind", seen)
	}
}
