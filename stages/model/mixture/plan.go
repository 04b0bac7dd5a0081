package mixture

import (
	"context"
	"fmt"
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/encoded"
	"weir/stages/model/internal/generator"
	"weir/stages/model/internal/training"
)

// Plan prices the training and the sizes of strata.
func (s *Mixture) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	rate := s.Rate(h, &ps)
	if err := s.Prior.Check(); err != nil {
		ps.Add("prior", err.Error(), "within reach")
	}
	l := newLayout(s.Shape, h.Domain, &ps)
	if len(ps) == 0 {
		s.fits(l, &ps)
		if err := artifact.CheckDomain(h.Domain); err != nil {
			ps.Add("from", "a table of which a model cannot be released: "+err.Error(), "a table whose model can be read back")
		}
	}
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	if err := training.InReach(s.DPSGD(1, rate, l.params())); err != nil {
		return pipeline.Work{}, err
	}
	out := encoded.ModelHeader(h)
	out.Scores = true
	return pipeline.Work{
		Out:      pipeline.Headers{"model": out},
		Spends:   s.spends(l, rate),
		Terms:    pipeline.Pricing{Scale: s.NoiseMultiplier, Published: s.published(h, l, rate)},
		Findings: s.Findings("expected_batch_size", h),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			m, err := s.learn(ctx, env, in["in"], l)
			if err != nil {
				return nil, err
			}
			model, err := m.pack(out)
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

func (s *Mixture) spends(l *layout, rate float64) []pipeline.Spend {
	list := []pipeline.Spend{{Name: training.Spend,
		Doc:       fmt.Sprintf("DP variational inference of %d parameters of %s, sampling rate %.4g", l.params(), counted(len(l.strata), "mixture", "mixtures"), rate),
		Mechanism: func(scale float64) privacy.Mechanism { return s.DPSGD(scale, rate, l.params()) }}}
	if len(l.stratify) > 0 {
		list = append(list, pipeline.Spend{Name: sizesSpend, Doc: fmt.Sprintf("how many rows each of %d strata has", len(l.strata)),
			Mechanism: func(scale float64) privacy.Mechanism {
				return mechanism.GaussianHistogram{NoiseMultiplier: s.sizesNoise(scale, rate), Releases: 1}
			}})
	}
	return list
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// fits is a problem where the parameters could not be held: beside what a net takes, their
// law's second half, and in float64 tables by code, sums on every core and the prior.
func (s *Mixture) fits(l *layout, ps *schema.Problems) {
	const copies = 2*generator.NetCopies + 24
	generator.Fits(ps, generator.Costs("components", fmt.Sprintf("%d in each of %s", s.Components, counted(len(l.strata), "stratum", "strata")), copies*float64(l.params())))
}

const (
	leastNoise = 0x1p-10 // of integers: none shows; what a run without privacy has
	mostNoise  = 0x1p24
)

// sizesNoise is the multiplier of the sizes at that of DP-SGD: SizesShare is theirs of the
// squared privacy loss.
func (s *Mixture) sizesNoise(scale, rate float64) float64 {
	return math.Min(math.Max(s.NoiseBeside(scale, rate, s.SizesShare), leastNoise), mostNoise)
}
