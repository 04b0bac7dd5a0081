package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/runtime"
	"weir/stages"
	"weir/stages/prep"
	"weir/train"
)

func newSoak(t *testing.T, seed uint64, extras ...extra) *soak {
	t.Helper()
	var more []pipeline.Kind
	for _, e := range extras {
		more = append(more, e.kind)
	}
	reg, err := runtime.Registry(stages.Kinds(), more)
	if err != nil {
		t.Fatal(err)
	}
	return &soak{seed: seed, dir: t.TempDir(), reg: reg, extras: extras, cover: newCoverage()}
}

// TestSoak: a few seconds of what an hour does.
func TestSoak(t *testing.T) {
	s := newSoak(t, 9)
	for n := range uint64(10) {
		f, err := s.try(n)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			t.Errorf("case %d, %s: %s\n%s", n, f.world.what, strings.Join(f.faults, "\n"), f.spec)
		}
	}
	if s.cover.accepted*3 < s.cover.specs || s.cover.ran-s.cover.failed < s.cover.ran/2 {
		t.Errorf("%d of %d specs compile and %d of %d runs fail: the generator draws too much that is refused",
			s.cover.accepted, s.cover.specs, s.cover.failed, s.cover.ran)
	}
}

// TestUnlistedKindsAreTried: a kind that no list of the generator names is drawn by the declarations of its settings,
// compiled, run and compared, and what it does wrong is found.
func TestUnlistedKindsAreTried(t *testing.T) {
	kind := sumsKind("unlisted", 1, onceFor, unpaidMean).kind
	s := newSoak(t, 9, extra{kind: kind})
	s.extras, s.brief = nil, true
	for n := range uint64(plantedWithin) {
		f, err := s.try(n)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil && strings.Contains(strings.Join(f.faults, "\n"), "release/") {
			t.Logf("found in case %d", n)
			return
		}
	}
	t.Errorf("no fault within %d cases; the kind was accepted %d times", plantedWithin, s.cover.kind("unlisted").accepted)
}

// planted is a fault and a word of what the soak has to say of it.
type planted struct {
	extras []extra
	watch  watch
	named  bool // its file after the row count
	laid   laid
	seed   uint64 // under which few cases find it; others take up to a hundred. 0 is 9
	long   bool   // left to -tags long: it takes as long as all others together
	says   string
}

func plantedFaults() map[string]planted {
	one := func(clip float64, m planner, b body) []extra {
		return []extra{sumsKind("planted", clip, m, b)}
	}
	twice := func(dim int, _ privacy.Adjacency, scale float64) privacy.Mechanism {
		return vector{scale, dim, 2}
	}
	loose := func(kind string) watch {
		return func(_ string, w privacy.Watcher) privacy.Probe { return looseClip{w, kind} }
	}
	rounds := func(_ int, a privacy.Adjacency, scale float64) privacy.Mechanism {
		return mechanism.GaussianFilter{NoiseMultiplier: scale, Adjacency: a}
	}
	return map[string]planted{
		"an unpaid column mean": {extras: one(1, onceFor, unpaidMean), says: "release/"},
		"a count in an error":   {extras: one(1, onceFor, inGoroutine(countInError)), says: "the error differs"},
		"an error for an empty table": {extras: one(1, onceFor, inGoroutine(func(_ *pipeline.Env, n int) error {
			if n == 0 {
				return fmt.Errorf("nothing to add up")
			}
			return nil
		})), seed: 2, says: "the error differs"},
		"a count as progress": {extras: one(1, onceFor,
			inGoroutine(func(env *pipeline.Env, n int) error { env.Progress(0, int64(n)); return nil })),
			says: "the totals of progress"},
		"a count in the log": {extras: one(1, onceFor,
			inGoroutine(func(env *pipeline.Env, n int) error { env.Log.Warn("read", "rows", n); return nil })),
			says: "the log differs"},
		"a count in the log of a run that fails alike": {extras: one(1, onceFor,
			inGoroutine(func(env *pipeline.Env, n int) error {
				env.Log.Warn("read", "rows", n)
				return errors.New("fails on any table")
			})), says: "the log differs"},
		"one stream twice":          {extras: one(1, onceFor, streamTwice), says: "asked for twice"},
		"the same noise twice":      {extras: one(1, twice, sameNoise), says: "has the noise of"},
		"a clip 1 % off":            {extras: one(1.01, onceFor, paidFor), says: "its sensitivity is larger than paid for"},
		"a clip of dp_wgan 1 % off": {watch: loose("dp_wgan"), says: "its sensitivity is larger than paid for"},
		"a clip of gs_wgan 1 % off": {watch: loose("gs_wgan"), seed: 20, long: true,
			says: "its sensitivity is larger than paid for"},
		"uses follow the rows": {extras: one(1, rounds, usesFollowRows),
			says: "the number of uses depends on the data"},
		"a unit in two shards":        {extras: []extra{rowsToShards()}, seed: 12, says: "shards change"},
		"a cap after what is missing": {laid: forgotten, seed: 6, says: "rows change, its stability is rows("},
		"a count as a file":           {extras: one(1, onceFor, paidFor), named: true, says: "on one table only"},
	}
}

