package tailored

import (
	"context"
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
)

// Covariance releases the covariance of bounded columns.
//
// Input: a private table, stability rows(c), of which each row is scaled to a = (1, z),
// z in [-1, 1]^d, by declared bounds. Mechanism: integer Gaussian noise on the distinct
// numbers of the sum of a a', in one release (mechanism.GaussianFilter); where the number
// of rows is public, the first of them is left out. Sensitivity: d+1 (add_remove) or
// sqrt(2) (d+1) (replace_one) in L2, where numbers off the diagonal count sqrt(2) times
// (question.Moves has the proof). Adjacency: either. Guarantee: as for one Gaussian mechanism;
// that covariances are read off the noisy numbers is post-processing. Of a budget for T
// queries this one spends a T-th of the squares: T equal Gaussian mechanisms compose to one
// whose squares are the squares of all.
//
// Published: the noise that Jalko, Lagerspetz, Haukka, Tarkoma, Honkela, Kaski 2021 add to
// the covariance itself, T sqrt(2 ln(1.25/delta))/epsilon sqrt(d(d-1)/2)/n on each number.
// Its sensitivity leaves out the diagonal, which it releases; the proven epsilon is the epsilon of
// the same noise for sqrt(d(d+1)/2)/n (question.ScatterMoves), under replace_one and of a
// public number of rows n. Reference: Dwork, Talwar, Thakurta, Zhang 2014 for moments of
// rows in a ball.
type Covariance struct {
	Shares          `yaml:",inline"`
	Columns         []string `yaml:"columns,omitempty" json:"columns,omitempty" minItems:"2" unique:"true" format:"columns" doc:"Bounded numbers and columns of two categories (0 and 1), none of which may be missing; all columns by default."`
	Mechanism       string   `yaml:"mechanism" json:"mechanism" enum:"moments|published" doc:"Noise on second moments, proven; or as Jalko et al. 2021 have it, on the covariance, under claims: published alone."`
	NoiseMultiplier float64  `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of all queries as one Gaussian mechanism of sensitivity 1; of mechanism: published, noise of this one over the published sensitivity. Found from the budget where it is not given."`
}

const covarianceName = "dp_covariance"

// answersName is the mechanism of all sums and counts of a stage.
const answersName = "answers"

func tableIn() []pipeline.Port {
	return []pipeline.Port{{Name: "in", Form: pipeline.FormTable,
		Doc: "A private table as it is after cleaning, neither cut nor encoded."}}
}

func covarianceKind() pipeline.Kind {
	return pipeline.Kind{
		Name: covarianceName, Version: 2,
		Doc: "Releases the covariance matrix of bounded columns with 95 % intervals of the noise. Columns are scaled to " +
			"[0, 1] by their bounds. " +
			"Use it where a covariance is all that is wanted of a table, or to see from how many such questions on a " +
			"synthetic table is better (queries, and the kind compare_queries). " +
			"The matrix is symmetric; noise can leave it with negative eigenvalues. release/ gets STAGE.answers.csv and " +
			"STAGE.answers.json. Needs a table of stability rows(c).",
		In: tableIn(), Out: question.Port(),
		New: func() pipeline.Stage { return &Covariance{Shares: Shares{Queries: 1}, Mechanism: "moments"} },
	}
}

// Plan prices the stage as one Gaussian mechanism.
func (s *Covariance) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	rows := columns.PublicRows(h)
	a := question.CheckCovariance(&ps, "columns", s.names(h.Domain), h.Domain, rows)
	if s.published() {
		s.checkPublished(&ps, h, rows)
	}
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	out := question.Header(h)
	w := pipeline.Work{Out: pipeline.Headers{"out": out}, Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: []pipeline.Spend{{Name: answersName, Doc: s.doc(), Mechanism: func(scale float64) privacy.Mechanism {
			return mechanism.GaussianFilter{NoiseMultiplier: s.multiplier(a, scale), Adjacency: h.Terms.Adjacency,
				Largest: s.largest(a, h.Terms.Adjacency)}
		}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			answers, err := s.run(ctx, env, a, in["in"])
			if err != nil {
				return nil, err
			}
			t, err := answers.Write(out)
			return pipeline.Tables{"out": t}, err
		}}
	if s.published() {
		w.Pricing.Published = s.paper()
	}
	return w, nil
}

