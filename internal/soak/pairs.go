package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/neighbour"
	"weir/privacy"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/runtime/files"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// sideStory is a story on one of two neighbouring worlds.
type sideStory struct {
	runs    [2]*outcome
	seen    map[string]string // after both
	charged bool              // by the first run
	changed bool              // the file, before the second
}

// tell carries a case out as a story, and returns what the two runs show together.
func (s *soak) tell(t *testCase) (*finding, error) {
	c := chanceOf(s.seed, ^t.number+1)
	st := pick(c, stories()...)
	if parted(t.gen.plan) && c.yes(0.8) { // else few would draw noise anew before secrets
		st = pick(c, anew()...)
	}
	later := *t.world
	later.pair = st.second(c, t.world)
	first := [2]*neighbour.Frozen{neighbour.NewFrozen(), neighbour.NewFrozen()}
	one, err := s.live(t, &later, st, false, first)
	if err != nil {
		return nil, fmt.Errorf("case %d: %w", t.number, err)
	}
	other, err := s.live(t, &later, st, true, [2]*neighbour.Frozen{first[0].Neighbour(), first[1].Neighbour()})
	if err != nil {
		return nil, fmt.Errorf("case %d: %w", t.number, err)
	}
	if one.changed != other.changed && !st.declare {
		return nil, nil // a file that changed in one world only: what its steward saw is no run's to hide
	}
	list := shownByBoth(st, [2]*world{t.world, &later}, one, other)
	s.cover.run(t.number, one.runs[0], measured(other.runs[0]), other.runs[0].frozen.Nearest())
	s.cover.story(st.what, one.runs[1].err == nil)
	if len(list) == 0 {
		return nil, nil
	}
	return &finding{t, append([]string{"between the runs: " + st.what}, list...)}, nil
}

