package pipelinetest

import (
	"context"
	"encoding/json"
	"fmt"
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
		Out:   pipeline.Headers{"model": out},
		Terms: pipeline.Pricing{Scale: s.NoiseMultiplier},
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
		Doc: "Releases one noisy marginal a column and nothing of how columns go together. Use it as a floor for better models.",
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

// visitors is a private table of n rows with three columns of categories.
func visitors(n int, a privacy.Adjacency) Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west", "east", "here"}, Nullable: true},
		{Name: "grade", Type: domain.Ordinal, Categories: []string{"low", "middle", "high", "top", "beyond"}},
		{Name: "month", Type: domain.Categorical, Categories: []string{"Jan", "Feb", "Mar", "Apr", "May"}},
	}}
	columns := make([][]any, 3)
	for i := range n {
		for j, c := range d.Columns {
			columns[j] = append(columns[j], c.Categories[(i*(j+3)+i/7)%len(c.Categories)])
		}
	}
	h := pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Terms: pipeline.Terms{Adjacency: a, Claims: pipeline.ClaimsProven}}
	if a == privacy.ReplaceOne {
		h.Rows = int64(n)
	}
	return Input{Header: pipeline.TableHeader(d, h), Rows: Rows(d, columns...)}
}

func independentCase(stage pipeline.Stage, in Input) Case {
	return Case{Name: fmt.Sprint(in.Header.Terms.Adjacency), Stage: func() pipeline.Stage { return stage }, In: map[string]Input{"in": in}}
}

// A paid kind that is right passes, under both adjacencies, for rows, groups and
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
