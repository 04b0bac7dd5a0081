// Package mixture holds the kind that learns a private table as a mixture of components whose
// columns are independent, by variational inference under a budget.
package mixture

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/privacy/published"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/training"
	"weir/train"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind { return []pipeline.Kind{mixtureKind()} }

// Shape says what a mixture is of: what a plan and a released model have in common.
type Shape struct {
	Components int               `yaml:"components" json:"components" min:"1" max:"1000" doc:"Components of a stratum's mixture. More follow the rows more closely and cost more noise."`
	Families   map[string]string `yaml:"families,omitempty" json:"families,omitempty" format:"columns" doc:"Law of a column of numbers inside a component: beta on its declared bounds (the default), normal on them, or poisson for whole numbers, counted from the lower bound. Categories have one of their own: bernoulli for two, else categorical."`
	Prior      Prior             `yaml:"prior" json:"prior" doc:"What is known before any row; uniform but for numbers by default."`
	Stratify   []string          `yaml:"stratify,omitempty" json:"stratify,omitempty" format:"columns" doc:"Columns of categories each combination of whose values has a mixture of its own. How many rows have each is released, with noise, for sizes_share of the budget; rows are drawn in these proportions."`
	Structural []Structural      `yaml:"structural,omitempty" json:"structural,omitempty" doc:"Values that columns have in some strata without exception, by public knowledge: they are not learned, and rows are drawn with them."`
}

// Structural fixes columns in some strata.
type Structural struct {
	Where map[string]domain.Choice `yaml:"where" json:"where" required:"true" doc:"Values by column of stratify: the strata that the rule is about."`
	Set   map[string]schema.Text   `yaml:"set" json:"set" required:"true" doc:"The one value of each column there: a category, a number, or missing."`
}

// Mixture is the model of Jalko, Lagus, Tan, Honkela 2021 (Privacy-preserving data sharing
// via probabilistic modelling), learned by DP variational inference.
//
// Input: a private table of plain columns, of stability rows(c). Mechanisms:
//
//  1. steps noisy sums of the gradients of rows' log likelihoods for the parameters of all
//     strata at once (Objective, train.FitMeanField), each row with one coin a step
//     and one clip, max_grad_norm, over all parameters. Sensitivity: max_grad_norm for one
//     row, twice that under replace_one, also for a row that moves between strata: one
//     removal and one addition.
//  2. with stratify, one histogram of the rows of each stratum, over the product of declared
//     categories. Sensitivity: 1 under add_remove, sqrt 2 under replace_one, where a row
//     leaves one stratum and joins another.
//
// Adjacency: of the spec. Guarantee: as for repeated(steps, poisson_sampled(gaussian)) and
// gaussian together, for all that is released: the law of every parameter and the noisy sizes.
// Which strata fall back to the prior is a function of the noisy sizes and of settings.
type Mixture struct {
	training.Settings `yaml:",inline" keys:"steps expected_batch_size sampling_rate max_grad_norm noise_multiplier components families prior stratify structural sizes_share learning_rate average checkpoint_every" doc.learning_rate:"Learning rate of Adam (betas 0.9, 0.999)." max.learning_rate:"1" doc.average:"Decay of the running average of the law of the parameters, which is what is released; 0 releases the last one."`
	Shape             `yaml:",inline"`
	SizesShare        float64 `yaml:"sizes_share" json:"sizes_share" exclusiveMin:"0" exclusiveMax:"1" doc:"With stratify: share of the sizes of strata in the squared privacy loss of the stage."`
}

const (
	mixtureName = "mixture"
	sizesSpend  = "sizes"
)