// shownByBoth lists what two runs show on neighbouring worlds and must not: what either would not show
// alone, an order of the steward that both worlds do not answer alike, and draws that both runs make.
func shownByBoth(st story, w [2]*world, one, other *sideStory) []string {
	list := differences(one.seen, other.seen)
	for i := range one.runs {
		a, b := one.runs[i], other.runs[i]
		list = append(list, append(broken(a), broken(b)...)...)
		list = append(list, neighbour.Texts(coupled(w[i], a, b).Faults())...)
	}
	for _, t := range []*sideStory{one, other} {
		list = append(list, neighbour.Texts(t.runs[0].noise.Faults())...)
		list = append(list, neighbour.Texts(neighbour.SharedSecrets(t.runs[0].watch, t.runs[1].watch))...)
		if refusal := new(dataset.Refusal); st.refused(t.charged) && t.changed && !errors.As(t.runs[1].err, refusal) {
			list = append(list, "other content under a version that was charged is not refused: "+describe(t.runs[1].err))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// live carries out the two runs of a story on one world, by the way that `weir run` takes: with an
// owner's side, and with noise that would be secret if its random numbers were the system's.
func (s *soak) live(t *testCase, later *world, st story, second bool, frozen [2]*neighbour.Frozen) (*sideStory, error) {
	dir := filepath.Join(s.dir, "run")
	if err := errors.Join(os.RemoveAll(dir), t.world.lay(dir, t.spec, second)); err != nil {
		return nil, err
	}
	m := manner{workers: 1, watch: s.watch, planted: s.planted}
	l := living{dir: dir, reg: s.reg, m: m, random: rand.NewChaCha8([32]byte{1}), noise: &neighbour.Residuals{}}
	for i := range l.sideStory.runs {
		l.sideStory.runs[i] = &outcome{frozen: frozen[i], noise: l.noise}
	}
	if st.trials {
		return l.experiment(t.spec, st)
	}
	return l.twice(t, later, st, second, s.between)
}

// living is a story on its way.
type living struct {
	sideStory
	dir    string
	reg    *pipeline.Registry
	m      manner
	random *rand.ChaCha8
	noise  *neighbour.Residuals
	shown  shown
	now    atomic.Int64 // the run whose stage is at work
	other  bool         // content is, in the run that is next
}

// twice runs the spec, lets the steward do what the story says, and runs it again.
func (l *living) twice(t *testCase, later *world, st story, second bool, middle func(dir string)) (*sideStory, error) {
	if err := l.run(0, t.spec, l.options("runs")); err != nil {
		return nil, err
	}
	before, err := os.ReadFile(filepath.Join(l.dir, dataFile))
	if err != nil {
		return nil, err
	}
	ledgers, _ := filepath.Glob(filepath.Join(l.dir, "*"+dataset.LedgerSuffix))
	l.charged = len(ledgers) > 0
	text := t.spec
	if st.declare {
		text = t.declaring("2")
	}
	if st.lost {
		text = strings.Replace(text, "name: soak\n", "name: again\n", 1)
		if err := lose(l.dir, chanceOf(t.number, 0)); err != nil {
			return nil, err
		}
	}
	if err := later.lay(l.dir, text, second); err != nil {
		return nil, err
	}
	if middle != nil {
		middle(l.dir)
	}
	current, err := os.ReadFile(filepath.Join(l.dir, dataFile))
	if err != nil {
		return nil, err
	}
	l.changed, l.other = !bytes.Equal(before, current), st.moved || st.edited
	opts := l.options("runs")
	if opts.Fresh = st.fresh; st.out {
		opts.Out = filepath.Join(l.dir, "other-runs")
	}
	if err := l.run(1, text, opts); err != nil {
		return nil, err
	}
	return l.end()
}

// lose takes the keys of finished runs away, and what some of their paid stages made, in either world of the same
// ones: what is left can be used again, and the rest has to be drawn anew.
func lose(dir string, c chance) error {
	keys, _ := filepath.Glob(filepath.Join(dir, "runs", "*", "*", "internal", "noise.key"))
	var errs []error
	for _, key := range keys {
		errs = append(errs, os.Remove(key))
	}
	cache := store.CacheOf(disk.Disk{}, filepath.Join(dir, "runs"))
	var paid []payment.Note
	recipes, _ := filepath.Glob(filepath.Join(cache.Dir, store.PaidDir, "*"))
	for _, recipe := range recipes {
		paid = append(paid, payment.Notes{Cache: cache}.Of(filepath.Base(recipe))...)
	}
	slices.SortFunc(paid, func(a, b payment.Note) int { return strings.Compare(a.Stage, b.Stage) })
	for _, p := range some(c, paid, 1) {
		errs = append(errs, cache.Forget(p.Address))
	}
	return errors.Join(errs...)
}

// declaring returns the spec with a version of its dataset.
func (t *testCase) declaring(version string) string {
	g := *t.gen
	data := settings{"version": version}
	for key, value := range g.head["dataset"].(settings) {
		data[key] = value
	}
	g.head = settings{"dataset": data, "privacy": g.head["privacy"], "seed": g.head["seed"]}
	g.stages = t.stages
	return g.text()
}

func (l *living) run(i int, text string, opts runtime.Options) error {
	plan, err := l.plan(i, text, 0)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), mostTime)
	defer stop()
	_, l.runs[i].err = runtime.Run(ctx, plan, opts)
	return nil
}

// experiment runs the spec twice over, as repeats.
func (l *living) experiment(text string, st story) (*sideStory, error) {
	var trials []runtime.Trial
	for i := range l.runs {
		plan, err := l.plan(i, text, i)
		if err != nil {
			return nil, err
		}
		trials = append(trials, runtime.Trial{Plan: plan, Repeat: i})
	}
	opts := l.options("runs")
	opts.Fresh = st.fresh
	ctx, stop := context.WithTimeout(context.Background(), 2*mostTime)
	defer stop()
	_, err := runtime.RunAll(ctx, trials, opts)
	l.runs[0].err, l.runs[1].err = err, err
	return l.end()
}

// plan compiles the spec for run i, whose stages say when they are at work.
func (l *living) plan(i int, text string, repeat int) (*compile.Plan, error) {
	folder, err := files.OpenFolder(l.dir, false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	plan, err := compiled(text, folder, l.reg)
	if err != nil {
		return nil, fmt.Errorf("an accepted spec is refused: %w", err)
	}
	m := l.m // with the names of secrets of a fault that may be planted
	if m.alone, err = runtime.Recipes(plan, "", repeat); err != nil {
		return nil, err
	}
	for id, recipe := range m.alone {
		m.alone[id] = fmt.Sprint("other content: ", l.other, " ", recipe)
	}
	l.runs[i].plan = plan
	l.runs[i].watch = neighbour.NewWatch(plan, l.runs[i].frozen, m.plant)
	for n := range plan.Steps {
		step := &plan.Steps[n]
		run := step.Work.Run
		step.Work.Run = func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			l.now.Store(int64(i))
			return run(ctx, env, in)
		}
	}
	return plan, nil
}

func (l *living) options(out string) runtime.Options {
	return runtime.Options{Out: filepath.Join(l.dir, out), Dir: l.dir, Workers: l.m.workers, Version: "soak",
		Build: "soak",
		Log:   l.shown.log(), Progress: &l.shown, Clock: func() time.Time { return time.Unix(1.7e9, 0) }, Random: l.random,
		Probe: func(stage string) privacy.Probe { return l.runs[l.now.Load()].probe(stage, l.m) }}
}

// end takes down what is left of both runs that anyone may see.
func (l *living) end() (*sideStory, error) {
	seen, err := visible(l.dir)
	if err != nil {
		return nil, err
	}
	l.seen = unordered(seen)
	l.runs[1].watch.Stored(l.runs[0].watch)
	for i, o := range l.runs {
		o.panics = panics(l.dir)
		l.seen[fmt.Sprintf("the error of run %d", i+1)] = describe(o.err)
	}
	l.shown.addTo(l.seen)
	return &l.sideStory, nil
}
