package graphical

import (
	"math"
	"testing"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/account"
)

// TestPublishedPrivBayesIsProven: where the paper's number stands beside the bill, the events
// of choices and tables, as they are charged, add up to it under the basic accountant; the
// columns come on top.
func TestPublishedPrivBayesIsProven(t *testing.T) {
	s := privBayesKind().New().(*PrivBayes)
	s.Score = "published"
	for _, multiplier := range []float64{0.5, 3, 40} {
		w, err := s.Plan(headers(ward(400)))
		must(t, err)
		published, err := w.Pricing.Published.Epsilon(multiplier, 1e-6)
		must(t, err)
		var events []privacy.Event
		for _, spend := range w.Spends[1:] {
			events = append(events, spend.Mechanism(multiplier).Event(privacy.ReplaceOne))
		}
		proven, err := account.Basic{}.Epsilon(events, privacy.ReplaceOne, 0)
		if err != nil || math.Abs(proven-published) > 1e-6*published || math.Abs(published-1/multiplier) > 1e-12 {
			t.Errorf("at %g: published %.12g, proven %.12g, %v", multiplier, published, proven, err)
		}
	}
}

// TestPublishedPrivBayesIsSilent where the paper says nothing: rows that come or go, a private
// row count, scores that it does not have.
func TestPublishedPrivBayesIsSilent(t *testing.T) {
	published := privBayesKind().New().(*PrivBayes)
	published.Score = "published"
	hidden := ward(400)
	hidden.Header.Rows = 0
	for what, c := range map[string]struct {
		s *PrivBayes
		h pipeline.Headers
	}{
		"add_remove": {published, headers(private(ward(400)))}, "private rows": {published, headers(hidden)},
		"score: released": {privBayesKind().New().(*PrivBayes), headers(ward(400))},
	} {
		w, err := c.s.Plan(c.h)
		must(t, err)
		if w.Pricing.Published != nil {
			t.Errorf("%s has a published number", what)
		}
	}
}
