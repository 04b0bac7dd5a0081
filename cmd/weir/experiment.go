package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/plaintext"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/runtime"
	"weir/runtime/experiment"
	"weir/runtime/review"
)

// trialResult is one run of an experiment.
type trialResult struct {
	spec.Trial
	runResult
	PublicSeed uint64 `json:"public_seed"`
}

// experimentResult is what `weir run --json` prints of an experiment.
type experimentResult struct {
	Bill   experiment.Bill   `json:"bill"`
	Runs   []trialResult     `json:"runs"`
	Table  *experiment.Table `json:"sweep"`
	Folder string            `json:"folder"` // of the table as files; internal
}

// severalResult is what `weir run --json` prints of several specs.
type severalResult struct {
	Bills       []experiment.DatasetBill `json:"bills"`
	Experiments []experimentResult       `json:"experiments"`
	Folder      string                   `json:"folder"` // of the document on all of them; internal
}

// plan compiles every trial of a spec.
func (f *specFlags) plan(arg string, base *compile.Plan) (*experiment.Plan, error) {
	return f.trials(arg, base, experiment.NewPlan)
}

// priced plans trials for who only wants to know what the trials cost.
func (f *specFlags) priced(arg string, base *compile.Plan) (*experiment.Plan, error) {
	return f.trials(arg, base, experiment.Priced)
}

func (f *specFlags) trials(arg string, base *compile.Plan, plan planner) (*experiment.Plan, error) {
	trials, err := base.Spec.Experiment.Trials()
	if err != nil {
		return nil, withCode(exitUsage, err)
	}
	var done atomic.Int64
	return plan(base, trials, func(t spec.Trial, compiled func(*spec.Spec) (*compile.Plan, error)) (*compile.Plan, error) {
		if f.tell != nil {
			defer func() { f.tell(arg, int(done.Add(1))) }()
		}
		sp, err := base.Spec.Trial(t)
		if err != nil {
			return nil, review.Unread(err)
		}
		return f.planned(arg, sp, compiled)
	})
}

// planner is experiment.NewPlan or experiment.Priced.
type planner func(*compile.Plan, []spec.Trial, experiment.Compiler) (*experiment.Plan, error)

// experiment runs every combination of the grid with every cell, and every repeat: each is a
// run of its own, with its own noise and its own charge.
func (f *runFlags) experiment(c *cobra.Command, s streams, arg string, base *compile.Plan) error {
	x, err := f.spec.plan(arg, base)
	if err != nil {
		return err
	}
	bill, err := experiment.BillOf(x.Runs(), f.fresh)
	if err != nil {
		return err
	}
	fmt.Fprint(s.err, s.wrap(bill.Text()))
	done, opts, err := f.carryOut(c, s, arg, []*experiment.Plan{x})
	if err != nil {
		return err
	}
	r, err := x.Result(c.Context(), opts, bill, done)
	if err != nil {
		return f.failure(c.Context(), err, done...)
	}
	result := experimentJSONOf(r)
	if f.asJSON {
		return printJSON(s.out, result)
	}
	if err := result.print(s.out); err != nil {
		return err
	}
	return f.printLeft(c.Context(), s, arg, base, result.Table.Insecure)
}

func experimentJSONOf(r experiment.Result) experimentResult {
	out := experimentResult{Bill: r.Bill, Table: r.Table, Folder: r.Folder}
	for i, trial := range r.Plan.Trials {
		seed := runtime.PublicSeed(r.Plan.Plans[i].Seed, trial.Repeat)
		out.Runs = append(out.Runs, trialResult{trial, resultJSON(r.Runs[i]), seed})
	}
	return out
}

// carryOut runs experiments side by side, as one, and gives the results of all in order.
func (f *runFlags) carryOut(c *cobra.Command, s streams, arg string, list []*experiment.Plan,
) ([]*runtime.Result, runtime.Options, error) {
	total, n := len(experiment.AllRuns(list)), 0
	for _, x := range list {
		name := ""
		if len(list) > 1 {
			name = x.Base.Name + ": "
		}
		for _, t := range x.Trials {
			n++
			fmt.Fprintf(plainly(s.err), "run %d of %d: %s%s repeat %d\n", n, total, name, t.Name(), t.Repeat+1)
		}
	}
	progress := newProgress(s.err, f.asJSON)
	opts := f.options(c, s, arg, progress)
	left := runsLeft{began: time.Now(), total: total, show: progress.Runs}
	opts.Ran = left.ran
	done, err := experiment.Run(c.Context(), list, opts)
	progress.Wait()
	if err != nil {
		err = f.failure(c.Context(), err, done...)
	}
	return done, opts, err
}

