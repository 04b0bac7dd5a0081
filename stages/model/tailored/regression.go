package tailored

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/stages/internal/columns"
)

// Regression is what both regressions share.
//
// Input: a private table, stability rows(c), each row bounded by declared bounds and
// categories (design). Mechanism: integer Gaussian noise on the sums of outcomes and
// exposures, from which the intercept starts, and then on the score and the information at the
// coefficients so far, steps times (mechanism.GaussianFilter, so that what is asked may follow
// from earlier answers). Sensitivity: of each sum by the longest row (likelihood.sums). No
// row is clipped but for what its docs say. Adjacency: either. Guarantee: that of one Gaussian
// mechanism; all else is post-processing: Newton steps to the posterior mean, whose last one is the answer.
// No optimum has to be exact, as objective perturbation wants (Kifer, Smith, Thakurta 2012),
// and nothing is sampled. Of a budget for T queries this one spends a T-th of the squares.
//
// Reference: Ganesh, Haghifam, Steinke, Guha Thakurta 2023 for noisy Newton steps; Bernstein,
// Sheldon 2019 for a posterior that knows its noise (update).
type Regression struct {
	Shares          `yaml:",inline"`
	Columns         []string `yaml:"columns" json:"columns" required:"true" minItems:"1" unique:"true" format:"columns" doc:"Bounded numbers and categories that the target is explained by, none of which may be missing. A category is compared with the first one of its column."`
	Steps           int      `yaml:"steps" json:"steps" min:"1" max:"50" doc:"Newton steps. The last has more than half of the budget; more steps leave less to each of the others."`
	PriorDeviation  float64  `yaml:"prior_deviation" json:"prior_deviation" exclusiveMin:"0" max:"1000" doc:"Standard deviation of the normal prior around 0 of each coefficient, a number being scaled to [-1, 1] by its bounds; of the intercept it is 10 at least."`
	NoiseMultiplier float64  `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of all queries as one Gaussian mechanism of sensitivity 1; found from the budget where it is not given."`
}

func defaults() Regression {
	return Regression{Shares: Shares{Queries: 1}, Steps: 6, PriorDeviation: 2.5}
}

// What each part of a fit may take of the squared budget. Steps before the last find the
// way; what they leave is divided by its score and its information.
const (
	startShare       = 0.04
	wayShare         = 0.36
	informationShare = 0.2
)

func coefficientsOut() []pipeline.Port {
	return []pipeline.Port{{Name: "out", Form: pipeline.FormFiles, Doc: "The coefficients with standard errors and 95 % intervals, as a CSV table and as JSON."}}
}

// check says what is wrong with the explaining columns; target and offset are not among them.
func (s *Regression) check(ps *pipeline.Problems, d *pipeline.Domain, others ...string) {
	terms := 1
	for _, at := range ps.Pick("columns", d, s.Columns) {
		c := &d.Columns[at]
		path := fmt.Sprintf("columns[%d]", slices.Index(s.Columns, c.Name))
		plain(ps, path, c)
		for _, other := range others {
			if c.Name == other {
				ps.Add(path, c.Name+", which is explained or the offset", "another column")
			}
		}
		terms++
		if c.Type.Coded() {
			terms += len(c.Categories) - 2
		} else if !bounded(c) {
			ps.Add(path, c.Name+", a number without bounds", "a number with public bounds, the lower one below the upper one (kind `bounds` sets them)")
		}
	}
	if terms > mostTerms {
		ps.Add("columns", fmt.Sprintf("columns of %d coefficients together", terms), fmt.Sprintf("at most %d", mostTerms))
	}
}

// mostTerms keeps a matrix of coefficients to what eigenvalues are found of in seconds.
const mostTerms = 300

// plain wants a column as it is before encode, without missing values.
func plain(ps *pipeline.Problems, path string, c *pipeline.Column) {
	switch {
	case c.Encoding != nil:
		ps.Add(path, fmt.Sprintf("%s, which is encoded (%s)", c.Name, c.Encoding.Form), "a column as it is before encode")
	case c.Late:
		ps.Add(path, c.Name+", known only when another stage has released it", "a column known in the domain")
	case c.Type == pipeline.Text || c.Type == pipeline.Date:
		ps.Add(path, fmt.Sprintf("%s, which is %s", c.Name, c.Type), "a bounded number or a column of categories")
	case c.Nullable:
		ps.Add(path, c.Name+", which may be missing", "a column without missing values (kinds `impute_constant` and `impute_knn` fill them)")
	}
}

