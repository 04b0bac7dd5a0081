package graphical

import (
	"context"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/schema"
)

// Auto takes the kind that serves a table best.
//
// Input, adjacency and guarantee: those of the kinds it takes (MarginalTree,
// Independent), which charge one and the same mechanism.GaussianFilter. Mechanism:
// theirs; the choice is none. It follows from rows that are public or stated, the
// number of columns and the noise of the plan (facts), so that the plan says it before
// a row is read and no row can change it. Reference: docs/marginals.md, what auto decides.
type Auto struct {
	Aim             `yaml:",inline"`
	Columns         `yaml:",inline"`
	Size            `yaml:",inline"`
	Sets            `yaml:",inline"`
	Rows            int64   `yaml:"rows,omitempty" json:"rows,omitempty" min:"1" doc:"Order of magnitude of the rows, from public knowledge, where their count is not public; it decides the kind, and what part of the budget columns on their own get, alone."`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of the whole stage as one Gaussian mechanism of sensitivity 1; calibrated to the budget by default."`
}

const autoName = "auto"

func autoKind() pipeline.Kind {
	return pipeline.Kind{
		Name: autoName, Version: 6, Late: true,
		Doc: "Takes the model that serves the table best, from public facts alone, and the plan says which and why: independent where the rows (n) and " +
			"the noise (mu) are such that n mu is below 8 for each column, else marginal_tree. Use it unless you know better. " +
			"Takes the table as it is after cleaning, neither cut nor encoded, of stability rows(c): numbers need bounds, categories a list; missing values are a category.",
		In: tableIn(), Out: modelOut(),
		Readers: readers(),
		New: func() pipeline.Stage {
			tree := marginalTreeKind().New().(*MarginalTree)
			return &Auto{Aim: tree.Aim, Size: tree.Size}
		},
	}
}

// Plan is that of either kind: both check the same and charge one filter. What the
// noise decides follows when the bill is known.
func (s *Auto) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	work, err := s.tree().Plan(in)
	if err != nil {
		return pipeline.Work{}, err
	}
	work.Spends[0].Doc = "noisy marginals of columns (numbers in rounds)" + s.spendDoc() + ", and of chosen pairs where noise leaves any"
	l := layoutOf(h.Domain)
	work.Decide = func(scale float64) pipeline.Decision { return s.decide(l, factsOf(l.header(h), s.Rows, scale)) }
	work.Run = releasing(h, func(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
		f, p, err := begin(ctx, env, t, s.Rows)
		if err != nil {
			return pipeline.Table{}, err
		}
		return s.kind(factsOf(l.header(h), s.Rows, p.scale())).learn(ctx, env, f, p, t.Header)
	})
	return work, nil
}

// learner is a kind that auto may take.
type learner interface {
	decide(layout, facts) pipeline.Decision
	learn(context.Context, *pipeline.Env, *front, *purse, pipeline.Header) (pipeline.Table, error)
}

func (s *Auto) tree() *MarginalTree {
	tree := marginalTreeKind().New().(*MarginalTree)
	tree.Aim, tree.Columns, tree.Size, tree.Sets, tree.NoiseMultiplier = s.Aim, s.Columns, s.Size, s.Sets, s.NoiseMultiplier
	return tree
}

// kind is the choice, a function of public facts: it gets no table. Where independent is taken there are no sets to
// measure: the plan has refused them.
func (s *Auto) kind(f facts) learner {
	if f.below(drown) {
		return &Independent{Columns: s.Columns, NoiseMultiplier: s.NoiseMultiplier}
	}
	tree := s.tree()
	if f.rows > 0 && !f.count {
		tree.OneWay = f.oneWay() * (1 - tree.fixedPart())
	}
	return tree
}

// decide says which kind is taken, why, and what its open settings are.
func (s *Auto) decide(l layout, f facts) pipeline.Decision {
	taken := pipeline.Decided{Setting: "kind", Value: treeName}
	switch {
	case f.below(drown):
		taken.Value, taken.Why = independentName, f.words()+", below "+f.limit(drown)+": noise would drown most pairs of columns"
	case f.known():
		taken.Why = f.words() + ", at least " + f.limit(drown)
	case f.rows == 0:
		taken.Why = "the number of rows is not public"
	default:
		taken.Why = "there is no noise"
	}
	decided := []pipeline.Decided{taken}
	of := s.kind(f)
	if tree, ok := of.(*MarginalTree); ok && tree.OneWay > 0 && f.known() {
		decided = append(decided, f.sayOneWay(tree.OneWay, tree.fixedPart()))
	}
	own := of.decide(l, f)
	flags := slices.DeleteFunc(own.Findings, func(x pipeline.Finding) bool { return x.Rule != "W45" }) // of the kind that is taken
	return pipeline.Decision{Decided: append(decided, own.Decided...), Findings: slices.Concat(f.drowned(""), f.unknown(), flags), Refused: s.refused(f)}
}

// refused are the sets to measure where the kind that is taken measures none.
func (s *Auto) refused(f facts) (ps schema.Problems) {
	if len(s.Measure) > 0 && f.below(drown) {
		ps.Add("measure", fmt.Sprintf("sets of columns where auto takes %s, which measures none: %s, below %s", independentName, f.words(), f.limit(drown)),
			"left out, or of kind: "+treeName+", which measures them whatever the noise, or beside fewer columns or a larger budget")
	}
	return ps
}
