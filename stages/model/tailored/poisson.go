package tailored

import (
	"fmt"

	"weir/pipeline"
	"weir/stages/internal/columns"
)

// Poisson is Poisson regression with log link; see Regression for its guarantee. Where a
// row's mean, exposure included, is above most_expected, it counts as that, in score and
// information: the answer is the maximum of the likelihood as long as no row expects more.
type Poisson struct {
	Target       string  `yaml:"target" json:"target" required:"true" format:"columns" doc:"Counts: an integer with bounds from 0 or above, or a column of two categories, of which the second is an event."`
	Offset       string  `yaml:"offset,omitempty" json:"offset,omitempty" format:"columns" doc:"Exposure, such as a duration: a number with a lower bound above 0, whose logarithm is the offset. None: each row is exposed alike."`
	MostExpected float64 `yaml:"most_expected,omitempty" json:"most_expected,omitempty" exclusiveMin:"0" doc:"Publicly known bound on the mean that a row can have, its exposure included; the greatest count by default. For rare events a lower one means less noise."`
	Regression   `yaml:",inline"`
}

const poissonName = "dp_poisson_regression"

func poissonKind() pipeline.Kind {
	return pipeline.Kind{
		Name: poissonName, Version: 1,
		Doc: "Releases the coefficients of a Poisson regression, the logarithms of rate ratios, with standard errors and 95 % intervals that know the noise, by noisy Newton steps to a posterior mean. " +
			"Use it for rates of events, with a duration as offset, where one regression is all that is wanted of a table. " +
			"Intervals leave out the noise of the information matrix, and what the prior pulls towards 0. release/ gets STAGE.coefficients.csv and STAGE.coefficients.json. Needs a table of stability rows(c).",
		In: tableIn(), Out: coefficientsOut(),
		New: func() pipeline.Stage { return &Poisson{Regression: defaults()} },
	}
}

// Plan prices the stage as one Gaussian mechanism.
func (s *Poisson) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps pipeline.Problems
	most, longest := s.counts(&ps, h.Domain), s.exposures(&ps, h.Domain)
	s.check(&ps, h.Domain, s.Target, s.Offset)
	limit := most
	if s.MostExpected > 0 {
		limit = s.MostExpected
	}
	if most > 0 && limit > 1e6*most {
		ps.Add("most_expected", fmt.Sprint(limit), fmt.Sprintf("at most %g, a million times the greatest count", 1e6*most))
	}
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	about := fitted{Kind: poissonName, Target: s.Target, Offset: s.Offset}
	return s.work(h, about, func(f *columns.Frame) *likelihood {
		l := poissonLikelihood(most, limit, longest)
		l.outcome = counts(f.Column(s.Target), h.Domain.Column(s.Target).Bounds)
		if s.Offset != "" {
			l.expos = counts(f.Column(s.Offset), h.Domain.Column(s.Offset).Bounds)
		}
		return &l
	}), nil
}

// counts is the greatest count of the target.
func (s *Poisson) counts(ps *pipeline.Problems, d *pipeline.Domain) float64 {
	c := column(ps, "target", d, s.Target)
	switch {
	case c == nil:
	case c.Type.Coded() && len(c.Categories) == 2:
		return 1
	case c.Type == pipeline.Integer && bounded(c) && c.Bounds[0] >= 0 && c.Bounds[1] <= 1e9:
		return c.Bounds[1]
	default:
		ps.Add("target", fmt.Sprintf("%s, which is %s%s", c.Name, c.Type, boundsOf(c)), "an integer with public bounds between 0 and 1e9, or a column of two categories")
	}
	return 0
}

// exposures is the greatest exposure.
func (s *Poisson) exposures(ps *pipeline.Problems, d *pipeline.Domain) float64 {
	if s.Offset == "" {
		return 1
	}
	c := column(ps, "offset", d, s.Offset)
	switch {
	case c == nil:
		return 1
	case c.Type.Coded() || !bounded(c) || !(c.Bounds[0] > 0):
		ps.Add("offset", fmt.Sprintf("%s, which is %s%s", c.Name, c.Type, boundsOf(c)), "a number with public bounds above 0, since its logarithm is taken")
	case s.Offset == s.Target:
		ps.Add("offset", s.Offset+", the target", "another column")
	default:
		return c.Bounds[1]
	}
	return 1
}

func boundsOf(c *pipeline.Column) string {
	if c.Bounds == nil {
		return " without bounds"
	}
	return fmt.Sprintf(" from %g to %g", c.Bounds[0], c.Bounds[1])
}

// counts are the numbers of a column inside its bounds, or its events.
func counts(c *columns.Column, bounds *[2]float64) []float64 {
	if c.Coded() {
		return events(c)
	}
	out := make([]float64, len(c.Numbers))
	for i, v := range c.Numbers {
		out[i] = between(v, bounds[0], bounds[1])
	}
	return out
}
