package tailored

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/pipelinetest"
	"weir/privacy/noise"
	"weir/stages/internal/question"
)

// TestNoiseOutOfReachIsRefusedInThePlan: noise of whole numbers ends at 2^40. What the plan lets
// through can be drawn at the run, when it is paid; each stage is refused at some noise.
func TestNoiseOutOfReachIsRefusedInThePlan(t *testing.T) {
	var many []question.Question
	for i := range 100 {
		many = append(many, question.Question{Name: fmt.Sprint(i), Ask: question.Mean, Column: "age"})
	}
	for name, c := range map[string]struct {
		stage pipeline.Stage
		kind  pipeline.Kind
		in    pipelinetest.Input
	}{
		"means":      {queryOf(1000, many...)(), queryKind(), ward(20)},
		"covariance": {covarianceOf(func(c *Covariance) { c.Queries = 1000 })(), covarianceKind(), ward(20)},
		"logistic":   {logisticOf(func(s *Logistic) { s.Queries, s.Steps = 1000, 50 })(), logisticKind(), clinic(30, 1)},
		"poisson":    {poissonOf(func(s *Poisson) { s.Steps = 1 })(), poissonKind(), clinic(30, 1)},
	} {
		refused := 0
		for _, scale := range []float64{1, 10, 100, 300, 500, 700, 1000, 3000, 1e4, 1e5, 2e5, 3e5, 1e6, 1e7} {
			w, err := c.stage.Plan(pipeline.Headers{"in": c.in.Header})
			must(t, err)
			if err := w.Spends[0].Mechanism(scale).Check(); err != nil {
				if refused++; !strings.Contains(err.Error(), "at most 2^40") {
					t.Errorf("%s, noise multiplier %g: %v", name, scale, err)
				}
				continue
			}
			if refused > 0 {
				t.Errorf("%s: noise multiplier %g is let through, less is refused", name, scale)
			}
			drawAt(t, c.stage, c.kind, c.in, scale)
		}
		if refused == 0 {
			t.Errorf("%s: no noise is refused, the test shows nothing", name)
		}
	}
}

// drawAt runs a stage at a multiplier that its mechanisms let through.
func drawAt(t *testing.T, s pipeline.Stage, k pipeline.Kind, in pipelinetest.Input, multiplier float64) {
	t.Helper()
	h := pipeline.Headers{"in": in.Header}
	w, err := s.Plan(h)
	must(t, err)
	plan, err := bill.Price(&k, h, w, multiplier, in.Header.Terms.Adjacency)
	must(t, err)
	env := pipelinetest.Env(1)
	env.Privacy = &pipelinetest.Ledger{Key: noise.Key{1}, Plan: plan}
	if _, err := w.Run(t.Context(), env, pipeline.Tables{"in": pipeline.FromRecords(in.Header, in.Rows)}); err != nil {
		t.Errorf("%s, noise multiplier %g: the plan lets it through, the run ends: %v", k.Name, multiplier, err)
	}
}
