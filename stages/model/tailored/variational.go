package tailored

import (
	"context"
	"fmt"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/published"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// Variational is how Jalko, Lagerspetz, Haukka, Tarkoma, Honkela, Kaski 2021 tailor a logistic
// regression: variational inference by DP-SGD, of a normal law of independent coefficients.
//
// Input: bounded rows. Mechanism: steps noisy sums of per-row gradients on Poisson samples
// (their program draws batches without replacement), clipped to max_grad_norm over all
// coefficients (train.FitMeanField). Sensitivity: max_grad_norm for one row, twice that where it is
// replaced. Guarantee: as for repeated(T steps, poisson_sampled(gaussian)); the
// runs of the other T-1 queries are charged beside it and reserved.
type Variational struct {
	training.Settings `yaml:",inline" keys:"steps sampling_rate expected_batch_size max_grad_norm learning_rate" required.steps:"true" doc.steps:"Noisy steps; the paper has 10000." required.sampling_rate:"true" doc.sampling_rate:"Probability that a row is in a step's batch; the paper has 0.002." required.expected_batch_size:"true" doc.expected_batch_size:"Public divisor of the noisy sum, sampling_rate times about as many rows as there are." required.max_grad_norm:"true" doc.max_grad_norm:"Bound on the L2 norm of one row's gradient; the paper has 5." required.learning_rate:"true" doc.learning_rate:"Learning rate of Adam; the paper has 0.01." max.learning_rate:"1"`
}

func (v *Variational) dpsgd(scale float64, weights int) train.DPSGD {
	return v.DPSGD(scale, v.SamplingRate, weights)
}

// reserved are runs that are paid for and not carried out here.
type reserved struct {
	train.DPSGD
	Runs int
}

const reservedName = "reserved"

// Event returns the event of all the runs.
func (r reserved) Event(a privacy.Adjacency) privacy.Event {
	e := r.DPSGD.Event(a).(privacy.Repeated)
	e.Count *= int64(r.Runs)
	return e
}

// Uses returns 0: nothing can be drawn on what is reserved.
func (r reserved) Uses() int64 { return 0 }

// varied prices a variational fit and carries it out.
func (s *Logistic) varied(h pipeline.Header, m question.Regression) (pipeline.Work, error) {
	v, out, weights := s.Variational, question.RegressionHeader(h), m.Design().Terms()
	if weights == 1 {
		var ps schema.Problems
		ps.Add("columns", "columns of one category each, which leave the intercept alone",
			"a column of more values, where variational is set")
		return pipeline.Work{}, ps.Err()
	}
	if err := training.InReach(v.dpsgd(1, weights)); err != nil {
		return pipeline.Work{}, err
	}
	w := pipeline.Work{
		Out:      pipeline.Headers{"out": out},
		Findings: s.findings(),
		Spends: []pipeline.Spend{{Name: training.Spend, Doc: fmt.Sprintf("DP-SGD on a law of %d coefficients, sampling "+
			"rate %.4g", weights, v.SamplingRate),
			Mechanism: func(scale float64) privacy.Mechanism { return v.dpsgd(scale, weights) }}},
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier, Published: s.published(h)},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			b, err := s.vary(ctx, env, m, in["in"])
			if err != nil {
				return nil, err
			}
			t, err := released(env, s.Queries, v.Steps, m, b).Write(out)
			return pipeline.Tables{"out": t}, err
		},
	}
	if s.Queries > 1 {
		w.Spends = append(w.Spends, pipeline.Spend{Name: reservedName,
			Doc:       fmt.Sprintf("the same for the other %d of %d such queries that are charged", s.Queries-1, s.Queries),
			Mechanism: func(scale float64) privacy.Mechanism { return reserved{v.dpsgd(scale, weights), s.Queries - 1} }})
	}
	return w, nil
}

// vary finds the law.
func (s *Logistic) vary(ctx context.Context, env *pipeline.Env, m question.Regression,
	t pipeline.Table) (b question.Belief,
	err error) {
	f, err := columns.Read(ctx, t)
	if err != nil {
		return b, err
	}
	o, err := objective(m.Rows(f))
	if err != nil {
		return b, err
	}
	paid, hooks, err := training.Pay(env, s.Variational.Steps)
	if err != nil {
		return b, err
	}
	if s.Queries > 1 {
		if _, err := env.Privacy.Open(reservedName); err != nil {
			return b, err
		}
	}
	precision := m.Prior()
	prior := func(gradient []float64, w []float32) {
		for j, v := range w {
			gradient[j] = -float64(precision[place(j, len(w))] * float64(v))
		}
	}
	start := train.MeanField{Mean: make([]float32, o.Params()), LogDeviation: make([]float32, o.Params())}
	for j := range start.LogDeviation {
		start.LogDeviation[j] = -1
	}
	config := train.FitConfig{Optimiser: train.Adam(s.Variational.LearningRate, 0.9, 0.999)}
	law, err := train.FitMeanField(ctx, config, o, prior, start, f.Rows, env.Rand("theta").Uint64(), paid, hooks)
	if err != nil {
		return b, err
	}
	mean, deviation := make([]float64, o.Params()), make([]float64, o.Params())
	for j, v := range law.Mean {
		mean[place(j, len(mean))], deviation[place(j, len(mean))] = float64(v), bitmath.Exp(float64(law.LogDeviation[j]))
	}
	return question.IndependentBelief(mean, deviation), nil
}

// place returns the place of a weight of the net, whose bias is last, among coefficients, whose
// intercept is first.
func place(weight, weights int) int { return (weight + 1) % weights }

// objective returns the net of one layer whose loss is minus the log likelihood of a row.
func objective(r question.RegressionRows) (*train.Supervised, error) {
	terms := r.Terms() - 1
	values, outcomes := make([]float32, 0, terms*r.Len()), make([]float32, 0, r.Len())
	x := make([]float64, terms+1)
	for i := range r.Len() {
		outcomes = append(outcomes, float32(r.Row(i, x)))
		for _, v := range x[1:] {
			values = append(values, float32(v))
		}
	}
	in, out := train.NewRows(r.Len()), train.NewRows(r.Len())
	if err := in.NumericBlock(values, terms); err != nil {
		return nil, err
	}
	if err := out.Numeric(outcomes); err != nil {
		return nil, err
	}
	n, err := net.New(net.Spec{Inputs: terms, Layers: []net.Layer{net.Dense(1)}})
	if err != nil {
		return nil, err
	}
	return train.NewSupervised(n, in, out, net.BCE)
}

// published returns the arithmetic of the paper's program for T queries, of which this is one. It is
// about one row that is replaced.
func (s *Logistic) published(h pipeline.Header) *pipeline.Published {
	if h.Terms.Adjacency != privacy.ReplaceOne || h.Stability != pipeline.Rows(1) {
		return nil
	}
	v := s.Variational
	return &pipeline.Published{
		Method: "Jälkö et al. 2021: T times twice the add_remove epsilon at half of delta, Renyi orders below 500, classic " +
			"conversion; its batches, of a fixed size without replacement, count as Poisson samples",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			one, err := published.Jalko(delta, published.Phase{SamplingRate: v.SamplingRate, NoiseMultiplier: multiplier,
				Steps: int64(v.Steps)})
			return float64(s.Queries) * one, err
		}}
}
