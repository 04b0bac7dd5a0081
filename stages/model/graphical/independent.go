package graphical

import (
	"context"
	"slices"

	"weir/pipeline"
	"weir/train/graphical"
)

// Independent measures every column on its own.
//
// Input: a private table of plain columns, stability rows(c). Mechanism: integer
// Gaussian noise on histograms of columns. Sensitivity: each moves by 1 (add_remove)
// or sqrt(2) (replace_one) in L2. Adjacency: either. Guarantee: that of one Gaussian
// mechanism (mechanism.GaussianFilter). Reference: docs/marginals.md.
type Independent struct {
	Columns         `yaml:",inline"`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of the whole stage as one Gaussian mechanism of sensitivity 1; calibrated to the budget by default."`
}

const independentName = "independent"

func independentKind() pipeline.Kind {
	return pipeline.Kind{
		Name: independentName, Version: 5, Late: true,
		Doc: "Measures a noisy histogram of each column and releases the model in which columns are independent. " +
			"Use it as the floor that other models have to beat, and where rows are so few that noise drowns every pair. " +
			"Takes the table as it is after cleaning, neither cut nor encoded, of stability rows(c).",
		In: tableIn(), Out: modelOut(),
		Readers: readers(),
		New:     func() pipeline.Stage { return &Independent{} },
	}
}

// Plan prices the whole stage as one Gaussian mechanism.
func (s *Independent) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	ps := problems(h, s.Columns, Aim{}, Size{defaultSize})
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	work, l := oneEvent(h, s.NoiseMultiplier, "noisy marginals of columns (numbers in rounds)", s.run), layoutOf(h.Domain)
	work.Decide = func(scale float64) pipeline.Decision { return s.decide(l, factsOf(l.header(h), 0, scale)) }
	return work, nil
}

func (s *Independent) decide(l layout, f facts) pipeline.Decision {
	return pipeline.Decision{Decided: slices.Concat(l.decided(), f.counts(), f.bins(s.Columns, l.core)), Findings: f.flags(l, 1)}
}

func (s *Independent) run(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
	f, p, err := begin(ctx, env, t, 0)
	if err != nil {
		return pipeline.Table{}, err
	}
	return s.learn(ctx, env, f, p, t.Header)
}

// learn releases the columns once, and what heaps left over once more.
func (s *Independent) learn(ctx context.Context, env *pipeline.Env, f *front, p *purse, h pipeline.Header) (pipeline.Table, error) {
	if err := f.singles(ctx, p, s.Columns, p.total()); err != nil {
		return pipeline.Table{}, err
	}
	if err := f.again(ctx, p); err != nil {
		return pipeline.Table{}, err
	}
	f.counted()
	m, err := f.fit(ctx, graphical.DefaultLimits(), env.Workers)
	if err != nil {
		return pipeline.Table{}, err
	}
	return f.release(independentName, h, m, defaultSize)
}
