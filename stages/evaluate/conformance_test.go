package evaluate

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// conformance lists the cases of every kind.
func conformance() map[string][]pipelinetest.Case {
	three := map[string]pipelinetest.Input{"real": rows(60, 1), "synthetic": rows(80, 2), "real_train": rows(70, 3)}
	two := map[string]pipelinetest.Input{"real": rows(60, 1), "synthetic": rows(80, 2)}
	cohorts := map[string]pipelinetest.Input{"real": cohort(80, 0.5, 1), "synthetic": cohort(90, 0.5, 2)}
	all := tablesOf(wardRows(1, 60), wardRows(2, 80), wardRows(3, 40))
	all["metrics.0"], all["metrics.1"] = gathered("total_variation"), gathered("auroc")
	page := func() pipeline.Stage { return &Report{Target: "smoker", Plots: 1, Rows: 20} }
	poisson := func() pipeline.Stage { return discovery() }
	cases := map[string][]pipelinetest.Case{
		"downstream": {
			{Name: "all ports", In: three, Stage: func() pipeline.Stage { return downstream("outcome", split(classifierNames)...) }},
			{Name: "numbers", In: two, Stage: func() pipeline.Stage { return downstream("level", split(regressorNames)...) }},
			removable("add_remove", three, func() pipeline.Stage { return downstream("outcome") }),
		},
		"dimension_wise_prediction": {
			{Name: "all ports", In: three, Stage: dimensionKind().New},
			removable("add_remove", three, func() pipeline.Stage { return dimension(nil) }),
		},
		"regression_discovery": {{Name: "poisson", In: cohorts, Stage: poisson}, removable("add_remove", cohorts, poisson)},
		"report": {
			{Name: "everything", In: all, Stage: page},
			{Name: "figures alone", In: map[string]pipelinetest.Input{"metrics.0": gathered("auroc")}, Stage: newReport},
			{Name: "nothing", In: map[string]pipelinetest.Input{}, Stage: newReport},
			removable("add_remove", all, func() pipeline.Stage { return &Report{Rows: 20} }),
		},
	}
	for _, k := range comparisons() {
		both := tablesOf(wardRows(1, 40), wardRows(2, 30), wardRows(3, 50))
		cases[k.Name] = []pipelinetest.Case{
			{Name: "two tables", Stage: k.New, In: tablesOf(wardRows(1, 40), wardRows(2, 30), nil)},
			{Name: "with real_train", Stage: k.New, In: both},
			removable("add_remove", both, k.New),
		}
	}
	return cases
}

// removable is a case whose private tables have a private number of rows.
func removable(name string, in map[string]pipelinetest.Input, stage func() pipeline.Stage) pipelinetest.Case {
	c := pipelinetest.Case{Name: name, In: map[string]pipelinetest.Input{}, Stage: stage}
	for port, i := range in {
		if i.Header.Class == pipeline.Private && i.Header.Form == pipeline.FormTable {
			i.Header.Terms.Adjacency = privacy.AddRemove
		}
		c.In[port] = i
	}
	return c
}

func TestConformance(t *testing.T) { pipelinetest.CheckKinds(t, Kinds(), conformance()) }