// several runs specs as one experiment: one bill for each dataset before the first run, runs side by side,
// stages that are alike computed once, and one document.
func (f *runFlags) several(c *cobra.Command, s streams, args []string) error {
	if f.locked {
		return usage(c, errors.New("--locked: is given with several specs, must be given with one"))
	}
	list, err := f.spec.planAll(args, experiment.NewPlan)
	if err != nil {
		return err
	}
	bills, err := experiment.BillsOf(list, f.fresh)
	if err != nil {
		return err
	}
	if n := experiment.Datasets(list); f.ledger != "" && n > 1 {
		return usage(c, fmt.Errorf("--ledger: is given with specs on %d datasets, each of which has a ledger of its own, "+
			"must be left out", n))
	}
	f.warnOnce(s, list)
	for _, b := range bills {
		fmt.Fprint(s.err, s.wrap(b.Text()))
	}
	done, opts, err := f.carryOut(c, s, args[0], list)
	if err != nil {
		return err
	}
	r, err := experiment.Results(c.Context(), opts, list, bills, done)
	if err != nil {
		return f.failure(c.Context(), err, done...)
	}
	result := severalResult{Bills: bills, Folder: r.Folder}
	for _, one := range r.Results {
		result.Experiments = append(result.Experiments, experimentJSONOf(one))
	}
	if f.asJSON {
		return printJSON(s.out, result)
	}
	return result.print(s.out, experiment.Judge(r.Tables))
}

// warnOnce prints what weir check would say of the specs, each warning with the first of them that has it.
func (f *runFlags) warnOnce(s streams, list []*experiment.Plan) {
	shown := map[string]bool{}
	for _, x := range list {
		var text strings.Builder
		printWarnings(&text, s.wrap, x.Base)
		if !f.asJSON && text.Len() > 0 && !shown[text.String()] {
			shown[text.String()] = true
			fmt.Fprintf(plainly(s.err), "%s:\n%s", x.Base.Name, text.String())
		}
	}
}

// planAll compiles specs of one folder with all runs of their experiments.
func (f *specFlags) planAll(args []string, plan planner) (list []*experiment.Plan, err error) {
	var errs []error
	names := map[string]string{}
	for _, arg := range args {
		if f.dir(arg) != f.dir(args[0]) {
			errs = append(errs, withCode(exitUsage, fmt.Errorf("%s: lies in another folder than %s, must lie beside it: "+
				"several specs are one experiment of one folder", arg, args[0])))
			continue
		}
		x, err := f.planOne(arg, names, plan)
		list, errs = append(list, x), append(errs, err)
	}
	return list, errors.Join(errs...)
}

// planOne compiles a spec whose name none of the specs before it has.
func (f *specFlags) planOne(arg string, names map[string]string, plan planner) (*experiment.Plan, error) {
	base, err := f.compile(arg)
	if err != nil {
		return nil, err
	}
	if first, taken := names[base.Name]; taken {
		return nil, withCode(exitUsage, fmt.Errorf("%s: has the name %s, as %s has, must have one of its own: "+
			"it is the folder of its runs", arg, base.Name, first))
	}
	names[base.Name] = arg
	return f.trials(arg, base, plan)
}

func (r severalResult) print(w io.Writer, verdict experiment.Verdict) error {
	if slices.ContainsFunc(r.Experiments, func(e experimentResult) bool { return e.Table.Insecure }) {
		fmt.Fprint(w, paint(w, red, "NOT PRIVATE")+": noise from --insecure-noise-seed; do not release.\n\n")
	}
	for _, e := range r.Experiments {
		fmt.Fprintf(plainly(w), "%s: %s\n", e.Table.Name, path.Join(e.Folder, "sweep.html"))
	}
	_, err := fmt.Fprintf(w, "\n%s\n%-16s %s\n", words.Wrap(verdict.Text()), "all of them",
		plaintext.Text(path.Join(r.Folder, "together.md")))
	return err
}

// mostWide is the width that the table on a terminal keeps to.
const mostWide = 100

func (r experimentResult) print(w io.Writer) error {
	if r.Table.Insecure {
		fmt.Fprint(w, paint(w, red, "NOT PRIVATE")+": noise from --insecure-noise-seed; do not release.\n\n")
	}
	reused := 0
	for _, run := range r.Runs {
		if run.Reused {
			reused++
		}
	}
	if reused > 0 {
		fmt.Fprintf(w, "%d of the runs were made before; they are shown, and nothing was charged for them.\n\n", reused)
	}
	if err := r.Table.Print(plainly(w), mostWide); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%-16s %s\n", "charged", r.charged())
	_, err := fmt.Fprintf(w, "%-16s %s\n%-16s %s\n%-16s %s\n", "page", plaintext.Text(path.Join(r.Folder, "sweep.html")),
		"table",
		plaintext.Text(path.Join(r.Folder, "table.csv")), "single runs", plaintext.Text(path.Join(r.Folder, "runs.csv")))
	return err
}

// charged says what the runs that were made now charged, and what they took from others.
func (r experimentResult) charged() string {
	charged, before, used := 0, 0, 0
	for _, run := range r.Runs {
		if !run.Reused {
			charged, before, used = charged+len(run.Charged)-len(run.Before), before+len(run.Before), used+len(run.From)
		}
	}
	text := words.Plural(charged, "charge") + ", by the runs that were made or continued now"
	if before > 0 {
		text += fmt.Sprintf("; %s paid before, when those were begun", words.Plural(before, "charge"))
	}
	if used > 0 {
		text += fmt.Sprintf("; %s reused, charged in other runs", words.Plural(used, "stage"))
	}
	return text
}
