package tailored

import (
	"testing"

	"weir/pipeline/pipelinetest"
)

func conformance() map[string][]pipelinetest.Case {
	cases := map[string][]pipelinetest.Case{}
	add := func(kind, name string, in pipelinetest.Input, c pipelinetest.Case) {
		c.Name, c.In = name, map[string]pipelinetest.Input{"in": in}
		cases[kind] = append(cases[kind], c)
	}
	for name, in := range wards() {
		add(covarianceName, name, in, pipelinetest.Case{Stage: covarianceOf(func(s *Covariance) { s.Queries = 3 })})
	}
	for name, in := range wards() {
		add(queryName, name, in, pipelinetest.Case{Stage: queryOf(2, everything()...)})
	}
	add(queryName, "quantiles alone", ward(40), pipelinetest.Case{Stage: queryOf(1, everything()[6:]...)})
	regressions(add)
	return cases
}

func TestConformance(t *testing.T) { pipelinetest.CheckKinds(t, Kinds(), conformance()) }