// names returns the columns that are asked about.
func (s *Covariance) names(d *domain.Domain) []string {
	if len(s.Columns) > 0 {
		return s.Columns
	}
	all := make([]string, len(d.Columns))
	for i, c := range d.Columns {
		all[i] = c.Name
	}
	return all
}

func (s *Covariance) published() bool { return s.Mechanism == "published" }

func (s *Covariance) checkPublished(ps *schema.Problems, h pipeline.Header, rows int64) {
	if h.Terms.Claims != pipeline.ClaimsPublished {
		ps.Add("mechanism", "published under claims: "+string(h.Terms.Claims),
			"moments, or claims: published, under which the bill shows both epsilons")
	}
	if rows == 0 {
		ps.Add("mechanism", "published of a table whose number of rows is private", "moments, or a table of a public "+
			"number of rows, of which one is exchanged (adjacency: replace_one)")
	}
}

func (s *Covariance) doc() string {
	doc := "noisy second moments of columns"
	if s.published() {
		doc = "noisy covariance of columns, as published"
	}
	return doc + ofSeveral(s.Queries)
}

// ofSeveral says of a charge what it is for.
func ofSeveral(queries int) string {
	if queries == 1 {
		return ""
	}
	return fmt.Sprintf(", one of %d such queries that are charged", queries)
}

// multiplier returns the multiplier of the filter. The published scale is the noise of one query over the
// published sensitivity, so that all of them cost what as many of the true one do; the
// event of exchanged rows has twice the sensitivity.
func (s *Covariance) multiplier(a question.Resolved, scale float64) float64 {
	if !s.published() {
		return scale
	}
	return alike(2*scale*a.PublishedMoves()/a.ScatterMoves().ReplaceOne, s.Queries)
}

// largest returns the largest part, as mechanism.GaussianFilter does, of one of equal queries.
func (s *Covariance) largest(a question.Resolved, adjacency privacy.Adjacency) float64 {
	moves := a.Moves()
	if s.published() {
		moves = a.ScatterMoves()
	}
	return float64(moves.Under(adjacency) * math.Sqrt(float64(s.Queries)))
}

// paper returns the epsilon that is printed: the epsilon of the classical Gaussian mechanism, times T.
func (s *Covariance) paper() *pipeline.Published {
	return &pipeline.Published{
		Method: "Jälkö et al. 2021: T times sqrt(2 ln(1.25/delta)) over the noise, of a sensitivity without the diagonal",
		Epsilon: func(multiplier, delta float64) (float64, error) {
			return float64(s.Queries) * math.Sqrt(2*bitmath.Log(1.25/delta)) / multiplier, nil
		},
	}
}

// run reads the table, and then pays: moments are sums of what each row adds, the published covariance needs all rows.
func (s *Covariance) run(ctx context.Context, env *pipeline.Env, a question.Resolved,
	t pipeline.Table) (question.Answers,
	error) {
	out, share := question.Answers{Stage: env.Stage, Kind: covarianceName, Of: s.Queries, Asked: []question.Resolved{a}},
		1/float64(s.Queries)
	tally, err := s.tally(ctx, a, t)
	if err != nil {
		return out, err
	}
	p, err := openBalance(env, answersName)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return out, err
	}
	if !s.published() {
		out.List, err = p.ask(a, tally, share)
		return out, err
	}
	noisy, sigma, err := p.release(tally, a.ScatterMoves(), share)
	if err == nil {
		out.List = a.ReadScatter(noisy, sigma)
	}
	return out, err
}

func (s *Covariance) tally(ctx context.Context, a question.Resolved, t pipeline.Table) ([]int64, error) {
	if s.published() {
		f, err := columns.Read(ctx, t)
		if err != nil {
			return nil, err
		}
		return a.Scatter(ctx, f)
	}
	read, err := readFor(ctx, t, []question.Resolved{a})
	if err != nil {
		return nil, err
	}
	return read[0].tally, nil
}
