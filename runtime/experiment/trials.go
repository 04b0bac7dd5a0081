package experiment

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/runtime"
)

// Plan is an experiment, or a spec without one, which is a single run, before it is run.
type Plan struct {
	Base   *compile.Plan // of the spec as it stands, without the settings of a trial
	Trials []spec.Trial
	Plans  []*compile.Plan // of each trial
}

// Compiler compiles a spec with the settings of one of its trials; by makes the plan of the spec. It is called for
// several trials at once.
type Compiler func(trial spec.Trial, by func(*spec.Spec) (*compile.Plan, error)) (*compile.Plan, error)

// NewPlan compiles every trial of a spec, so that an experiment does not stop half-way over a value that the spec
// cannot take. What trials refuse is told once, with the first combination of settings that does.
func NewPlan(base *compile.Plan, trials []spec.Trial, one Compiler) (*Plan, error) {
	return newPlan(base, trials, one, false)
}

// Outlined checks each combination of an experiment by its outline (compile.Outline), since noise for all of them takes
// seconds. The error is as of NewPlan, but for what the noise of a run alone decides.
func Outlined(base *compile.Plan, trials []spec.Trial, one Compiler) (*Plan, error) {
	outline := func(t spec.Trial, _ func(*spec.Spec) (*compile.Plan, error)) (*compile.Plan, error) {
		return one(t, compile.Outline)
	}
	return newPlan(base, trials, outline, true)
}

// Priced plans, as NewPlan does, for who only wants to know what an experiment costs: repeats share a plan.
func Priced(base *compile.Plan, trials []spec.Trial, one Compiler) (*Plan, error) {
	return newPlan(base, trials, one, true)
}

func newPlan(base *compile.Plan, trials []spec.Trial, one Compiler, share bool) (*Plan, error) {
	p := &Plan{Base: base, Trials: trials, Plans: make([]*compile.Plan, len(trials))}
	var faults trialFaults
	for i, err := range p.combinations(one) { // what one repeat refuses, all do
		faults.add(trials[i], err)
	}
	for i, t := range trials {
		switch {
		case p.leads(t):
		case share || p.Plans[i-1] == nil:
			p.Plans[i] = p.Plans[i-1]
		default:
			again := func(s *spec.Spec) (*compile.Plan, error) { return compile.Again(s, p.Plans[i-1]) }
			p.Plans[i], _ = one(t, again)
		}
	}
	return p, faults.err()
}

// leads reports whether a trial is the first of its combination: all begin with the same repeat.
func (p *Plan) leads(t spec.Trial) bool { return t.Repeat == p.Trials[0].Repeat }

// combinations plans the first trial of each combination, side by side, and returns the errors by trial.
func (p *Plan) combinations(one Compiler) []error {
	errs := make([]error, len(p.Trials))
	var wait sync.WaitGroup
	free := make(chan struct{}, goruntime.GOMAXPROCS(0))
	for i, t := range p.Trials {
		if !p.leads(t) {
			continue
		}
		wait.Add(1)
		free <- struct{}{}
		go func() {
			defer wait.Done()
			p.Plans[i], errs[i] = one(t, func(s *spec.Spec) (*compile.Plan, error) { return compile.Beside(s, p.Base) })
			<-free
		}()
	}
	wait.Wait()
	return errs
}

// Runs returns the runs of the experiment, in the order of its trials.
func (p *Plan) Runs() []runtime.Trial {
	runs := make([]runtime.Trial, len(p.Trials))
	for i, t := range p.Trials {
		runs[i] = runtime.Trial{Plan: p.Plans[i], Repeat: t.Repeat}
	}
	return runs
}

// Run carries out the runs of experiments side by side and returns the results in the order of list and trials.
func Run(ctx context.Context, list []*Plan, opts runtime.Options) ([]*runtime.Result, error) {
	return runtime.RunAll(ctx, AllRuns(list), opts)
}

// AllRuns returns the runs of several experiments, one behind the other.
func AllRuns(list []*Plan) (runs []runtime.Trial) {
	for _, p := range list {
		runs = append(runs, p.Runs()...)
	}
	return runs
}

// Unmeasured lists the stages of a plan without which every figure, charge and noise is the same: no stage that has
// figures, opens a mechanism or names the column that models aim at needs what they give.
func Unmeasured(plan *compile.Plan) (stages []string) {
	needed := map[string]bool{}
	for i := range plan.Spec.Stages {
		_, needed[plan.Spec.Stages[i].ID] = plan.Spec.Stages[i].Stage.(pipeline.Predictor)
	}
	for _, step := range slices.Backward(plan.Steps) { // a stage stands behind those it reads
		if !needed[step.ID] && len(step.Figures) == 0 && len(step.Work.Spends) == 0 {
			stages = append(stages, step.ID)
			continue
		}
		for _, refs := range step.Inputs {
			for _, ref := range refs {
				needed[ref.Stage] = true
			}
		}
	}
	return stages
}

// trialFaults are what the runs of an experiment refuse, each told once with the first run that does.
type trialFaults struct {
	found spec.Diagnostics
	in    []string // of each the first run
	times []int    // in how many combinations
	other []error
}

func (f *trialFaults) add(t spec.Trial, err error) {
	var ds spec.Diagnostics
	if err != nil && !errors.As(err, &ds) {
		f.other = append(f.other, fmt.Errorf("the experiment's run with %s: %w", t.Name(), err))
	}
	for _, d := range ds {
		if known := f.index(d); known >= 0 {
			f.times[known]++
			continue
		}
		f.found, f.in, f.times = append(f.found, d), append(f.in, t.Name()), append(f.times, 1)
	}
}

func (f *trialFaults) index(d spec.Diagnostic) int {
	for i, known := range f.found {
		if known == d {
			return i
		}
	}
	return -1
}

// err names the combination of each problem behind it.
func (f *trialFaults) err() error {
	if len(f.found) == 0 {
		return errors.Join(f.other...)
	}
	problems := make(spec.Diagnostics, len(f.found))
	for i, d := range f.found {
		where := "in the experiment's run with " + f.in[i]
		if f.times[i] > 1 {
			where += fmt.Sprintf(" and %d more", f.times[i]-1)
		}
		d.Hint = strings.TrimPrefix(d.Hint+"; "+where, "; ")
		problems[i] = d
	}
	problems.Sort()
	if len(f.other) == 0 {
		return problems
	}
	return errors.Join(append([]error{problems}, f.other...)...)
}
