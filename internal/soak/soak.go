package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/neighbour"
	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/runtime/files"
)

// soak tries random specs on neighbouring tables.
type soak struct {
	seed   uint64
	dir    string // where runs take place
	reg    *pipeline.Registry
	extras []extra
	brief  bool
	watch  watch // may be nil
	laid   laid  // may be nil
	cover  *coverage
	pairs  bool // two runs of each spec, on either table

	planted swapped          // faults between runs: the same secret in both,
	between func(dir string) // and what a steward does who should not
}

// testCase is one case: a spec and its tables.
type testCase struct {
	number uint64
	world  *world
	spec   string
	stages []stage
	gen    *generator
}

// finding is a case that shows what it must not.
type finding struct {
	*testCase
	faults []string
}

// draw makes case n up. It has no spec where nothing compiles.
func (s *soak) draw(n uint64) (*testCase, error) {
	c := chanceOf(s.seed, n)
	folder, err := files.OpenFolder(s.dir, false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	g := &generator{chance: c, world: newWorld(c), reg: s.reg, folder: folder, cover: s.cover, extras: s.extras,
		brief: s.brief, paired: s.pairs}
	g.world.laid = s.laid
	chanceOf(^s.seed, n).rename(g.world)
	// of their own, so that cases are what they would be without
	if rules := chanceOf(s.seed, ^n); !s.brief && rules.yes(0.4) {
		g.world.constraints = rules.rules(g.world)
	}
	s.cover.specs++
	if !g.spec() {
		return &testCase{number: n}, nil
	}
	s.cover.accepted++
	return &testCase{number: n, world: g.world, spec: g.text(), stages: g.stages, gen: g}, nil
}

// try draws case n, runs it on both tables and returns what it shows; nil is
// nothing.
func (s *soak) try(n uint64) (*finding, error) {
	t, err := s.draw(n)
	if err != nil || t.spec == "" {
		return nil, err
	}
	if s.pairs {
		return s.tell(t)
	}
	one, other, err := s.both(t)
	if err != nil {
		return nil, fmt.Errorf("case %d: %w", n, err)
	}
	f := found(t, one, other)
	s.cover.run(n, one, measured(other), other.frozen.Nearest())
	if alike(one, other) {
		return s.alone(t, one, other)
	}
	return f, nil
}

func found(t *testCase, one, other *outcome) *finding {
	if list := faults(t.world, one, other); len(list) > 0 {
		return &finding{t, list}
	}
	return nil
}

// both runs a case on its two tables, one after the other in a folder of the same
// name, so that no path differs.
func (s *soak) both(t *testCase) (one, other *outcome, err error) {
	frozen := neighbour.NewFrozen()
	if one, err = s.once(t, false, frozen); err != nil {
		return nil, nil, err
	}
	other, err = s.once(t, true, frozen.Neighbour())
	return one, other, err
}

func (s *soak) once(t *testCase, second bool, frozen *neighbour.Frozen) (*outcome, error) {
	dir := filepath.Join(s.dir, "run")
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := t.world.lay(dir, t.spec, second); err != nil {
		return nil, err
	}
	return carryOut(dir, t.spec, s.reg, frozen, manner{workers: 1 + 2*int(t.number%2), again: t.number%8 == 0,
		watch: s.watch})
}

// outcome is what a run leaves behind: what anyone may see, and what only the soak
// looks at.
type outcome struct {
	plan   *compile.Plan
	err    error
	failed string            // the stage that ended the run, if one did
	seen   map[string]string // by what it is called
	panics string            // what internal errors left
	watch  *neighbour.Watch
	frozen *neighbour.Frozen
	noise  *neighbour.Residuals
}

// mostTime is what a run may take. One that hangs is a finding, or a spec that the
// generator should not draw.
const mostTime = 60 * time.Second

// swapped is a fault: the secret that a stage is given instead of the run's; nil is none. alone names the content
// and the recipe, and no noise that the rows have passed; of a stage behind a public file it is "".
type swapped func(stage, alone string) *noise.Stream

// manner is how a case is run, alike on both tables.
type manner struct {
	workers int
	again   bool // once more afterwards, which shows the finished run
	watch   watch
	planted swapped           // may be nil
	alone   map[string]string // of stages, for what is planted
}

// plant gives a stage the secrets that a fault swaps.
func (m manner) plant(stage string, env *pipeline.Env) {
	if m.planted == nil {
		return
	}
	secret := env.Secret
	env.Secret = func(purpose string) *noise.Stream {
		if s := m.planted(stage, m.alone[stage]); s != nil {
			return s
		}
		return secret(purpose)
	}
}

// watch is what a test puts between the mechanisms of a stage and their probe.
type watch func(stage string, w privacy.Watcher) privacy.Probe

// carryOut runs a spec in a folder, by the path that `weir run` takes. All chance
// and time is fixed, so that two runs differ by their tables alone.
func carryOut(dir, text string, reg *pipeline.Registry, frozen *neighbour.Frozen, m manner) (*outcome, error) {
	folder, err := files.OpenFolder(dir, false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	o := &outcome{frozen: frozen, noise: &neighbour.Residuals{}}
	if o.plan, err = compiled(text, folder, reg); err != nil {
		return nil, fmt.Errorf("an accepted spec is refused: %w", err)
	}
	shown := &shown{}
	o.watch = neighbour.NewWatch(o.plan, frozen, m.plant)
	again := o.run(o.options(dir, shown, m), m)
	o.panics, o.failed = panics(dir), shown.failure(o.plan)
	o.seen, err = visible(dir)
	charges := 0
	for _, s := range o.plan.Steps {
		charges += len(s.Events)
	}
	if charges > 1 {
		o.seen = unordered(o.seen)
	}
	o.seen["the plan"], o.seen["the error"], o.seen["the second run"] = words.Plan(o.plan.Plan), describe(o.err), again
	shown.addTo(o.seen)
	return o, err
}

func (o *outcome) options(dir string, shown *shown, m manner) runtime.Options {
	seed := uint64(7)
	return runtime.Options{Out: filepath.Join(dir, "runs"), Dir: dir, Workers: m.workers, Insecure: &seed, Version: "soak",
		Build: "soak",
		Log:   shown.log(), Progress: shown, Clock: func() time.Time { return time.Unix(1.7e9, 0) },
		Random: rand.NewChaCha8([32]byte{}),
		Probe:  func(stage string) privacy.Probe { return o.probe(stage, m) }}
}

// probe looks on at the mechanisms of a stage.
func (o *outcome) probe(stage string, m manner) privacy.Probe {
	return o.noise.Of(stage, watched(m.watch, stage, o.frozen.Of(stage)))
}

// run carries the plan out and says what came of a second run, which has to be the
// first one, shown again.
func (o *outcome) run(opts runtime.Options, m manner) string {
	ctx, stop := context.WithTimeout(context.Background(), mostTime)
	defer stop()
	if _, o.err = runtime.Run(ctx, o.plan, opts); o.err != nil || !m.again {
		return ""
	}
	result, err := runtime.Run(ctx, o.plan, opts)
	return fmt.Sprintf("shown again %t: %s", result != nil && result.Reused, describe(err))
}

func watched(watch watch, stage string, w privacy.Watcher) privacy.Probe {
	if watch == nil {
		return w
	}
	return watch(stage, w)
}

// describe returns the text of an error and the types in its chain, of which `weir`
// takes its exit code.
func describe(err error) string {
	if err == nil {
		return ""
	}
	var types []string
	for e := err; e != nil; e = errors.Unwrap(e) {
		types = append(types, fmt.Sprintf("%T", e))
	}
	return err.Error() + "\n" + strings.Join(types, " of ")
}

// panics reads what internal errors of weir left on the owner's side.
func panics(dir string) string {
	var all []string
	paths, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "*", "internal", "fault-*.txt"))
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil {
			all = append(all, string(data[:min(len(data), 3000)]))
		}
	}
	return strings.Join(all, "\n")
}

// visible reads all files that are neither inputs nor on the owner's side. What
// lies in internal/ and in the cache is the owner's, names included: the plots of
// a report are named after the columns that differ most.
func visible(dir string) (map[string]string, error) {
	seen := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"internal", "cache", "datasets", "owners"}, d.Name()) {
			return filepath.SkipDir
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || d.IsDir() || strings.Contains(name, dataset.OwnerSuffix) ||
			slices.Contains([]string{dataFile, referenceFile, extraFile, specFile}, name) {
			return err
		}
		data, err := os.ReadFile(path)
		seen[name] = string(data)
		return err
	})
	return seen, err
}
