package pipelinetest

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/privacy"
)

// picks decides of each row in turn, seen by its region, whether it counts.
type picks func(env *pipeline.Env) func(region int32) bool

// picking is the right kind on some of the rows: a row decides by its place what
// becomes of others, and their number is not paid for.
type picking struct {
	independent
	picks picks
}

func (s *picking) Plan(in pipeline.Headers) (pipeline.Work, error) {
	w, err := s.independent.Plan(in)
	right := w.Run
	w.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		return right(ctx, env, pipeline.Tables{"in": picked(in["in"], func() func(int32) bool { return s.picks(env) })})
	}
	return w, err
}

// picked is a table of rows that are picked, each a batch.
func picked(t pipeline.Table, picks func() func(int32) bool) pipeline.Table {
	open := t.Open
	t.Open = func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			keep := picks()
			for rec, err := range open(ctx) {
				if err != nil {
					yield(nil, err)
					return
				}
				for i := range rec.NumRows() {
					if keep(regionOf(rec, int(i))) && !yield(rec.NewSlice(i, i+1), nil) {
						return
					}
				}
			}
		}
	}
	return t
}

func regionOf(rec arrow.Record, row int) int32 {
	if rec.Column(0).IsNull(row) {
		return -1
	}
	return rec.Column(0).(*array.Int32).Value(row)
}

// Each of these passed while rows were added and removed at the end alone.
func TestWrongPlacesAreFound(t *testing.T) {
	for what, f := range map[string]struct {
		picks picks
		says  string
	}{
		"every row": {func(*pipeline.Env) func(int32) bool { return func(int32) bool { return true } }, ""},
		"a public coin for each row in order": {func(env *pipeline.Env) func(int32) bool {
			coins := env.Rand("sample")
			return func(int32) bool { return coins.Float64() < 0.5 }
		}, "in: rows [0] removed: use 1 of marginals: what goes in moves by"},
		"every second row": {func(*pipeline.Env) func(int32) bool {
			i := 0
			return func(int32) bool { i++; return i%2 == 1 }
		}, "in: rows [20] removed: use 1 of marginals: what goes in moves by"},
		"no row equal to the row before": {func(*pipeline.Env) func(int32) bool {
			last := int32(-2)
			return func(r int32) bool { was := last; last = r; return r != was }
		}, "in: 1 rows put between two equal ones: use 1 of marginals: what goes in moves by"},
		"the first 20 rows": {func(*pipeline.Env) func(int32) bool {
			i := 0
			return func(int32) bool { i++; return i <= 20 }
		}, "in: rows [0] removed: use 1 of marginals: what goes in moves by"},
	} {
		t.Run(what, func(t *testing.T) {
			r, s := &recorder{}, &picking{picks: f.picks}
			s.NoiseMultiplier = sigma
			r.run(func(t reporter) { checkCase(t, independentKind(), independentCase(s, visitors(40, privacy.AddRemove))) })
			said := strings.Join(r.said, "\n")
			if f.says == "" && said != "" || !strings.Contains(said, f.says) {
				t.Errorf("reported %q, want %q", said, f.says)
			}
		})
	}
}

// recalling is the right kind, but for what its plan keeps of the run before: its counts, or its noise.
type recalling struct {
	independent
	counts bool
}

func (s *recalling) Plan(in pipeline.Headers) (pipeline.Work, error) {
	w, err := s.independent.Plan(in)
	out := w.Out["model"]
	var before [][]int64
	w.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		exact, err := marginals(ctx, in["in"])
		if err != nil {
			return nil, err
		}
		if s.counts && before != nil {
			exact[0][0] += before[0][0]
		}
		noisy, err := paidFor(env, exact)
		if err != nil {
			return nil, err
		}
		if before == nil {
			before = noisy.([][]int64)
		} else if !s.counts {
			noisy = before
		}
		return release(out, noisy)
	}
	return w, err
}

// Each run of such a plan is right by itself.
func TestPlansThatRememberAreFound(t *testing.T) {
	for what, counts := range map[string]bool{"counts": true, "releases": false} {
		r, s := &recorder{}, &recalling{counts: counts}
		s.NoiseMultiplier = sigma
		r.run(func(t reporter) { checkCase(t, independentKind(), independentCase(s, visitors(40, privacy.AddRemove))) })
		said := strings.Join(r.said, "\n")
		if !strings.Contains(said, "the plan remembers its first run") || strings.Contains(said, "larger than paid for") {
			t.Errorf("%s: reported %q, must be found by two runs and by nothing else", what, said)
		}
	}
}
