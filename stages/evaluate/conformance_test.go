package evaluate

import (
	"maps"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/internal/prediction"
)

// conformance lists the cases of every kind.
func conformance() map[string][]pipelinetest.Case {
	three := map[string]pipelinetest.Input{"real": rows(60, 1), "synthetic": rows(80, 2), "real_train": rows(70, 3)}
	four := maps.Clone(three)
	four["baseline"] = rows(50, 4)
	few := map[string]pipelinetest.Input{"real": rows(18, 1), "synthetic": rows(24, 2)} // learners are what takes time
	cohorts := map[string]pipelinetest.Input{"real": cohort(80, 0.5, 1), "synthetic": cohort(90, 0.5, 2)}
	poisson := func() pipeline.Stage { return discovery(nil) }
	cases := map[string][]pipelinetest.Case{
		"downstream": {
			{Name: "all learners", In: few, Stage: func() pipeline.Stage {
				return downstream("outcome",
					overrides{"models": prediction.ClassifierNames()})
			}},
			{Name: "all ports", In: four, Stage: func() pipeline.Stage { return downstream("outcome", nil) }},
			{Name: "numbers", In: few, Stage: func() pipeline.Stage {
				return downstream("level",
					overrides{"models": prediction.RegressorNames()})
			}},
			removable("add_remove", three, func() pipeline.Stage { return downstream("outcome", nil) }),
		},
		"dimension_wise_prediction": {
			{Name: "all ports", In: four, Stage: func() pipeline.Stage { return stage("dimension_wise_prediction", nil) }},
			removable("add_remove", three, func() pipeline.Stage { return dimension() }),
		},
		"regression_discovery": {{Name: "poisson", In: cohorts, Stage: poisson}, removable("add_remove", cohorts, poisson)},
	}
	for _, name := range comparisons() {
		plain := func() pipeline.Stage { return stage(name, nil) }
		both := pipelinetest.WardPorts(pipelinetest.WardRows(1, 40), pipelinetest.WardRows(2, 30),
			pipelinetest.WardRows(3, 50))
		both["baseline"] = pipelinetest.WardInput(pipelinetest.WardRows(4, 30), pipeline.Released)
		cases[name] = []pipelinetest.Case{
			{Name: "two tables", Stage: plain, In: pipelinetest.WardPorts(pipelinetest.WardRows(1, 40),
				pipelinetest.WardRows(2, 30), nil)},
			{Name: "all ports", Stage: plain, In: both},
			removable("add_remove", both, plain),
		}
	}
	questions := map[string]pipelinetest.Input{"real": pipelinetest.WardInput(pipelinetest.WardRows(1, 40),
		pipeline.Private),
		"synthetic": pipelinetest.WardInput(pipelinetest.WardRows(2, 30), pipeline.Released),
		"answers.0": answered(pipelinetest.WardInput(pipelinetest.WardRows(1, 40), pipeline.Private), 0.5),
		"answers.1": answered(pipelinetest.WardInput(pipelinetest.WardRows(3, 50), pipeline.Private), 0.1)}
	compare := func() pipeline.Stage { return stage("compare_queries", nil) }
	fitted := map[string]pipelinetest.Input{"real": questions["real"], "synthetic": questions["synthetic"],
		"answers.0": regressed(questions["real"])}
	cases["compare_queries"] = []pipelinetest.Case{{Name: "two stages", In: questions, Stage: compare},
		{Name: "regression", In: fitted, Stage: compare}, removable("add_remove", questions, compare)}
	private := input(ruled(), []any{-1.0, 1.0, 2.0}, []any{"a", "b", "c"}, []any{"0", nil, "1"}, []any{0.0, 2.0, 1.0})
	cases["constraints"] = append(cases["constraints"], pipelinetest.Case{Name: "rules", In: map[string]pipelinetest.Input{
		"real": private, "synthetic": private},
		Stage: func() pipeline.Stage { return stage("constraints", nil) }})
	return cases
}

// removable returns a case whose private tables have a private number of rows.
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
