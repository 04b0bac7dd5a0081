package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/runtime"
)

// trialResult is one line of an experiment.
type trialResult struct {
	pipeline.Trial
	runResult
}

// experiment runs every combination of the grid and every repeat, one after the
// other: each is a run of its own, with its own noise and its own charge.
func (f *runFlags) experiment(c *cobra.Command, s streams, arg string, base *pipeline.Plan) error {
	trials, err := base.Spec.Experiment.Trials()
	if err != nil {
		return withCode(exitUsage, err)
	}
	plans, err := f.trialPlans(arg, trials)
	if err != nil {
		return err
	}
	var results []trialResult
	for i, trial := range trials {
		fmt.Fprintf(s.err, "run %d of %d: %s repeat %d\n", i+1, len(trials), strings.Join(trial.Set, " "), trial.Repeat+1)
		progress := newProgress(s.err, f.asJSON)
		opts := f.options(c, s, arg, progress)
		opts.Repeat = trial.Repeat
		if opts.Insecure != nil {
			seed := *opts.Insecure + uint64(trial.Repeat)
			opts.Insecure = &seed
		}
		result, err := runtime.Run(c.Context(), plans[i], opts)
		progress.Wait()
		if err != nil {
			return f.failure(c.Context(), s, result, err)
		}
		results = append(results, trialResult{trial, resultJSON(result)})
	}
	if f.asJSON {
		return printJSON(s.out, map[string]any{"runs": results})
	}
	return printTrials(s.out, results)
}

// trialPlans compiles every trial before the first one runs, so that a grid
// does not stop half-way over a value that the spec cannot take.
func (f *runFlags) trialPlans(arg string, trials []pipeline.Trial) ([]*pipeline.Plan, error) {
	plans := make([]*pipeline.Plan, len(trials))
	for i, t := range trials {
		flags := f.spec
		flags.set = append(append([]string(nil), f.spec.set...), t.Set...)
		plan, err := flags.compile(arg)
		if err != nil {
			return nil, fmt.Errorf("experiment with %s: %w", strings.Join(t.Set, " "), err)
		}
		plans[i] = plan
	}
	return plans, nil
}

func printTrials(w io.Writer, results []trialResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SETTINGS\tREPEAT\tEPSILON (PROVEN)\tRUN")
	for _, r := range results {
		eps := "none"
		if p := r.Epsilon["proven"]; p != nil {
			eps = fmt.Sprintf("%.5g", *p)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\n", strings.Join(r.Set, " "), r.Trial.Repeat+1, eps, r.Run)
	}
	return t.Flush()
}
