package graphical

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
)

// AIM measures every column, then in rounds the marginal that the model of those before
// gets most wrong beyond its noise, and fits a graphical model to all of them.
//
// Input: a private table of plain columns, stability rows(c). Mechanism: integer
// Gaussian noise on histograms; each round chooses its set by an exponential mechanism
// over weighted L1 distances from the model (select: exponential), or by distances with
// Gaussian noise (gaussian). Sensitivity: a histogram moves by 1 (add_remove) or
// sqrt(2) (replace_one) in L2, a distance by 1 or 2, over the largest weight no more.
// Adjacency: either. Guarantee: candidates, noise and epsilon of a round follow from
// earlier rounds, so no list of them is charged but a total: rho-zCDP
// (mechanism.ZCDPFilter), or one Gaussian mechanism where choices are Gaussian too
// (mechanism.GaussianFilter). Reference: McKenna, Mullins, Sheldon, Miklau 2022.
type AIM struct {
	Aim             `yaml:",inline"`
	Columns         `yaml:",inline"`
	Size            `yaml:",inline"`
	Shares          `yaml:",inline"`
	Selection       string  `yaml:"selection" json:"selection" enum:"exponential|gaussian" doc:"How a round chooses: by an exponential mechanism as published, so that the whole stage is charged as zCDP; or by distances with Gaussian noise, so that it is charged as one Gaussian mechanism, which has 6 to 10 % less noise for the same epsilon."`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of the whole stage as one Gaussian mechanism of sensitivity 1 and equal rho; calibrated to the budget by default."`
}

const aimName = "aim"

func aimKind() pipeline.Kind {
	return pipeline.Kind{
		Name: aimName, Version: 5, Late: true,
		Doc: "Measures noisy histograms of all columns and then, round after round, of the set of columns that the model gets most wrong beyond its noise (AIM: McKenna, Mullins, Sheldon, Miklau 2022). " +
			"Use it to compare with what others publish, or for a workload of few marginals; marginal_tree is as accurate in a tenth of the time. " +
			"Takes the table as it is after cleaning, neither cut nor encoded, of stability rows(c). Without a workload all triples of columns matter, or all pairs of more than 30 columns.",
		In: tableIn(), Out: modelOut(),
		Readers: readers(),
		New: func() pipeline.Stage {
			return &AIM{Aim: Aim{TargetWeight: 2}, Size: Size{MaxModelSize: 8}, Shares: Shares{OneWay: 0.35, Select: 0.1}, Selection: "exponential"}
		},
	}
}

// Plan prices the whole stage as one total.
func (s *AIM) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	ps := problems(h, s.Columns, s.Aim, s.Size)
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	l := layoutOf(h.Domain)
	workload := l.workload(s.Aim)
	if n := len(inside(workload)); n > mostCandidates {
		ps.Add("workload", fmt.Sprintf("%d marginals of %d columns, with more than %d sets of columns inside them", len(workload), len(l.core.Columns), mostCandidates), "fewer or smaller marginals: each round looks at every set inside them")
	}
	w := oneEvent(h, s.NoiseMultiplier, "noisy marginals, and in rounds the choice of the next", s.run)
	w.Decide = warned(l, h)
	if s.Selection == "exponential" {
		w.Spends[0].Mechanism = func(scale float64) privacy.Mechanism {
			return mechanism.ZCDPFilter{NoiseMultiplier: scale, Adjacency: h.Terms.Adjacency, Largest: mostMove}
		}
	}
	return w, ps.Err()
}

func (s *AIM) run(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
	f, p, err := begin(ctx, env, t, 0)
	if err != nil {
		return pipeline.Table{}, err
	}
	if err := f.singles(ctx, p, s.Columns, p.total()*s.OneWay); err != nil {
		return pipeline.Table{}, err
	}
	workload := f.workload(s.Aim)
	c, err := f.course(ctx, p, closure(workload), s.limits(), env.Workers)
	if err != nil {
		return pipeline.Table{}, err
	}
	next := c.exponential
	if s.Selection == "gaussian" {
		next = (&ranking{course: c}).next
	}
	if err := c.rounds(ctx, newPace(p.left(), named(workload), s.Select), next); err != nil {
		return pipeline.Table{}, err
	}
	m, err := f.scaled(c.model, s.limits())
	if err != nil {
		return pipeline.Table{}, err
	}
	return f.release(aimName, t.Header, m, s.MaxModelSize)
}

// rounds goes on until all is spent.
func (c *course) rounds(ctx context.Context, pace *pace, next func(ctx context.Context, open []int, sigma, squares float64) (int, error)) error {
	for last := false; !last; {
		var choice, measure float64
		left := c.p.left()
		choice, measure, last = pace.next(left)
		sigma := c.p.sigma(measure)
		open := fitting(c.sizes(), c.measured, c.list, part(c.limits, 1-(left-choice-measure)/c.p.total()))
		at, err := next(ctx, open, sigma, choice)
		if err != nil {
			return err
		}
		if last {
			measure = c.p.left() // to the last bit of the total
		}
		moved, err := c.round(ctx, at, measure)
		if err != nil {
			return err
		}
		pace.learned(moved, sigma, cellsIn(c.sizes(), c.list[at].set))
	}
	return nil
}

// exponential chooses by the weighted distances beyond what noise would give.
func (c *course) exponential(ctx context.Context, open []int, sigma, squares float64) (int, error) {
	open, found, err := c.distances(ctx, open)
	if err != nil {
		return 0, err
	}
	most := 0.0
	for _, at := range open {
		most = max(most, c.list[at].weight)
	}
	scores := make([]float64, len(open))
	for i, at := range open {
		scores[i] = c.list[at].weight / most * (float64(found[i]) - c.noise(at, sigma))
	}
	i, err := c.p.choose(scores, distanceMoves(), squares)
	if err != nil {
		return 0, err
	}
	return open[i], nil
}

// noise is the mean L1 error of a measurement of a candidate.
func (c *course) noise(at int, sigma float64) float64 {
	return float64(absoluteMean * sigma * float64(cellsIn(c.sizes(), c.list[at].set)))
}
