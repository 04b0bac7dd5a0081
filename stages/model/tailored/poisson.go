package tailored

import (
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/regress"
)

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
		Doc: "Releases the coefficients of a Poisson regression, the logarithms of rate ratios, with standard errors and 95 % intervals that know the noise, by noisy Newton steps to a posterior mean. " +
			"Use it for rates of events, with a duration as offset, where one regression is all that is wanted of a table. " +
			"Intervals leave out the noise of the information matrix, and what the prior pulls towards 0. release/ gets STAGE.coefficients.csv and STAGE.coefficients.json. Needs a table of stability rows(c).",
		In: tableIn(), Out: regress.Port(),
		New: func() pipeline.Stage { return &Poisson{Regression: defaults(6)} },
	}
}

// Plan prices the stage as one Gaussian mechanism.
func (s *Poisson) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	m := regress.Model{Kind: regress.Poisson, Target: s.Target, Offset: s.Offset}
	s.counts(&ps, &m, h.Domain)
	s.exposures(&ps, &m, h.Domain)
	s.explain(&ps, &m, h.Domain)
	if m.MostExpected = s.MostExpected; m.MostExpected == 0 {
		m.MostExpected = m.Most
	}
	if m.Most > 0 && !(m.MostExpected >= regress.LeastExpected*m.Most && m.MostExpected <= regress.MostExpected*m.Most) {
		ps.Add("most_expected", fmt.Sprint(m.MostExpected), fmt.Sprintf("from %g to %g, a millionth and a million times the greatest count", regress.LeastExpected*m.Most, regress.MostExpected*m.Most))
	}
	w := s.work(h, m)
	if s.MostExpected != 0 {
		w.Findings = append(w.Findings, takenAsPublic("most_expected", s.MostExpected, "other studies, or left out: the greatest count bounds every mean"))
	}
	return w, ps.Err()
}

// counts finds the greatest count of the target.
func (s *Poisson) counts(ps *schema.Problems, m *regress.Model, d *domain.Domain) {
	c := column(ps, "target", d, s.Target)
	switch {
	case c == nil:
	case event(c):
		m.Positive, m.Most = c.Categories[1], 1
	case c.Type == domain.Integer && bounded(c) && c.Bounds[0] >= 0 && c.Bounds[1] <= 1e9:
		m.Most = c.Bounds[1]
	default:
		ps.Add("target", fmt.Sprintf("%s, which is %s%s", c.Name, c.Type, boundsOf(c)), "an integer with public bounds between 0 and 1e9, or a column of two categories, the second of which is not empty")
	}
}

// exposures finds the bounds of the offset.
func (s *Poisson) exposures(ps *schema.Problems, m *regress.Model, d *domain.Domain) {
	if s.Offset == "" {
		return
	}
	c := column(ps, "offset", d, s.Offset)
	switch {
	case c == nil:
	case c.Type.Coded() || !bounded(c) || !(c.Bounds[0] > 0):
		ps.Add("offset", fmt.Sprintf("%s, which is %s%s", c.Name, c.Type, boundsOf(c)), "a number with public bounds above 0, since its logarithm is taken")
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
