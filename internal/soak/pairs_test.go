package main

import (
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
	for n := range uint64(10) {
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

// seedFinding returns the first case in which a planted fault is found by what the soak says of it.
func (s *soak) seedFinding(t *testing.T, message string) uint64 {
	t.Helper()
	for n := range uint64(plantedWithin) {
		f, err := s.try(n)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil && strings.Contains(strings.Join(f.faults, "\n"), message) {
			return n
		}
	}
	t.Errorf("not found within %d cases", plantedWithin)
	return plantedWithin
}

// TestPlantedFaultsBetweenRuns: what one run alone does not show is found within a minute.
func TestPlantedFaultsBetweenRuns(t *testing.T) {
	for what, p := range map[string]struct {
		seed  uint64 // under which few cases find it; others take up to a hundred
		plant func(s *soak)
		says  string
	}{
		"one secret for all runs": {4, func(s *soak) {
			s.planted = func(stage, _ string) *noise.Stream {
				st, err := noise.NewSource(noise.Key{1}, stage).Stream("planted", 0)
				if err != nil {
					panic(err)
				}
				return st
			}
		}, "the same secret draws, on different rows"},
		"names of secrets that hold the recipe alone": {101, recipeAlone, "the same secret draws, on different rows"},
		"a ledger by content":                         {6, func(s *soak) { s.between = unbind }, "is not refused"},
	} {
		t.Run(what, func(t *testing.T) {
			s, began := newPairs(t, p.seed), time.Now()
			p.plant(s)
			if n := s.seedFinding(t, p.says); n < plantedWithin {
				t.Logf("found in case %d after %.1f s", n, time.Since(began).Seconds())
			}
		})
	}
}

// recipeAlone names the secrets of a stage by its recipe, under the secret of the content, whoever drew the noise
// that the rows have passed.
func recipeAlone(s *soak) {
	s.planted = func(_, alone string) *noise.Stream {
		if alone == "" {
			return nil
		}
		st, err := noise.NewSource(noise.Key{1}, alone).Stream("planted", 0)
		if err != nil {
			panic(err)
		}
		return st
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
