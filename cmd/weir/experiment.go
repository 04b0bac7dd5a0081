package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/record/sweep"
	"weir/runtime"
)

// trialResult is one run of an experiment.
type trialResult struct {
	spec.Trial
	runResult
	PublicSeed uint64 `json:"public_seed"`
}

// experimentResult is what `weir run --json` prints of an experiment.
type experimentResult struct {
	Bill   sweep.Bill    `json:"bill"`
	Runs   []trialResult `json:"runs"`
	Table  *sweep.Table  `json:"sweep"`
	Folder string        `json:"folder"` // of the table as files; internal
}

// planned is an experiment, or a spec without one, which is a single run, before it is run.
type planned struct {
	arg    string
	base   *compile.Plan
	trials []spec.Trial
	plans  []*compile.Plan
}

func (p *planned) runs() []runtime.Trial { return runsOf(p.trials, p.plans) }

// experiment runs every combination of the grid with every cell, and every repeat: each is a
// run of its own, with its own noise and its own charge.
func (f *runFlags) experiment(c *cobra.Command, s streams, arg string, base *compile.Plan) error {
	trials, plans, err := f.spec.trials(arg, base)
	if err != nil {
		return err
	}
	x := &planned{arg, base, trials, plans}
	bill, err := billOf(x.runs(), f.fresh)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, words.Wrap(bill.Text()))
	done, opts, err := f.carryOut(c, s, []*planned{x})
	if err != nil {
		return err
	}
	result, err := x.result(c.Context(), opts, bill, done)
	if err != nil {
		return f.failure(c.Context(), err, done...)
	}
	if f.asJSON {
		return printJSON(s.out, result)
	}
	if err := result.print(s.out); err != nil {
		return err
	}
	return f.printLeft(c.Context(), s, arg, base, result.Table.Insecure)
}

// carryOut runs experiments side by side, as one, and gives the results of all in order.
func (f *runFlags) carryOut(c *cobra.Command, s streams, list []*planned) ([]*runtime.Result, runtime.Options, error) {
	var runs []runtime.Trial
	for _, x := range list {
		runs = append(runs, x.runs()...)
	}
	at := 0
	for _, x := range list {
		of := ""
		if len(list) > 1 {
			of = x.base.Name + ": "
		}
		for _, t := range x.trials {
			at++
			fmt.Fprintf(plainly(s.err), "run %d of %d: %s%s repeat %d\n", at, len(runs), of, t.Name(), t.Repeat+1)
		}
	}
	progress := newProgress(s.err, f.asJSON)
	opts := f.options(c, s, list[0].arg, progress)
	left := runsLeft{began: time.Now(), total: len(runs), show: progress.Runs}
	opts.Ran = left.ran
	done, err := runtime.Experiment(c.Context(), runs, opts)
	progress.Wait()
	if err != nil {
		err = f.failure(c.Context(), err, done...)
	}
	return done, opts, err
}

// result makes and keeps the table of an experiment whose runs are done.
func (x *planned) result(ctx context.Context, opts runtime.Options, bill sweep.Bill, done []*runtime.Result) (r experimentResult, err error) {
	r = experimentResult{Bill: bill, Table: tableOf(x.base, bill, x.trials, x.plans, done)}
	for i, trial := range x.trials {
		r.Runs = append(r.Runs, trialResult{trial, resultJSON(done[i]), runtime.PublicSeed(x.plans[i].Seed, trial.Repeat)})
	}
	r.Folder, err = writeTable(ctx, opts, r.Table, done)
	return r, err
}

// runsOf are the runs of trials with these plans.
func runsOf(trials []spec.Trial, plans []*compile.Plan) []runtime.Trial {
	runs := make([]runtime.Trial, len(trials))
	for i, t := range trials {
		runs[i] = runtime.Trial{Plan: plans[i], Repeat: t.Repeat}
	}
	return runs
}

// trials lists the runs of an experiment and compiles each before the first one runs, so
// that it does not stop half-way over a value that the spec cannot take. A plan is that of one run.
func (f *specFlags) trials(arg string, base *compile.Plan) ([]spec.Trial, []*compile.Plan, error) {
	return f.eachTrial(arg, base, false)
}

// priced is trials for who only wants to know what they cost: repeats, which do, share a plan.
func (f *specFlags) priced(arg string, base *compile.Plan) ([]spec.Trial, []*compile.Plan, error) {
	return f.eachTrial(arg, base, true)
}

func (f *specFlags) eachTrial(arg string, base *compile.Plan, share bool) ([]spec.Trial, []*compile.Plan, error) {
	trials, err := base.Spec.Experiment.Trials()
	if err != nil {
		return nil, nil, withCode(exitUsage, err)
	}
	plans := make([]*compile.Plan, len(trials))
	var faults trialFaults
	for i, t := range trials {
		if share && t.Repeat > 0 {
			plans[i] = plans[i-1]
			continue
		}
		flags, by := *f, compile.Compile
		flags.trial = t
		if t.Repeat > 0 && plans[i-1] != nil {
			by = func(s *spec.Spec) (*compile.Plan, error) { return compile.Again(s, plans[i-1]) }
		}
		if plans[i], err = flags.compileBy(arg, by); t.Repeat == 0 { // what one repeat refuses, all do
			faults.add(t, err)
		}
	}
	return trials, plans, faults.err()
}

// trialFaults are what the runs of an experiment refuse, each told once with the first
// run that does.
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
		if at := f.index(d); at >= 0 {
			f.times[at]++
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
	named := make(spec.Diagnostics, len(f.found))
	for i, d := range f.found {
		where := "in the experiment's run with " + f.in[i]
		if f.times[i] > 1 {
			where += fmt.Sprintf(" and %d more", f.times[i]-1)
		}
		d.Hint = strings.TrimPrefix(d.Hint+"; "+where, "; ")
		named[i] = d
	}
	named.Sort()
	if len(f.other) == 0 {
		return named
	}
	return errors.Join(append([]error{named}, f.other...)...)
}
