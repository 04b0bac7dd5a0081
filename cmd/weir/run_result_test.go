package main

import (
	"strings"
	"testing"

	"weir/record"
)

// TestResultRoundsBoundsUp: the end of a run says no less than PRIVACY.md.
func TestResultRoundsBoundsUp(t *testing.T) {
	proven, published := 1.99950002, 0.123451
	var b strings.Builder
	epsilons(&b, &b, record.Terms{Proven: &proven, Published: &published, Delta: 1e-6})
	if text := b.String(); !strings.Contains(text, " 1.9996 at delta") || !strings.Contains(text, " 0.12346 by the paper") {
		t.Errorf("a run ends with %s", text)
	}
	b.Reset()
	if err := printTrials(&b, []trialResult{{runResult: runResult{Epsilon: map[string]*float64{"proven": &proven}}}}); err != nil || !strings.Contains(b.String(), "1.9996") {
		t.Errorf("an experiment ends with %s, %v", b.String(), err)
	}
}
