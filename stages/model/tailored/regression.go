package tailored

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
)

// Regression is what both regressions share.
//
// Input: a private table, stability rows(c), each row bounded by declared bounds and
// categories (question.Design). Mechanism: integer Gaussian noise on the sums of outcomes and
// exposures, from which the intercept starts, and then on the score and the information at the
// coefficients so far, steps times (mechanism.GaussianFilter, so that what is asked may follow
// from earlier answers). Sensitivity: of each sum by the longest row (RegressionRows.sums in package question). No
// row is clipped but for what its docs say. Adjacency: either. Guarantee: as for one Gaussian
// mechanism; all else is post-processing: Newton steps to the posterior mean, whose last one is the answer.
// No optimum has to be exact, as objective perturbation wants (Kifer, Smith, Thakurta 2012),
// and nothing is sampled. Of a budget for T queries this one spends a T-th of the squares.
//
// Reference: Ganesh, Haghifam, Steinke, Guha Thakurta 2023 for noisy Newton steps; Bernstein,
// Sheldon 2019 for a posterior that knows its noise (question.update).
type Regression struct {
	Shares          `yaml:",inline"`
	Columns         []string `yaml:"columns" json:"columns" required:"true" minItems:"1" unique:"true" format:"columns" doc:"Bounded numbers and categories that the target is explained by, none of which may be missing. A category is compared with the first one of its column."`
	Steps           int      `yaml:"steps" json:"steps" min:"1" max:"50" doc:"Newton steps. The last has more than half of the budget; more steps leave less to each of the others, so that more do not arrive better."`
	PriorDeviation  float64  `yaml:"prior_deviation" json:"prior_deviation" min:"1e-6" max:"1000" doc:"Standard deviation of the normal prior around 0 of each coefficient, a number being scaled to [-1, 1] by its bounds; of the intercept it is 10 at least. The default needs no tuning; another value is known before the rows are looked at, or is a leak that no epsilon covers."`
	NoiseMultiplier float64  `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of all queries as one Gaussian mechanism of sensitivity 1; found from the budget where it is not given."`
}

// defaults returns the defaults of a regression that arrives best, under noise, in so many steps.
func defaults(steps int) Regression {
	return Regression{Shares: Shares{Queries: 1}, Steps: steps, PriorDeviation: priorDeviation}
}

const priorDeviation = 2.5

// takenAsPublic notes a setting that nothing needs, that could have been tuned on the rows.
func takenAsPublic(setting string, value float64, instead string) pipeline.Finding {
	return pipeline.Finding{Rule: "W42", Level: pipeline.LevelNote,
		Message: fmt.Sprintf("%s, %g, is taken as publicly known: nothing is charged for where it comes from, and the "+
			"promise does not cover it", setting, value),
		Fix: "a number from " + instead}
}

// findings returns the problems of what both regressions have.
func (s *Regression) findings() (list []pipeline.Finding) {
	if s.PriorDeviation != priorDeviation {
		list = append(list, takenAsPublic("prior_deviation", s.PriorDeviation,
			fmt.Sprintf("earlier knowledge, or left out: %g suits numbers that are scaled by their bounds", priorDeviation)))
	}
	return list
}

// explain gives the model its columns; target and offset are not among them.
func (s *Regression) explain(ps *schema.Problems, m *question.Regression, d *domain.Domain) {
	m.PriorDeviation = s.PriorDeviation
	terms := 1
	for _, at := range d.Pick(ps, "columns", s.Columns) {
		c := &d.Columns[at]
		path := fmt.Sprintf("columns[%d]", slices.Index(s.Columns, c.Name))
		wantUnencoded(ps, path, c)
		if c.Name == m.Target || c.Name == m.Offset {
			ps.Add(path, c.Name+", which is explained or the offset", "another column")
		}
		switch terms++; {
		case c.Type.Coded():
			terms += len(c.Categories) - 2
			m.Columns = append(m.Columns, question.RegressionColumn{Name: c.Name, Categories: c.Categories})
		case bounded(c):
			m.Columns = append(m.Columns, question.RegressionColumn{Name: c.Name, Bounds: *c.Bounds})
		default:
			ps.Add(path, c.Name+", a number without bounds", "a number with public bounds, the lower one below the upper one "+
				"(kind `bounds` sets them)")
		}
	}
	if terms > question.MostTerms {
		ps.Add("columns", fmt.Sprintf("columns of %d coefficients together", terms), fmt.Sprintf("at most %d",
			question.MostTerms))
	}
}

// wantUnencoded wants a column as it is before encode, without missing values.
func wantUnencoded(ps *schema.Problems, path string, c *domain.Column) {
	switch {
	case c.RefuseUnit(ps, path):
	case c.Encoding != nil:
		ps.Add(path, fmt.Sprintf("%s, which is encoded (%s)", c.Name, c.Encoding.Form), "a column as it is before encode")
	case c.Late:
		ps.Add(path, c.Name+", known only when another stage has released it", "a column known in the domain")
	case c.Type == domain.Text || c.Type.Calendar():
		ps.Add(path, fmt.Sprintf("%s, which is %s", c.Name, c.Type), "a bounded number or a column of categories")
	case c.Nullable:
		ps.Add(path, c.Name+", which may be missing", "a column without missing values (kinds `impute_constant` and "+
			"`impute_knn` fill them)")
	}
}

