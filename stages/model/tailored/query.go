// Package tailored holds the kinds that answer declared questions about a private table
// under a budget, each by the mechanism that suits it, where other models release rows
// that any question can be asked of (docs/design/tailored.md).
package tailored

import (
	"context"
	"fmt"
	"math"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
)

// Kinds lists the kinds of this family.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{queryKind(), covarianceKind(), logisticKind(), poissonKind()}
}

// Query answers a list of questions.
//
// Input: a private table, stability rows(c). Mechanism: integer Gaussian noise on the tally
// of each count, mean and histogram, all under one mechanism.GaussianFilter; an exponential
// mechanism for each quantile (mechanism.Quantile). Sensitivity: the moves of each tally, by
// question.Moves; of a quantile's scores max(q, 1-q) or 1. Adjacency: either. Guarantee: as for
// one Gaussian mechanism and the exponential ones, composed; nothing is chosen after
// looking. Every question gets an equal part of the squares: (moves/sigma)^2 of a tally, and
// epsilon^2/4 of a quantile, twice its zero-concentrated rho (Cesar, Rogers 2021). What is
// read off noisy tallies is post-processing, the division of a noisy sum by a noisy number
// of rows included. Of a budget for T queries all T are charged and the noise is the noise of
// one: a T-th of the filter's total, and T selections of which one is drawn.
// Reference: docs/design/tailored.md.
type Query struct {
	Shares          `yaml:",inline"`
	Questions       []question.Question `yaml:"questions" json:"questions" required:"true" minItems:"1" doc:"What is asked; each gets an equal part of the budget."`
	NoiseMultiplier float64             `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of all questions of all queries as one Gaussian mechanism of sensitivity 1; found from the budget where it is not given."`
}

const queryName = "dp_query"

func queryKind() pipeline.Kind {
	return pipeline.Kind{
		Name: queryName, Version: 2,
		Doc: "Answers a declared list of questions with 95 % intervals of the noise. Questions ask for counts, means, " +
			"quantiles and histograms. " +
			"Use it where the questions are known: a few answers are more accurate than a synthetic table of the same " +
			"epsilon, many are not (queries, and the kind compare_queries). " +
			"Questions read {name: elderly_women, ask: count, where: [{column: age, from: 65}, {column: sex, in: [female]}]} " +
			"or {name: median_age, ask: quantile, quantile: 0.5, column: age}: in lists categories, from and to are the ends " +
			"of numbers (sample's where and the rules of a domain are spelled otherwise). " +
			"A mean is the noisy sum over the number of rows, the public one where all rows of a public number are asked " +
			"about, else a noisy one of the same release. " +
			"A quantile has no interval: its note bounds the rank. release/ gets STAGE.answers.csv and STAGE.answers.json. " +
			"Needs a table of stability rows(c).",
		In: tableIn(), Out: question.Port(),
		New: func() pipeline.Stage { return &Query{Shares: Shares{Queries: 1}} },
	}
}

// Plan prices tallies as one Gaussian mechanism, and each quantile.
func (s *Query) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	list := question.Check(&ps, "questions", s.Questions, h.Domain, columns.PublicRows(h))
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	out, l := question.Header(h), lot{list, s.Queries, h.Terms.Adjacency}
	return pipeline.Work{Out: pipeline.Headers{"out": out}, Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: l.spends(),
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			read, err := readFor(ctx, in["in"], list)
			if err != nil {
				return nil, err
			}
			answers, err := l.answer(ctx, env, read)
			if err != nil {
				return nil, err
			}
			t, err := question.Answers{Stage: env.Stage, Kind: queryName, Of: s.Queries, Asked: list, List: answers}.Write(out)
			return pipeline.Tables{"out": t}, err
		}}, nil
}

// tallied is what a question needs of a table: its tally, or the values of a quantile.
type tallied struct {
	tally  []int64
	values []float64
}

// readFor reads a table once, in the memory of tallies and of the values of quantiles.
func readFor(ctx context.Context, t pipeline.Table, list []question.Resolved) ([]tallied, error) {
	read := make([]tallied, len(list))
	for f, err := range columns.Batches(ctx, t) {
		for i := 0; err == nil && i < len(list); i++ {
			err = read[i].add(ctx, list[i], f)
		}
		if err != nil {
			return nil, err
		}
	}
	return read, nil
}

func (r *tallied) add(ctx context.Context, a question.Resolved, f *columns.Frame) error {
	if a.Ask == question.Quantile {
		r.values = append(r.values, a.Values(f)...)
		return nil
	}
	part, err := a.Tally(ctx, f)
	if r.tally == nil {
		r.tally = make([]int64, len(part))
	}
	for i, n := range part {
		r.tally[i] += n
	}
	return err
}

// lot is the questions of a stage, of which several share a budget.
type lot struct {
	asked     []question.Resolved
	queries   int
	adjacency privacy.Adjacency
}

// tallies returns how many questions have one; the others are quantiles.
func (l lot) tallies() (n int) {
	for _, a := range l.asked {
		if a.Ask != question.Quantile {
			n++
		}
	}
	return n
}

