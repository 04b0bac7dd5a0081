package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/record"
	"weir/runtime"
	"weir/runtime/pay"
)

// trialResult is one line of an experiment.
type trialResult struct {
	spec.Trial
	runResult
}

// experiment runs every combination of the grid and every repeat: each is a run of its own,
// with its own noise and its own charge.
func (f *runFlags) experiment(c *cobra.Command, s streams, arg string, base *compile.Plan) error {
	trials, plans, err := f.spec.trials(arg, base)
	if err != nil {
		return err
	}
	text, err := totalText(plans)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, text)
	runs := make([]runtime.Trial, len(trials))
	for i, t := range trials {
		runs[i] = runtime.Trial{Plan: plans[i], Repeat: t.Repeat}
		fmt.Fprintf(plainly(s.err), "run %d of %d: %s repeat %d\n", i+1, len(trials), strings.Join(t.Set, " "), t.Repeat+1)
	}
	progress := newProgress(s.err, f.asJSON)
	done, err := runtime.Experiment(c.Context(), runs, f.options(c, s, arg, progress))
	progress.Wait()
	if err != nil {
		return f.failure(c.Context(), err)
	}
	results := make([]trialResult, len(trials))
	for i, trial := range trials {
		results[i] = trialResult{trial, resultJSON(done[i])}
	}
	if f.asJSON {
		return printJSON(s.out, map[string]any{"runs": results})
	}
	return printTrials(plainly(s.out), results)
}

// totalText is the bill of a whole experiment.
func totalText(plans []*compile.Plan) (string, error) {
	total, err := pay.Total(plans)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("EXPERIMENT  %s\n  epsilon of all together (proven)  %s at delta %g (%s, %s)\n",
		plural(len(plans), "run"), record.Bound(total.Epsilon), total.Delta, total.Adjacency, total.Accountant)
	if total.Reason != "" {
		text += "  " + total.Reason + "\n"
	}
	return text, nil
}

// trials lists the runs of an experiment and compiles each before the first one runs, so
// that a grid does not stop half-way over a value that the spec cannot take. What several
// of them refuse is told once.
func (f *specFlags) trials(arg string, base *compile.Plan) ([]spec.Trial, []*compile.Plan, error) {
	trials, err := base.Spec.Experiment.Trials()
	if err != nil {
		return nil, nil, withCode(exitUsage, err)
	}
	plans, errs, told := make([]*compile.Plan, len(trials)), []error{}, map[string]bool{}
	for i, t := range trials {
		flags := *f
		flags.set = append(append([]string(nil), f.set...), t.Set...)
		if plans[i], err = flags.compile(arg); err != nil && !told[err.Error()] {
			told[err.Error()] = true
			errs = append(errs, fmt.Errorf("experiment.grid with %s: %w", strings.Join(t.Set, " "), err))
		}
	}
	return trials, plans, errors.Join(errs...)
}

func printTrials(w io.Writer, results []trialResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SETTINGS\tREPEAT\tEPSILON (PROVEN)\tRUN")
	for _, r := range results {
		eps := "none"
		if p := r.Epsilon["proven"]; p != nil {
			eps = record.Bound(*p)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", strings.Join(r.Set, " "), r.Trial.Repeat+1, eps, r.Run)
	}
	return t.Flush()
}