// bounded wants bounds whose width is a number that can be divided by.
func bounded(c *domain.Column) bool {
	return c.Bounds != nil && c.Bounds[0] > -1e75 && c.Bounds[1] < 1e75 && c.Bounds[1]-c.Bounds[0] > 1e-75
}

// column returns the named column, or nil and a problem.
func column(ps *schema.Problems, path string, d *domain.Domain, name string) *domain.Column {
	c := d.Column(name)
	if c == nil {
		ps.Unknown(path, "column of the table", name, d.Names())
		return nil
	}
	wantUnencoded(ps, path, c)
	return c
}

// work prices a fit and carries it out.
func (s *Regression) work(h pipeline.Header, m question.Regression) pipeline.Work {
	out := question.RegressionHeader(h)
	return pipeline.Work{
		Out: pipeline.Headers{"out": out}, Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier}, Findings: s.findings(),
		Spends: []pipeline.Spend{{Name: fitName,
			Doc: fmt.Sprintf("noisy scores and informations of %d coefficients at %d steps", m.Design().Terms(), s.Steps) +
				ofSeveral(s.Queries),
			Mechanism: func(scale float64) privacy.Mechanism {
				return mechanism.GaussianFilter{NoiseMultiplier: scale, Adjacency: h.Terms.Adjacency,
					Largest: float64(m.Largest(s.Steps) * math.Sqrt(float64(s.Queries)))}
			}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			f, err := columns.Read(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			p, err := openBalance(env, fitName)
			if err != nil {
				return nil, err
			}
			b, err := m.Fit(ctx, m.Rows(f), s.Steps, s.noisy(p), func(step int) { env.Progress(int64(step), int64(s.Steps)) })
			if err != nil {
				return nil, err
			}
			t, err := released(env, s.Queries, s.Steps, m, b).Write(out)
			return pipeline.Tables{"out": t}, err
		},
	}
}

func released(env *pipeline.Env, queries, steps int, m question.Regression,
	b question.Belief) question.ReleasedRegression {
	r := question.ReleasedRegression{Stage: env.Stage, Queries: queries, Steps: steps, Model: m}
	r.Coefficients, r.Covariance = m.Coefficients(b)
	return r
}

// fitName is the mechanism of a regression.
const fitName = "fit"

// noisy releases tallies from a balance, of which T queries have equal parts.
func (s *Regression) noisy(p balance) question.ReleaseScores {
	return func(t *question.ScoreTally, share float64) ([]int64, float64, error) {
		return p.release(t.Sum, t.Moves, share/float64(s.Queries))
	}
}

// Logistic is logistic regression; see Regression for its guarantee. A row's residual is
// below 1 in size and its weight at most 1/4 whatever the coefficients, so that nothing is
// ever clipped.
type Logistic struct {
	Target     string `yaml:"target" json:"target" required:"true" format:"columns" doc:"Column of two categories; the odds are those of the second one."`
	Regression `yaml:",inline"`

	Variational *Variational `yaml:"variational,omitempty" json:"variational,omitempty" doc:"Variational inference by DP-SGD, as published, instead of Newton steps (steps is then not used). Its standard errors leave out the noise of privacy and correlations, so that they are too small."`
}

const logisticName = "dp_logistic_regression"

func logisticKind() pipeline.Kind {
	return pipeline.Kind{
		Name: logisticName, Version: 5,
		Doc: "Releases a logistic regression with intervals that know the noise. Releases the coefficients of a logistic " +
			"regression with standard errors and 95 % intervals that know the " +
			"noise, by noisy Newton steps to a posterior mean. " +
			"Use it where one regression is all that is wanted of a table, or to see from how many such questions on a " +
			"synthetic table is better (queries). " +
			"Intervals leave out the noise of the information matrix, and what the prior pulls towards 0. Of few events under " +
			"much noise the steps do not arrive: estimates are then nearer to 0 than those of the rows, and intervals are " +
			"widened for it, by an approximation. release/ gets STAGE.coefficients.csv and STAGE.coefficients.json. Needs a " +
			"table of stability rows(c).",
		In: tableIn(), Out: question.RegressionPort(),
		New: func() pipeline.Stage { return &Logistic{Regression: defaults(4)} },
	}
}

// event tells whether a column's second category is one, as question.Regression names it.
func event(c *domain.Column) bool {
	return c.Type.Coded() && len(c.Categories) == 2 && c.Categories[1] != ""
}

// Plan prices the stage as one Gaussian mechanism.
func (s *Logistic) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	target := column(&ps, "target", h.Domain, s.Target)
	if target != nil && !event(target) {
		found := fmt.Sprintf("%s, which is %s", target.Name, target.Type)
		if target.Type.Coded() {
			found = fmt.Sprintf("%s, of the categories %.60q", target.Name, target.Categories)
		}
		ps.Add("target", found, "a column of two categories, the second of which is not empty")
	}
	m := question.Regression{Kind: question.Logistic, Target: s.Target}
	s.explain(&ps, &m, h.Domain)
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	m.Positive = target.Categories[1]
	if s.Variational != nil {
		return s.varied(h, m)
	}
	return s.work(h, m), nil
}