func (l lot) spends() (list []pipeline.Spend) {
	if n := l.tallies(); n > 0 {
		list = append(list, pipeline.Spend{Name: answersName, Doc: "noisy counts and sums" + ofSeveral(l.queries),
			Mechanism: func(scale float64) privacy.Mechanism {
				part := math.Sqrt(float64(len(l.asked)) / float64(n))
				return mechanism.GaussianFilter{NoiseMultiplier: scale * part, Adjacency: l.adjacency, Largest: l.largest(n)}
			}})
	}
	for i, a := range l.asked {
		if a.Ask == question.Quantile {
			list = append(list, pipeline.Spend{Name: quantileName(i), Doc: "a quantile of " + a.Column + ofSeveral(l.queries),
				Mechanism: func(scale float64) privacy.Mechanism { return l.quantile(a, scale) }})
		}
	}
	return list
}

// largest returns the largest part, as mechanism.GaussianFilter does, of so many tallies with equal parts.
func (l lot) largest(tallies int) (most float64) {
	for _, a := range l.asked {
		if a.Ask != question.Quantile {
			most = math.Max(most, a.Moves().Under(l.adjacency))
		}
	}
	return float64(most * math.Sqrt(float64(tallies*l.queries)))
}

func quantileName(i int) string { return fmt.Sprintf("quantile %d", i+1) }

// quantile returns the mechanism of one question.
func (l lot) quantile(a question.Resolved, scale float64) mechanism.Quantile {
	whole := mechanism.ZCDPFilter{NoiseMultiplier: scale, Adjacency: l.adjacency}
	epsilon := float64(mostEpsilon)
	if scale > 0 {
		cost := whole.Total() / float64(len(l.asked)) / float64(l.queries)
		epsilon = min(whole.Epsilon(cost), mostEpsilon)
	}
	return mechanism.Quantile{Q: a.Question.Quantile, Low: a.Bounds[0][0], High: a.Bounds[0][1], Step: a.Step,
		Epsilon: epsilon, Adjacency: l.adjacency, Releases: 1, Charged: int64(l.queries)}
}

// mostEpsilon is the greatest that a quantile is picked with, beyond which none is left to
// chance.
const mostEpsilon = 0x1p10

func (l lot) answer(ctx context.Context, env *pipeline.Env, read []tallied) (all []question.Answer, err error) {
	n, p := l.tallies(), balance{}
	if n > 0 {
		if p, err = openBalance(env, answersName); err != nil {
			return nil, err
		}
	}
	for i, a := range l.asked {
		var list []question.Answer
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if a.Ask == question.Quantile {
			list, err = pick(env, quantileName(i), a, read[i].values)
		} else {
			list, err = p.ask(a, read[i].tally, 1/float64(n*l.queries))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
		env.Progress(int64(i+1), int64(len(l.asked)))
	}
	return all, ctx.Err()
}

// ask answers a question for a share of the filter's total.
func (p balance) ask(a question.Resolved, tally []int64, share float64) ([]question.Answer, error) {
	noisy, sigma, err := p.release(tally, a.Moves(), share)
	if err != nil {
		return nil, err
	}
	return a.Read(noisy, sigma), nil
}

// pick answers a quantile.
func pick(env *pipeline.Env, name string, a question.Resolved, values []float64) ([]question.Answer, error) {
	paid, err := env.Privacy.Open(name)
	if err != nil {
		return nil, err
	}
	x, err := mechanism.ReleaseQuantile(paid, values)
	if err != nil {
		return nil, err
	}
	m := paid.Mechanism().(mechanism.Quantile)
	return a.Picked(x, m.Rate()), nil
}

// Shares says that the budget of a stage is one for several such stages.
type Shares struct {
	Queries int `yaml:"queries" json:"queries" min:"1" max:"1000" doc:"How many stages like this one the budget is for, the T of \"from how many questions on does a synthetic table win\": this one is charged for all of them and has the noise of one."`
}

// leastSigma is the least noise of whole numbers (mechanism.ReleaseIntegers).
const leastSigma = 0x1p-10

// balance spends a filter, part by part.
type balance struct {
	paid *privacy.Handle
	mechanism.GaussianFilter
}

func openBalance(env *pipeline.Env, name string) (balance, error) {
	paid, err := env.Privacy.Open(name)
	if err != nil {
		return balance{}, err
	}
	return balance{paid, paid.Mechanism().(mechanism.GaussianFilter)}, nil
}

// release adds noise to a tally for a share of the filter's total, and says how much: a
// standard deviation, 0 where the run is without privacy.
func (p balance) release(tally []int64, moves mechanism.Moves, share float64) ([]int64, float64, error) {
	sigma := 0.0
	if p.NoiseMultiplier > 0 {
		sigma = max(p.Noise(moves, p.Total()*share), leastSigma)
	}
	noisy, err := mechanism.ReleaseIntegers(p.paid, tally, moves, sigma)
	return noisy, sigma, err
}

// alike returns the multiplier of one Gaussian release that costs what several equal ones do,
// each of the given multiplier: their composition is Gaussian too, of the root of their
// number times the sensitivity (Dong, Roth, Su 2022, corollary 3.3).
func alike(multiplier float64, several int) float64 {
	return multiplier / math.Sqrt(float64(several))
}
