package tailored

import (
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/regress"
)

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
		Doc: "Releases the coefficients of a logistic regression with standard errors and 95 % intervals that know the noise, by noisy Newton steps to a posterior mean. " +
			"Use it where one regression is all that is wanted of a table, or to see from how many such questions on a synthetic table is better (queries). " +
			"Intervals leave out the noise of the information matrix, and what the prior pulls towards 0. Of few events under much noise the steps do not arrive: estimates are then nearer to 0 than those of the rows, and intervals are widened for it, by an approximation. release/ gets STAGE.coefficients.csv and STAGE.coefficients.json. Needs a table of stability rows(c).",
		In: tableIn(), Out: regress.Port(),
		New: func() pipeline.Stage { return &Logistic{Regression: defaults(4)} },
	}
}

// event tells whether a column's second category is one, as regress.Model names it.
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
	m := regress.Model{Kind: regress.Logistic, Target: s.Target}
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
