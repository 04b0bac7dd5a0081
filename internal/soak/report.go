package main

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"weir/pipeline"
	"weir/pipeline/compile"
)

// report writes a finding into a folder of its own: the spec, both tables and what
// differs, as small as a few more runs make them.
func (s *soak) report(f *finding, out string) error {
	small := s.shrink(f)
	dir := filepath.Join(out, fmt.Sprintf("%d-%d", s.seed, f.number))
	for name, second := range map[string]bool{"one": false, "other": true} {
		if err := small.world.lay(filepath.Join(dir, name), small.spec, second); err != nil {
			return err
		}
	}
	command := "soak"
	if s.pairs {
		command = "soak pairs"
	}
	text := fmt.Sprintf("case %d of seed %d: go run ./internal/%s -seed %d -only %d\n%s, under %s\n\n%s\n\nshrunk "+
		"to:\n%s\n\n%s", f.number, s.seed, command, s.seed, f.number,
		f.world.what, f.world.adjacency, strings.Join(f.faults, "\n"), strings.Join(small.faults, "\n"), small.spec)
	fmt.Printf("FOUND %s\n", text)
	return os.WriteFile(filepath.Join(dir, "fault.txt"), []byte(text), 0o644)
}

// shrinkTime is what making a finding smaller may take.
const shrinkTime = 15 * time.Second

// shrink leaves out stages and rows that both tables have, while something is still
// wrong.
func (s *soak) shrink(f *finding) *finding {
	dest := time.Now().Add(shrinkTime)
	for smaller := true; smaller && time.Now().Before(dest); {
		smaller = false
		for i := len(f.stages) - 1; i >= 0 && time.Now().Before(dest); i-- {
			if g := s.still(f.dropStage(i)); g != nil {
				f, smaller = g, true
			}
		}
	}
	for size := len(f.world.one) / 2; size > 0 && time.Now().Before(dest); size /= 2 {
		for pos := 0; pos+size <= min(len(f.world.one), len(f.world.other)) && time.Now().Before(dest); {
			g := s.still(f.shorter(pos, size))
			if g == nil {
				pos += size
				continue
			}
			f = g
		}
	}
	return f
}

// still runs a smaller case; nil if it is none, or shows nothing.
func (s *soak) still(t *testCase) *finding {
	if t == nil {
		return nil
	}
	if s.pairs {
		f, _ := s.tell(t)
		return f
	}
	one, other, err := s.both(t)
	if err != nil {
		return nil
	}
	if alike(one, other) {
		f, _ := s.alone(t, one, other)
		return f
	}
	return found(t, one, other)
}

// dropStage leaves out stage i. What reads it no longer compiles.
func (t *testCase) dropStage(i int) *testCase {
	if len(t.stages) == 1 {
		return nil
	}
	g := *t.gen
	g.stages = slices.Delete(slices.Clone(t.stages), i, i+1)
	return &testCase{number: t.number, world: t.world, spec: g.text(), stages: g.stages, gen: &g}
}

// shorter leaves rows out that stand at one place in both tables.
func (t *testCase) shorter(pos, size int) *testCase {
	w := *t.world
	for i := pos; i < pos+size; i++ {
		if !slices.Equal(w.one[i], w.other[i]) {
			return nil
		}
	}
	if w.rowsPublic > 0 {
		return nil
	}
	w.one, w.other = slices.Delete(slices.Clone(w.one), pos, pos+size), slices.Delete(slices.Clone(w.other), pos, pos+size)
	return &testCase{number: t.number, world: &w, spec: t.spec, stages: t.stages, gen: t.gen}
}

// alike reports whether two runs ended by the same error. What fails ends the stages that
// run beside it, wherever they are by the clock, so that what such runs leave cannot be
// compared as it is.
func alike(one, other *outcome) bool {
	return one.err != nil && describe(one.err) == describe(other.err)
}

// alone runs a case that failed alike once more, cut down to the stage that failed and
// those that it reads: these are all done before it begins, so that the clock has no part
// in what is left. Where nothing is to be cut off the runs stand as they are; where the
// stage fails no more, the smaller case is a case like others.
func (s *soak) alone(t *testCase, one, other *outcome) (*finding, error) {
	small := t.cutAfter(one)
	if small == nil {
		return found(t, one, other), nil
	}
	a, b, err := s.both(small)
	if err != nil { // such as a stage that reads the one above it
		s.cover.uncompared++
		if list := append(broken(one), broken(other)...); len(list) > 0 {
			return &finding{t, list}, nil
		}
		return nil, nil
	}
	if alike(a, b) && small.cutAfter(a) != nil {
		s.cover.uncompared++
		return nil, nil
	}
	s.cover.again++
	return found(small, a, b), nil
}

// cutAfter returns a case without the stages that the failed one does not wait for; nil where it
// waits for all others, or where no stage failed.
func (t *testCase) cutAfter(o *outcome) *testCase {
	needed := needs(o.plan, o.failed)
	if o.failed == "" || len(needed) == len(t.stages) {
		return nil
	}
	g := *t.gen
	g.stages = slices.DeleteFunc(slices.Clone(t.stages), func(one stage) bool { return !needed[one.id] })
	return &testCase{number: t.number, world: t.world, spec: g.text(), stages: g.stages, gen: &g}
}

// needs returns a stage and all that it reads.
func needs(plan *compile.Plan, id string) map[string]bool {
	needed := map[string]bool{id: true}
	for i := len(plan.Steps) - 1; i >= 0; i-- {
		for _, refs := range plan.Steps[i].Inputs {
			for _, r := range refs {
				if needed[plan.Steps[i].ID] && plan.Step(r.Stage) != nil {
					needed[r.Stage] = true
				}
			}
		}
	}
	return needed
}

// failure returns the first stage of a plan that ended by an error of its own.
func (s *shown) failure(plan *compile.Plan) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range plan.Steps {
		for stage, err := range s.errs {
			if stage == plan.Steps[i].ID && !pipeline.Cancelled(err) && !strings.Contains(err.Error(), "context canceled") {
				return stage
			}
		}
	}
	return ""
}

// shown takes down what a run shows on its way: the log that users get, and the
// progress.
type shown struct {
	mu    sync.Mutex
	lines strings.Builder
	stage []string
	total map[string]bool
	errs  map[string]error // of stages
}

func (s *shown) Start(stage, kind string) { s.note("start of " + stage + ", " + kind) }
func (s *shown) End(stage string, reused bool, err error) {
	s.note(fmt.Sprintf("end of %s, reused %t: %s", stage, reused, describe(err)))
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.errs == nil {
		s.errs = map[string]error{}
	}
	s.errs[stage] = err
}

func (s *shown) note(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stage = append(s.stage, line)
}

func (s *shown) Resumed(stage string, done, total int64) {
	s.note(fmt.Sprintf("%s goes on from %d of %d", stage, done, total))
}

func (s *shown) Progress(stage string, _, total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total == nil {
		s.total = map[string]bool{}
	}
	s.total[fmt.Sprintf("%s of %d", stage, total)] = true
}

func (s *shown) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines.Write(b)
}

func (s *shown) addTo(seen map[string]string) {
	totals := slices.Sorted(maps.Keys(s.total))
	slices.Sort(s.stage) // of two that run side by side, either may be first
	lines := strings.Split(s.lines.String(), "\n")
	slices.Sort(lines)
	seen["the log"], seen["the stages"], seen["the totals of progress"] = strings.Join(lines, "\n"),
		strings.Join(s.stage, "\n"), strings.Join(totals, "\n")
}

// log returns the log of `weir run` without --verbose, less the time.
func (s *shown) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string,
		a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}
