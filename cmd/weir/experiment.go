package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline/compile"
	"weir/pipeline/show"
	"weir/pipeline/spec"
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

// experiment runs every combination of the grid with every cell, and every repeat: each is a
// run of its own, with its own noise and its own charge.
func (f *runFlags) experiment(c *cobra.Command, s streams, arg string, base *compile.Plan) error {
	trials, plans, err := f.spec.trials(arg, base)
	if err != nil {
		return err
	}
	runs := runsOf(trials, plans)
	bill, err := billOf(runs, f.fresh)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, show.Wrap(bill.Text()))
	for i, t := range trials {
		fmt.Fprintf(plainly(s.err), "run %d of %d: %s repeat %d\n", i+1, len(trials), t.Name(), t.Repeat+1)
	}
	progress := newProgress(s.err, f.asJSON)
	opts := f.options(c, s, arg, progress)
	done, err := runtime.Experiment(c.Context(), runs, opts)
	progress.Wait()
	if err != nil {
		return f.failure(c.Context(), err, done...)
	}
	result := experimentResult{Bill: bill, Table: tableOf(base, bill, trials, plans, done)}
	for i, trial := range trials {
		result.Runs = append(result.Runs, trialResult{trial, resultJSON(done[i]), runtime.PublicSeed(plans[i].Seed, trial.Repeat)})
	}
	if result.Folder, err = writeTable(c.Context(), opts, result.Table, done); err != nil {
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

// runsOf are the runs of trials with these plans.
func runsOf(trials []spec.Trial, plans []*compile.Plan) []runtime.Trial {
	runs := make([]runtime.Trial, len(trials))
	for i, t := range trials {
		runs[i] = runtime.Trial{Plan: plans[i], Repeat: t.Repeat}
	}
	return runs
}

// trials lists the runs of an experiment and compiles each before the first one runs, so
// that it does not stop half-way over a value that the spec cannot take.
func (f *specFlags) trials(arg string, base *compile.Plan) ([]spec.Trial, []*compile.Plan, error) {
	trials, err := base.Spec.Experiment.Trials()
	if err != nil {
		return nil, nil, withCode(exitUsage, err)
	}
	plans := make([]*compile.Plan, len(trials))
	var faults trialFaults
	for i, t := range trials {
		flags := *f
		flags.trial = t
		if plans[i], err = flags.compile(arg); t.Repeat == 0 { // what one repeat refuses, all do
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
