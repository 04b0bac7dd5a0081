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
	"weir/stages/internal/regress"
)

// Regression is what both regressions share.
//
// Input: a private table, stability rows(c), each row bounded by declared bounds and
// categories (regress.Design). Mechanism: integer Gaussian noise on the sums of outcomes and
// exposures, from which the intercept starts, and then on the score and the information at the
// coefficients so far, steps times (mechanism.GaussianFilter, so that what is asked may follow
// from earlier answers). Sensitivity: of each sum by the longest row (Rows.sums in package regress). No
// row is clipped but for what its docs say. Adjacency: either. Guarantee: that of one Gaussian
// mechanism; all else is post-processing: Newton steps to the posterior mean, whose last one is the answer.
// No optimum has to be exact, as objective perturbation wants (Kifer, Smith, Thakurta 2012),
// and nothing is sampled. Of a budget for T queries this one spends a T-th of the squares.
//
// Reference: Ganesh, Haghifam, Steinke, Guha Thakurta 2023 for noisy Newton steps; Bernstein,
// Sheldon 2019 for a posterior that knows its noise (regress.update).
type Regression struct {
	Shares          `yaml:",inline"`
	Columns         []string `yaml:"columns" json:"columns" required:"true" minItems:"1" unique:"true" format:"columns" doc:"Bounded numbers and categories that the target is explained by, none of which may be missing. A category is compared with the first one of its column."`
	Steps           int      `yaml:"steps" json:"steps" min:"1" max:"50" doc:"Newton steps. The last has more than half of the budget; more steps leave less to each of the others, so that more do not arrive better."`
	PriorDeviation  float64  `yaml:"prior_deviation" json:"prior_deviation" min:"1e-6" max:"1000" doc:"Standard deviation of the normal prior around 0 of each coefficient, a number being scaled to [-1, 1] by its bounds; of the intercept it is 10 at least. The default needs no tuning; another value is known before the rows are looked at, or is a leak that no epsilon covers."`
	NoiseMultiplier float64  `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of all queries as one Gaussian mechanism of sensitivity 1; found from the budget where it is not given."`
}

// defaults are those of a regression that arrives best, under noise, in so many steps.
func defaults(steps int) Regression {
	return Regression{Shares: Shares{Queries: 1}, Steps: steps, PriorDeviation: priorDeviation}
}

const priorDeviation = 2.5

// takenAsPublic notes a setting that nothing needs, that could have been tuned on the rows.
func takenAsPublic(setting string, value float64, instead string) pipeline.Finding {
	return pipeline.Finding{Rule: "W42", Level: pipeline.LevelNote,
		Message: fmt.Sprintf("%s, %g, is taken as publicly known: nothing is charged for where it comes from, and the promise does not cover it", setting, value),
		Fix:     "a number from " + instead}
}

// findings are those of what both regressions have.
func (s *Regression) findings() (list []pipeline.Finding) {
	if s.PriorDeviation != priorDeviation {
		list = append(list, takenAsPublic("prior_deviation", s.PriorDeviation, fmt.Sprintf("earlier knowledge, or left out: %g suits numbers that are scaled by their bounds", priorDeviation)))
	}
	return list
}

// explain gives the model its columns; target and offset are not among them.
func (s *Regression) explain(ps *schema.Problems, m *regress.Model, d *domain.Domain) {
	m.PriorDeviation = s.PriorDeviation
	terms := 1
	for _, at := range d.Pick(ps, "columns", s.Columns) {
		c := &d.Columns[at]
		path := fmt.Sprintf("columns[%d]", slices.Index(s.Columns, c.Name))
		plain(ps, path, c)
		if c.Name == m.Target || c.Name == m.Offset {
			ps.Add(path, c.Name+", which is explained or the offset", "another column")
		}
		switch terms++; {
		case c.Type.Coded():
			terms += len(c.Categories) - 2
			m.Columns = append(m.Columns, regress.Column{Name: c.Name, Categories: c.Categories})
		case bounded(c):
			m.Columns = append(m.Columns, regress.Column{Name: c.Name, Bounds: *c.Bounds})
		default:
			ps.Add(path, c.Name+", a number without bounds", "a number with public bounds, the lower one below the upper one (kind `bounds` sets them)")
		}
	}
	if terms > regress.MostTerms {
		ps.Add("columns", fmt.Sprintf("columns of %d coefficients together", terms), fmt.Sprintf("at most %d", regress.MostTerms))
	}
}

// plain wants a column as it is before encode, without missing values.
func plain(ps *schema.Problems, path string, c *domain.Column) {
	switch {
	case c.RefuseUnit(ps, path):
	case c.Encoding != nil:
		ps.Add(path, fmt.Sprintf("%s, which is encoded (%s)", c.Name, c.Encoding.Form), "a column as it is before encode")
	case c.Late:
		ps.Add(path, c.Name+", known only when another stage has released it", "a column known in the domain")
	case c.Type == domain.Text || c.Type.Calendar():
		ps.Add(path, fmt.Sprintf("%s, which is %s", c.Name, c.Type), "a bounded number or a column of categories")
	case c.Nullable:
		ps.Add(path, c.Name+", which may be missing", "a column without missing values (kinds `impute_constant` and `impute_knn` fill them)")
	}
}

// bounded wants bounds whose width is a number that can be divided by.
func bounded(c *domain.Column) bool {
	return c.Bounds != nil && c.Bounds[0] > -1e75 && c.Bounds[1] < 1e75 && c.Bounds[1]-c.Bounds[0] > 1e-75
}

// column is the named column, or nil and a problem.
func column(ps *schema.Problems, path string, d *domain.Domain, name string) *domain.Column {
	c := d.Column(name)
	if c == nil {
		ps.Unknown(path, "column of the table", name, d.Names())
		return nil
	}
	plain(ps, path, c)
	return c
}

// work prices a fit and carries it out.
func (s *Regression) work(h pipeline.Header, m regress.Model) pipeline.Work {
	out := regress.Header(h)
	return pipeline.Work{
		Out: pipeline.Headers{"out": out}, Terms: pipeline.Pricing{Scale: s.NoiseMultiplier}, Findings: s.findings(),
		Spends: []pipeline.Spend{{Name: fitName,
			Doc: fmt.Sprintf("noisy scores and informations of %d coefficients at %d steps", m.Design().Terms(), s.Steps) + ofSeveral(s.Queries),
			Mechanism: func(scale float64) privacy.Mechanism {
				return mechanism.GaussianFilter{NoiseMultiplier: scale, Adjacency: h.Terms.Adjacency, Largest: float64(m.Largest(s.Steps) * math.Sqrt(float64(s.Queries)))}
			}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			f, err := columns.Read(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			p, err := openPurse(env, fitName)
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

func released(env *pipeline.Env, queries, steps int, m regress.Model, b regress.Belief) regress.Released {
	r := regress.Released{Stage: env.Stage, Queries: queries, Steps: steps, Model: m}
	r.Coefficients, r.Covariance = m.Coefficients(b)
	return r
}

// fitName is the mechanism of a regression.
const fitName = "fit"

// noisy releases tallies from a purse, of which T queries have equal parts.
func (s *Regression) noisy(p purse) regress.Release {
	return func(t *regress.Tally, share float64) ([]int64, float64, error) {
		return p.release(t.Sum, t.Moves, share/float64(s.Queries))
	}
}
