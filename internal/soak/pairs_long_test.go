//go:build long

package main

import (
	"testing"
	"time"
)

// TestNamesWithoutNoiseUnderAnySeed: secrets whose names do not say whose noise lies before them are found under
// each of five seeds. Each takes less than a minute of one core.
func TestNamesWithoutNoiseUnderAnySeed(t *testing.T) {
	for seed := range uint64(5) {
		s, began := newPairs(t, 100+seed), time.Now()
		recipeAlone(s)
		n := s.seedFinding(t, "the same secret draws, on different rows")
		t.Logf("seed %d: case %d after %.1f s", 100+seed, n, time.Since(began).Seconds())
	}
}
