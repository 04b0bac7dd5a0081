package pipelinetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
)

// independent releases one noisy marginal a column: a paid kind that is right, as
// short as it can be, for those that are wrong to be held against.
type independent struct {
	NoiseMultiplier float64 `yaml:"noise_multiplier" json:"noise_multiplier" doc:"Noise of each count."`
}

func (s *independent) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h, out := in["in"], released(in["in"])
	columns := int64(len(h.Domain.Columns))
	return pipeline.Work{
		Out:     pipeline.Headers{"model": out},
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: []pipeline.Spend{{Name: "marginals", Doc: "a noisy marginal of each column",
			Mechanism: func(scale float64) privacy.Mechanism {
				return mechanism.GaussianHistogram{NoiseMultiplier: scale, Releases: columns}
			}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			exact, err := marginals(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			paid, err := env.Privacy.Open("marginals")
			if err != nil {
				return nil, err
			}
			for i := range exact {
				if exact[i], err = mechanism.ReleaseCounts(paid, exact[i]); err != nil {
					return nil, err
				}
			}
			return release(out, exact)
		},
	}, nil
}

func independentKind() pipeline.Kind {
	return pipeline.Kind{Name: "independent", Version: 1,
		Doc: "Releases one noisy marginal a column and nothing of how columns go together. Use it as a floor for better " +
			"models.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A private table of categories."}},
		Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The marginals."}},
		New: func() pipeline.Stage { return &independent{} }}
}

func released(in pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormModel, Domain: in.Domain, Class: pipeline.Released, Terms: in.Terms}
}

// marginals counts the categories of each column, and what is missing.
func marginals(ctx context.Context, t pipeline.Table) ([][]int64, error) {
	counts := make([][]int64, len(t.Domain.Columns))
	for i, c := range t.Domain.Columns {
		counts[i] = make([]int64, len(c.Categories)+1)
	}
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for i := range counts {
			count(counts[i], rec.Column(i))
		}
	}
	return counts, nil
}

func count(counts []int64, a arrow.Array) {
	for j := range a.Len() {
		if a.IsNull(j) {
			counts[len(counts)-1]++
		} else {
			counts[a.(*array.Int32).Value(j)]++
		}
	}
}

func release(h pipeline.Header, numbers ...any) (pipeline.Tables, error) {
	data, err := json.Marshal(numbers)
	return pipeline.Tables{"model": pipeline.WriteFiles(h, []pipeline.File{{Name: "marginals.json", Data: data}})}, err
}

// visitors returns a private table of n rows with three columns of categories.
func visitors(n int, a privacy.Adjacency) Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west", "east", "here"},
			Nullable: true},
		{Name: "grade", Type: domain.Ordinal, Categories: []string{"low", "middle", "high", "top", "beyond"}},
		{Name: "month", Type: domain.Categorical, Categories: []string{"Jan", "Feb", "Mar", "Apr", "May"}},
	}}
	columns := make([][]any, 3)
	for i := range n {
		for j, c := range d.Columns {
			columns[j] = append(columns[j], c.Categories[(i*(j+3)+i/7)%len(c.Categories)])
		}
	}
	h := pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Terms: pipeline.Terms{Adjacency: a,
		Claims: pipeline.ClaimsProven}}
	if a == privacy.ReplaceOne {
		h.Rows = int64(n)
	}
	return Input{Header: pipeline.TableHeader(d, h), Rows: Rows(d, columns...)}
}

func independentCase(stage pipeline.Stage, in Input) Case {
	return Case{Name: fmt.Sprint(in.Header.Terms.Adjacency), Stage: func() pipeline.Stage { return stage },
		In: map[string]Input{"in": in}}
}

// TestIndependentConforms: a paid kind that is right passes, under both adjacencies, for rows, groups and
// units.
func TestIndependentConforms(t *testing.T) {
	groups, units := visitors(40, privacy.AddRemove), visitors(40, privacy.AddRemove)
	groups.Header.Stability = pipeline.Rows(3)
	units.Header.Stability, units.Header.Terms.Unit = pipeline.Rows(9), pipeline.Unit{Column: "region", MaxRows: 9}
	units.Header.Domain.Columns[0].OfUnit = true
	var cases []Case
	for i, in := range []Input{visitors(40, privacy.AddRemove), visitors(40, privacy.ReplaceOne), groups, units} {
		c := independentCase(&independent{NoiseMultiplier: 5}, in)
		c.Name += fmt.Sprint(" ", i)
		cases = append(cases, c)
	}
	CheckKinds(t, []pipeline.Kind{independentKind()}, map[string][]Case{"independent": cases})
}

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

// picked returns a table of rows that are picked, each a batch.
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

// TestWrongPlacesAreFound: each of these passed while rows were added and removed at the end alone.
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

// TestPlansThatRememberAreFound: each run of such a plan is right by itself.
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
