package tailored

import (
	"context"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/pipelinetest"
	"weir/privacy/noise"
	"weir/schema"
	"weir/stages/internal/question"
)

// TestQuestionsAreCountedBatchByBatch: a table in one batch and in several, one of them empty and each in the memory of
// the one before, has the same tallies, values of quantiles and answers.
func TestQuestionsAreCountedBatchByBatch(t *testing.T) {
	in := ward(40)
	for name, c := range map[string]struct {
		kind  pipeline.Kind
		stage func() pipeline.Stage
	}{
		"questions":  {queryKind(), queryOf(1, everything()...)},
		"covariance": {covarianceKind(), covarianceOf(func(*Covariance) {})},
	} {
		whole, _ := run(t, c.stage(), c.kind, in, 1, 3)
		h := pipeline.Headers{"in": in.Header}
		w, err := c.stage().Plan(h)
		must(t, err)
		plan, err := bill.Price(&c.kind, h, w, 1, in.Header.Terms.Adjacency)
		must(t, err)
		env := pipelinetest.Env(1)
		ledger := &pipelinetest.Ledger{Key: noise.Key{3, 1}, Plan: plan}
		env.Privacy = ledger
		out, err := w.Run(t.Context(), env, pipeline.Tables{"in": inBatches(in, 0, 7, 7, 30, 40)})
		must(t, err)
		must(t, ledger.Close())
		parts, err := question.Read(t.Context(), out["out"])
		must(t, err)
		if d := cmp.Diff(whole.List, parts.List, cmpopts.EquateNaNs()); d != "" || len(whole.List) == 0 {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestTableWithoutABatch: a table that comes in no batch at all has the tallies of a table without rows, as many of
// them: how many numbers get noise must not tell whether anybody is there.
func TestTableWithoutABatch(t *testing.T) {
	in := ward(40)
	var ps schema.Problems
	l := question.Check(&ps, "questions", everything(), in.Header.Domain, 0)
	must(t, ps.Err())
	none, err := readFor(t.Context(), inBatches(in, 0), l)
	must(t, err)
	empty, err := readFor(t.Context(), inBatches(in, 0, 0), l)
	must(t, err)
	full, err := readFor(t.Context(), inBatches(in, 0, 40), l)
	must(t, err)
	for i := range l {
		if !slices.Equal(none[i].tally, empty[i].tally) || len(none[i].tally) != len(full[i].tally) {
			t.Errorf("question %d: %d tallies without a batch, %d without a row, %d of rows", i, len(none[i].tally),
				len(empty[i].tally), len(full[i].tally))
		}
	}
}

// inBatches cuts a table at these rows.
func inBatches(in pipelinetest.Input, cuts ...int64) pipeline.Table {
	return pipeline.Table{Header: in.Header, Open: func(context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			for i, from := range cuts[:len(cuts)-1] {
				if !yield(in.Rows.NewSlice(from, cuts[i+1]), nil) {
					return
				}
			}
		}
	}}
}