// bounded wants bounds whose width is a number that can be divided by.
func bounded(c *pipeline.Column) bool {
	return c.Bounds != nil && c.Bounds[0] > -1e75 && c.Bounds[1] < 1e75 && c.Bounds[1]-c.Bounds[0] > 1e-75
}

// column is the named column, or nil and a problem.
func column(ps *pipeline.Problems, path string, d *pipeline.Domain, name string) *pipeline.Column {
	c := d.Column(name)
	if c == nil {
		ps.Unknown(path, "column of the table", name, d.Names())
		return nil
	}
	plain(ps, path, c)
	return c
}

// work prices a fit and carries it out. begin tells the likelihood what the rows are; about
// is what the artifact says of it.
func (s *Regression) work(h pipeline.Header, about fitted, begin func(*columns.Frame) *likelihood) pipeline.Work {
	out := pipeline.Header{Form: pipeline.FormFiles, Schema: pipeline.FilesSchema(), Class: pipeline.Released, Terms: h.Terms}
	d := designOf(h.Domain, s.Columns)
	about.Queries, about.Steps, about.PriorDeviation, about.Design = s.Queries, s.Steps, s.PriorDeviation, d.terms
	return pipeline.Work{
		Out: pipeline.Headers{"out": out}, Terms: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: []pipeline.Spend{{Name: "fit", Doc: fmt.Sprintf("noisy scores and informations of %d coefficients at %d steps", len(d.terms), s.Steps),
			Mechanism: func(scale float64) privacy.Mechanism {
				return mechanism.GaussianFilter{NoiseMultiplier: scale, Adjacency: h.Terms.Adjacency}
			}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			f, err := columns.Read(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			p, err := openPurse(env, "fit")
			if err != nil {
				return nil, err
			}
			b, err := s.fit(ctx, env, p, begin(f), d.of(f, s.Columns))
			if err != nil {
				return nil, err
			}
			t, err := about.write(out, env, d, b)
			return pipeline.Tables{"out": t}, err
		},
	}
}

// fit takes the steps.
func (s *Regression) fit(ctx context.Context, env *pipeline.Env, p purse, l *likelihood, r rows) (b belief, err error) {
	own := 1 / float64(s.Queries)
	totals, sigma, err := l.totals(r.n).release(p, startShare*own)
	if err != nil {
		return b, err
	}
	theta := make([]float64, len(r.terms))
	theta[0] = l.intercept(float64(totals[0]*l.most), float64(totals[1]*l.longest), float64(sigma*math.Max(l.most, l.longest)))
	prior := s.prior(len(theta))
	for t := range s.Steps {
		if err := ctx.Err(); err != nil {
			return b, err
		}
		score, information := l.sums(r, theta)
		share := s.share(t) * own
		push, sigma, err := score.release(p, share*(1-informationShare))
		if err != nil {
			return b, err
		}
		curve, doubtful, err := information.release(p, share*informationShare)
		if err != nil {
			return b, err
		}
		if b, err = update(noisy{theta, push, square(curve, len(theta)), sigma, doubtful}, prior); err != nil {
			return b, err
		}
		theta = towards(theta, b.mean, l.mostStep())
		env.Progress(int64(t+1), int64(s.Steps))
	}
	return b, nil
}

// share is what step t may take of the squared budget.
func (s *Regression) share(t int) float64 {
	if s.Steps == 1 {
		return 1 - startShare
	}
	if t == s.Steps-1 {
		return 1 - startShare - wayShare
	}
	return wayShare / float64(s.Steps-1)
}

// prior is the precision of each coefficient.
func (s *Regression) prior(terms int) []float64 {
	p := make([]float64, terms)
	for j := range p {
		p[j] = 1 / (s.PriorDeviation * s.PriorDeviation)
	}
	p[0] = math.Min(p[0], 0.01)
	return p
}

// towards is a step from a to b that moves no coefficient further than most.
func towards(a, b []float64, most float64) []float64 {
	far := 0.0
	for j, v := range b {
		far = math.Max(far, math.Abs(v-a[j]))
	}
	share, out := math.Min(1, most/math.Max(far, 1e-300)), make([]float64, len(a))
	for j, v := range b {
		out[j] = a[j] + float64(share*(v-a[j]))
	}
	return out
}