func mixtureKind() pipeline.Kind {
	return pipeline.Kind{
		Name: mixtureName, Version: 2, Late: true,
		Doc: "Mixture of components with independent columns. Learns a mixture of components whose columns are " +
			"independent, by DP variational inference (Jalko et al. " +
			"2021), and releases the law of its parameters. " +
			"Rows are drawn from the posterior predictive, each with parameters of its own. Knowledge can be built in: strata " +
			"with a mixture each, values that are fixed in some, priors. " +
			"Use it where columns are many and categories few, such as wide tables of yes and no, or where strata are what " +
			"matters. Takes the table as it is after cleaning, not encoded, of stability rows(c); numbers may be cut before " +
			"(discretize). Takes bounds that a stage of the same run releases (dp_bounds), not categories.",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable,
			Doc: "A private table of categories and bounded numbers."}},
		Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel,
			Doc: "The law of the parameters, and the sizes of strata."}},
		Readers: []pipeline.Reader{artifact.Decoder{Format: format, Decode: decode}, artifact.ScorerDecoder{Format: format,
			Decode: decodeScorer}},
		New: func() pipeline.Stage {
			return &Mixture{Shape: Shape{Components: 10, Prior: UniformPrior()}, SizesShare: 0.05,
				Settings: training.Settings{Sampling: training.Sampling{Steps: 4000, ExpectedBatchSize: 300, MaxGradNorm: 1},
					LearningRate: 0.03, Average: 0.999, CheckpointEvery: 5000}}
		},
	}
}

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
	out := training.ModelHeader(h)
	out.Scores = true
	return pipeline.Work{
		Out:      pipeline.Headers{"model": out},
		Spends:   s.spends(l, rate),
		Pricing:  pipeline.Pricing{Scale: s.NoiseMultiplier, Published: s.published(h, l, rate)},
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
		Doc: fmt.Sprintf("DP variational inference of %d parameters of %s, sampling rate %.4g", l.params(),
			counted(len(l.strata), "mixture", "mixtures"), rate),
		Mechanism: func(scale float64) privacy.Mechanism { return s.DPSGD(scale, rate, l.params()) }}}
	if len(l.stratify) > 0 {
		list = append(list, pipeline.Spend{Name: sizesSpend, Doc: fmt.Sprintf("how many rows each of %d strata has",
			len(l.strata)),
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

// fits adds a problem where the parameters could not be held: beside what a net takes, their
// law's second half, and in float64 tables by code, sums on every core and the prior.
func (s *Mixture) fits(l *layout, ps *schema.Problems) {
	const copies = 2*training.NetCopies + 24
	training.Fits(ps, training.Costs("components", fmt.Sprintf("%d in each of %s", s.Components,
		counted(len(l.strata), "stratum", "strata")), copies*float64(l.params())))
}

const (
	leastNoise = 0x1p-10 // of integers: none shows; what a run without privacy has
	mostNoise  = 0x1p24
)

// sizesNoise returns the multiplier of the sizes at a multiplier of DP-SGD: SizesShare is their share of the
// squared privacy loss.
func (s *Mixture) sizesNoise(scale, rate float64) float64 {
	return math.Min(math.Max(s.NoiseBeside(scale, rate, s.SizesShare), leastNoise), mostNoise)
}

// learn reads the table, and then pays: one that cannot be read costs nothing.
func (s *Mixture) learn(ctx context.Context, env *pipeline.Env, t pipeline.Table, l *layout) (*model, error) {
	read, err := columns.ReadCodes(ctx, t, l.grids)
	if err != nil {
		return nil, err
	}
	group := l.stratumOf(read)
	o, err := NewObjective(l.posterior(), l.values(read), group)
	if err != nil {
		return nil, err
	}
	paid, hooks, err := training.Pay(env, s.CheckpointEvery)
	if err != nil {
		return nil, err
	}
	m := &model{Domain: t.Domain, Shape: s.Shape, layout: l}
	if err := s.sizes(env, m, group, t.Rows); err != nil {
		return nil, err
	}
	config := train.FitConfig{Optimiser: train.Adam(s.LearningRate, 0.9, 0.999), Average: s.Average}
	law, err := train.FitMeanField(ctx, config, o, o.Gradient(s.Prior), start(o.Params(), env.Rand("start")), read.Rows,
		env.Rand("theta").Uint64(), paid, hooks)
	if err != nil {
		return nil, err
	}
	m.keep(law, paid.Mechanism().(train.DPSGD))
	return m, nil
}

// start returns a law of means near 0, different for each component, and of deviations that leave
// components apart.
func start(params int, r *rand.Rand) train.MeanField {
	law := train.MeanField{Mean: make([]float32, params), LogDeviation: make([]float32, params)}
	for i := range law.Mean {
		law.Mean[i], law.LogDeviation[i] = float32(float64(r.Float64())-0.5), startLogDeviation
	}
	return law
}

const startLogDeviation = -2

// stratumOf returns the stratum of each row.
func (l *layout) stratumOf(read *columns.Codes) []uint16 {
	group := make([]uint16, read.Rows)
	for _, at := range l.stratify {
		cells := uint16(l.grids[at].Cells())
		for i, cell := range read.Columns[at] {
			group[i] = group[i]*cells + cell
		}
	}
	return group
}

// values returns the parts of all rows.
func (l *layout) values(read *columns.Codes) []Values {
	list := make([]Values, len(l.parts))
	for i, p := range l.parts {
		cells, g := read.Columns[p.column], l.grids[p.column]
		switch {
		case p.absent:
			list[i].Cells = make([]uint16, len(cells))
			for row, cell := range cells {
				if int(cell) >= g.Values() {
					list[i].Cells[row] = 1
				}
			}
			continue
		case !g.Coded():
			for cell := range g.Cells() {
				list[i].Numbers = append(list[i].Numbers, l.number(p, cell))
			}
		}
		list[i].Cells = cells
	}
	return list
}

// sizes releases how many rows each stratum has, between 0 and the rows of the table where
// that number is public. Without strata there is nothing to release.
func (s *Mixture) sizes(env *pipeline.Env, m *model, group []uint16, public int64) error {
	if len(m.layout.stratify) == 0 {
		return nil
	}
	paid, err := env.Privacy.Open(sizesSpend)
	if err != nil {
		return err
	}
	counts := make([]int64, len(m.layout.strata))
	for _, stratum := range group {
		counts[stratum]++
	}
	if m.Sizes, err = mechanism.ReleaseCounts(paid, counts); err != nil {
		return err
	}
	m.deviation = paid.Mechanism().(mechanism.GaussianHistogram).Deviation()
	for i, n := range m.Sizes {
		if m.Sizes[i] = max(n, 0); public > 0 {
			m.Sizes[i] = min(m.Sizes[i], public)
		}
	}
	return nil
}

// keep takes the law of every stratum that has rows enough; the others have the prior. A
// stratum is small where its noisy size is below
//
//   - three deviations of the noise on it: it may have no row at all; or
//   - sigma sqrt(D)/(q sqrt(T)): all its gradients, each as long as the clip and in one direction,
//     q T of each row, are shorter than the noise of T steps on its D parameters.
//
// Both are functions of what is released and of settings.
func (m *model) keep(law train.MeanField, c train.DPSGD) {
	pos := 0
	for i, s := range m.layout.strata {
		n := s.Params()
		if m.Sizes == nil || float64(m.Sizes[i]) >= m.leastSize(n, c) {
			m.mean, m.log = append(m.mean, law.Mean[pos:][:n]...), append(m.log, law.LogDeviation[pos:][:n]...)
		} else {
			m.PriorOnly = append(m.PriorOnly, i)
		}
		pos += n
	}
}

func (m *model) leastSize(params int, c train.DPSGD) float64 {
	noise := c.NoiseMultiplier * math.Sqrt(float64(params)) / (c.SamplingRate * math.Sqrt(float64(c.Steps)))
	return math.Max(3*m.deviation, noise)
}

// published returns the arithmetic of the paper's programs, which know one adjacency: replace_one.
// The sizes of strata are a release more of the same accountant; the paper adds .01 for the size
// of one class under Laplace noise of scale 100.
func (s *Mixture) published(h pipeline.Header, l *layout, rate float64) *pipeline.Published {
	if h.Terms.Adjacency != privacy.ReplaceOne || h.Stability != pipeline.Rows(1) {
		return nil // it is about one row that is replaced
	}
	return &pipeline.Published{
		Method: "Jälkö et al. 2021: twice the add_remove epsilon at half of delta, Renyi orders below 500, classic " +
			"conversion; its batches, of a fixed size without replacement, count as Poisson samples",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			phases := []published.Phase{{SamplingRate: rate, NoiseMultiplier: multiplier, Steps: int64(s.Steps)}}
			if len(l.stratify) > 0 {
				phases = append(phases, published.Phase{SamplingRate: 1, NoiseMultiplier: s.sizesNoise(multiplier, rate), Steps: 1})
			}
			return published.Jalko(delta, phases...)
		},
	}
}
