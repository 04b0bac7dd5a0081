package main

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/privacy/noise"
)

func newPairs(t *testing.T, seed uint64) *soak {
	s := newSoak(t, seed)
	s.pairs = true
	return s
}

// TestPairsOfRuns: a few seconds of what `soak pairs` does in an hour.
func TestPairsOfRuns(t *testing.T) {
	s := newPairs(t, 3)
	for n := range uint64(16) {
		f, err := s.try(n)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			t.Errorf("case %d, %s: %s\n%s", n, f.world.what, strings.Join(f.faults, "\n"), f.spec)
		}
	}
	if s.cover.measured < 3 || len(s.cover.stories) < 4 {
		t.Errorf("%d inputs compared over %d stories: the check is blind", s.cover.measured, len(s.cover.stories))
	}
}

// TestPlantedFaultsBetweenRuns: what one run alone does not show is found within a minute.
func TestPlantedFaultsBetweenRuns(t *testing.T) {
	for what, p := range map[string]struct {
		seed  uint64 // under which few cases find it; others take up to a hundred
		plant func(s *soak)
		says  string
	}{
		"one secret for all runs": {4, func(s *soak) {
			s.planted = func(stage string) *noise.Stream {
				st, err := noise.NewSource(noise.Key{1}, stage).Stream("planted", 0)
				if err != nil {
					panic(err)
				}
				return st
			}
		}, "the same secret draws, on different rows"},
		"secrets that forget the noise before them": {30, func(s *soak) {
			s.planted = func(stage string) *noise.Stream { // of a content and a stage, whoever drew the noise on the way
				text, err := os.ReadFile(filepath.Join(s.dir, "run", dataFile))
				if err != nil {
					panic(err)
				}
				st, err := noise.NewSource(noise.Key(sha256.Sum256(text)), stage).Stream("planted", 0)
				if err != nil {
					panic(err)
				}
				return st
			}
		}, "the same secret draws, on different rows"},
		"a ledger by content": {4, func(s *soak) { s.between = unbind }, "is not refused"},
	} {
		t.Run(what, func(t *testing.T) {
			s, began := newPairs(t, p.seed), time.Now()
			p.plant(s)
			for n := range uint64(plantedWithin) {
				f, err := s.try(n)
				if err != nil {
					t.Fatal(err)
				}
				if f != nil && strings.Contains(strings.Join(f.faults, "\n"), p.says) {
					t.Logf("found in case %d after %.1f s: %s", n, time.Since(began).Seconds(), f.faults[0])
					return
				}
			}
			t.Errorf("not found within %d cases", plantedWithin)
		})
	}
}

// unbind makes the owner's side forget that a version was charged, so that content decides once more
// whether a run is.
func unbind(dir string) {
	owners, _ := filepath.Glob(filepath.Join(dir, "*.weir-owner.json"))
	records, _ := filepath.Glob(filepath.Join(dir, "runs", "datasets", "ds-*.json"))
	for _, path := range append(owners, records...) {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(strings.ReplaceAll(string(text), `"charged": true`, `"charged": false`)), 0o600)
		}
		if err != nil {
			panic(err)
		}
	}
}
