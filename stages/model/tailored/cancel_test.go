package tailored

import (
	"context"
	"errors"
	"testing"

	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
)

// stopping cancels when a mechanism is opened.
type stopping struct {
	privacy.Payer
	stop context.CancelFunc
}

func (s stopping) Open(name string) (*privacy.Handle, error) {
	s.stop()
	return s.Payer.Open(name)
}

// TestStagesHearCancellation: whoever stops a stage right behind its charge gets its end, and
// no answer, from every kind.
func TestStagesHearCancellation(t *testing.T) {
	for name, c := range map[string]struct {
		kind  pipeline.Kind
		stage func() pipeline.Stage
		in    pipelinetest.Input
	}{
		"questions":   {queryKind(), queryOf(1, everything()...), ward(40)},
		"quantile":    {queryKind(), queryOf(1, everything()[6]), ward(40)},
		"covariance":  {covarianceKind(), covarianceOf(func(*Covariance) {}), ward(40)},
		"published":   {covarianceKind(), covarianceOf(func(s *Covariance) { s.Mechanism = "published" }), ward(40)},
		"logistic":    {logisticKind(), logisticOf(func(*Logistic) {}), clinic(30, 5)},
		"poisson":     {poissonKind(), poissonOf(func(*Poisson) {}), clinic(30, 5)},
		"variational": {logisticKind(), logisticOf(func(s *Logistic) { s.Variational = varied(5, 10) }), clinic(30, 5)},
	} {
		h := pipeline.Headers{"in": c.in.Header}
		w, err := c.stage().Plan(h)
		must(t, err)
		plan, err := bill.Price(&c.kind, h, w, 1, c.in.Header.Terms.Adjacency)
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		env := pipelinetest.Env(1)
		env.Privacy = stopping{&pipelinetest.Ledger{Key: noise.Key{3}, Plan: plan}, cancel}
		if _, err := w.Run(ctx, env, pipeline.Tables{"in": pipeline.FromRecords(c.in.Header, c.in.Rows)}); !errors.Is(err,
			context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