// Poisson is Poisson regression with log link; see Regression for its guarantee. Where a
// row's mean, exposure included, is above most_expected, it counts as that, in score and
// information: the answer is the maximum of the likelihood as long as no row expects more.
type Poisson struct {
	Target       string  `yaml:"target" json:"target" required:"true" format:"columns" doc:"Counts: an integer with bounds from 0 or above, or a column of two categories, of which the second is an event."`
	Offset       string  `yaml:"offset,omitempty" json:"offset,omitempty" format:"columns" doc:"Exposure, such as a duration: a number with a lower bound above 0, whose logarithm is the offset. None: each row is exposed alike."`
	MostExpected float64 `yaml:"most_expected,omitempty" json:"most_expected,omitempty" exclusiveMin:"0" doc:"Publicly known bound on the mean that a row can have, its exposure included; the greatest count by default, which is always right. For rare events a lower one means less noise, where it is known before the rows are looked at: one that was read off them is a leak that no epsilon covers."`
	Regression   `yaml:",inline"`
}

const poissonName = "dp_poisson_regression"

func poissonKind() pipeline.Kind {
	return pipeline.Kind{
		Name: poissonName, Version: 5,
		Doc: "Releases a Poisson regression with intervals that know the noise. Releases the coefficients of a Poisson " +
			"regression, the logarithms of rate ratios, with standard errors and " +
			"95 % intervals that know the noise, by noisy Newton steps to a posterior mean. " +
			"Use it for rates of events, with a duration as offset, where one regression is all that is wanted of a table. " +
			"Intervals leave out the noise of the information matrix, and what the prior pulls towards 0. release/ gets " +
			"STAGE.coefficients.csv and STAGE.coefficients.json. Needs a table of stability rows(c).",
		In: tableIn(), Out: question.RegressionPort(),
		New: func() pipeline.Stage { return &Poisson{Regression: defaults(6)} },
	}
}

// Plan prices the stage as one Gaussian mechanism.
func (s *Poisson) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	m := question.Regression{Kind: question.Poisson, Target: s.Target, Offset: s.Offset}
	s.counts(&ps, &m, h.Domain)
	s.exposures(&ps, &m, h.Domain)
	s.explain(&ps, &m, h.Domain)
	if m.MostExpected = s.MostExpected; m.MostExpected == 0 {
		m.MostExpected = m.Most
	}
	if m.Most > 0 && !(m.MostExpected >= question.LeastExpected*m.Most && m.MostExpected <= question.MostExpected*m.Most) {
		ps.Add("most_expected", fmt.Sprint(m.MostExpected), fmt.Sprintf("from %g to %g, a millionth and a million times "+
			"the greatest count", question.LeastExpected*m.Most, question.MostExpected*m.Most))
	}
	w := s.work(h, m)
	if s.MostExpected != 0 {
		w.Findings = append(w.Findings, takenAsPublic("most_expected", s.MostExpected,
			"other studies, or left out: the greatest count bounds every mean"))
	}
	return w, ps.Err()
}

// counts finds the greatest count of the target.
func (s *Poisson) counts(ps *schema.Problems, m *question.Regression, d *domain.Domain) {
	c := column(ps, "target", d, s.Target)
	switch {
	case c == nil:
	case event(c):
		m.Positive, m.Most = c.Categories[1], 1
	case c.Type == domain.Integer && bounded(c) && c.Bounds[0] >= 0 && c.Bounds[1] <= 1e9:
		m.Most = c.Bounds[1]
	default:
		ps.Add("target", fmt.Sprintf("%s, which is %s%s", c.Name, c.Type, boundsOf(c)), "an integer with public bounds "+
			"between 0 and 1e9, or a column of two categories, the second of which is not empty")
	}
}

// exposures finds the bounds of the offset.
func (s *Poisson) exposures(ps *schema.Problems, m *question.Regression, d *domain.Domain) {
	if s.Offset == "" {
		return
	}
	c := column(ps, "offset", d, s.Offset)
	switch {
	case c == nil:
	case c.Type.Coded() || !bounded(c) || !(c.Bounds[0] > 0):
		ps.Add("offset", fmt.Sprintf("%s, which is %s%s", c.Name, c.Type, boundsOf(c)),
			"a number with public bounds above 0, since its logarithm is taken")
	case s.Offset == s.Target:
		ps.Add("offset", s.Offset+", the target", "another column")
	default:
		m.Shortest, m.Longest = c.Bounds[0], c.Bounds[1]
	}
}

func boundsOf(c *domain.Column) string {
	if c.Bounds == nil {
		return " without bounds"
	}
	return fmt.Sprintf(" from %g to %g", c.Bounds[0], c.Bounds[1])
}