// plantedWithin is how many cases a planted fault is found in at the latest; 57 were the most
// that one took under seed 9, and few machines take a minute for so many.
const plantedWithin = 400

// TestPlantedFaultsAreFound: each planted fault is found within plantedWithin cases, by what the soak is for.
func TestPlantedFaultsAreFound(t *testing.T) {
	for what, p := range plantedFaults() {
		if p.long && !stattest.Long {
			continue
		}
		t.Run(what, func(t *testing.T) {
			if p.named {
				make := p.extras[0].kind.New
				p.extras[0].kind.New = func() pipeline.Stage { s := make().(*sums); s.named = true; return s }
			}
			s := newSoak(t, cmp.Or(p.seed, 9), p.extras...)
			s.watch, s.brief, s.laid = p.watch, true, p.laid
			began := time.Now()
			for n := range uint64(plantedWithin) {
				f, err := s.try(n)
				if err != nil {
					t.Fatal(err)
				}
				if f != nil && strings.Contains(strings.Join(f.faults, "\n"), p.says) {
					t.Logf("found in case %d after %.1f s: %s", n, time.Since(began).Seconds(), f.faults[0])
					return
				}
				if f != nil {
					t.Fatalf("case %d: %s, want %q", n, strings.Join(f.faults, "\n"), p.says)
				}
			}
			t.Errorf("not found within %d cases", plantedWithin)
		})
	}
}

// TestRightKindPasses: the frame that the planted faults share has none of its own.
func TestRightKindPasses(t *testing.T) {
	s := newSoak(t, 4, sumsKind("planted", 1, onceFor, paidFor))
	s.brief = true
	for n := range uint64(45) {
		f, err := s.try(n)
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			t.Fatalf("case %d, %s: %s", n, f.world.what, strings.Join(f.faults, "\n"))
		}
	}
	if s.cover.kind("planted").ran < 10 || s.cover.measured < 10 {
		t.Errorf("the right kind ran %d times, %d inputs were compared: the check is blind", s.cover.kind("planted").ran,
			s.cover.measured)
	}
}

// looseClip says of a model that it clips 1 % closer than it does.
type looseClip struct {
	privacy.Watcher
	of string // its kind
}

func (l looseClip) Release(r privacy.Released) any {
	if m, ok := r.Mechanism.(train.DPSGD); ok && l.of == "dp_wgan" {
		m.MaxGradNorm /= 1.01
		r.Mechanism = m
	}
	if m, ok := r.Mechanism.(train.CriticQuery); ok && l.of == "gs_wgan" {
		m.MaxGradNorm /= 1.01
		r.Mechanism = m
	}
	return l.Watcher.Release(r)
}

// rowsToShards does what shard does, with a draw for each row instead of each unit.
func rowsToShards() extra {
	k := pipeline.Kind{Name: "planted", Version: 1, Doc: "Shards rows. Use it to try the soak.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A table."}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "In shards."}},
		New: func() pipeline.Stage { return &rowShard{} }}
	return extra{kind: k, set: sharding}
}

type rowShard struct {
	Shards int    `yaml:"shards" json:"shards" doc:"Number of shards."`
	By     string `yaml:"by" json:"by" doc:"How."`
}

func (s *rowShard) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	unit := h.Terms.Unit
	h.Terms.Unit = pipeline.Unit{}
	w, err := (&prep.Shard{Shards: s.Shards, By: "random"}).Plan(pipeline.Headers{"in": h})
	if out, ok := w.Out["out"]; ok {
		out.Terms.Unit = unit
		w.Out["out"] = out
	}
	return w, err
}
