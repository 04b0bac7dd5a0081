package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/record/sweep"
	"weir/runtime"
)

// severalResult is what `weir run --json` prints of several specs.
type severalResult struct {
	Bills       []sweep.OnOne      `json:"bills"`
	Experiments []experimentResult `json:"experiments"`
	Folder      string             `json:"folder"` // of the document on all of them; internal
	verdict     sweep.Verdict
}

// several runs specs as one experiment: one bill for each dataset before the first run, runs side by side,
// stages that are alike computed once, and one document.
func (f *runFlags) several(c *cobra.Command, s streams, args []string) error {
	if f.locked {
		return usage(c, errors.New("--locked: is given with several specs, must be given with one"))
	}
	list, err := f.spec.planAll(args, f.spec.trials)
	if err != nil {
		return err
	}
	bills, err := billsOf(list, f.fresh)
	if err != nil {
		return err
	}
	if n := datasetsOf(list); f.ledger != "" && n > 1 {
		return usage(c, fmt.Errorf("--ledger: is given with specs on %d datasets, each of which has a ledger of its own, must be left out", n))
	}
	f.warnOnce(s, list)
	for _, b := range bills {
		fmt.Fprint(s.err, words.Wrap(b.Text()))
	}
	done, opts, err := f.carryOut(c, s, list)
	if err != nil {
		return err
	}
	r, err := resultOf(c.Context(), opts, list, bills, done, f.fresh)
	if err != nil {
		return f.failure(c.Context(), err, done...)
	}
	if f.asJSON {
		return printJSON(s.out, r)
	}
	return r.print(s.out)
}

// warnOnce prints what weir check would say of the specs, each warning with the first of them that has it.
func (f *runFlags) warnOnce(s streams, list []*planned) {
	told := map[string]bool{}
	for _, x := range list {
		var text strings.Builder
		printWarnings(&text, x.base)
		if !f.asJSON && text.Len() > 0 && !told[text.String()] {
			told[text.String()] = true
			fmt.Fprintf(plainly(s.err), "%s:\n%s", x.base.Name, text.String())
		}
	}
}

// planAll compiles specs of one folder with all runs of their experiments, by trials or priced.
func (f *specFlags) planAll(args []string, runs func(string, *compile.Plan) ([]spec.Trial, []*compile.Plan, error)) (list []*planned, err error) {
	var errs []error
	names := map[string]string{}
	for _, arg := range args {
		if f.dir(arg) != f.dir(args[0]) {
			errs = append(errs, withCode(exitUsage, fmt.Errorf("%s: lies in another folder than %s, must lie beside it: several specs are one experiment of one folder", arg, args[0])))
			continue
		}
		x := &planned{arg: arg}
		if x.base, err = f.compile(arg); err == nil {
			if first, taken := names[x.base.Name]; taken {
				err = withCode(exitUsage, fmt.Errorf("%s: has the name %s, as %s has, must have one of its own: it is the folder of its runs", arg, x.base.Name, first))
			}
			names[x.base.Name] = arg
		}
		if err == nil {
			x.trials, x.plans, err = runs(arg, x.base)
		}
		list, errs = append(list, x), append(errs, err)
	}
	return list, errors.Join(errs...)
}

// datasetsOf counts those that specs are on.
func datasetsOf(list []*planned) int {
	keys := map[string]bool{}
	for _, x := range list {
		keys[runtime.SourceKey(x.base)] = true
	}
	return len(keys)
}

// datasetName is what people call the dataset of a plan.
func datasetName(p *compile.Plan) string { return p.Spec.Dataset.Declared.Name }

// fullName tells apart datasets that people call alike.
func fullName(p *compile.Plan) string {
	d := p.Spec.Dataset
	return fmt.Sprintf("%s, version %s", d.Declared.Full, d.Version)
}

// namesOf are the names of the datasets of specs by SourceKey, in full where people call two alike.
func namesOf(list []*planned) map[string]string {
	full, called := map[string]string{}, map[string]int{}
	for _, x := range list {
		if key := runtime.SourceKey(x.base); full[key] == "" {
			full[key] = fullName(x.base)
			called[datasetName(x.base)]++
		}
	}
	for _, x := range list {
		if name := datasetName(x.base); called[name] == 1 {
			full[runtime.SourceKey(x.base)] = name
		}
	}
	return full
}

// billsOf are the bills of all runs on each dataset, and where some have other claims, of those that
// claim a proof. Two datasets that people call alike are named in full.
func billsOf(list []*planned, fresh bool) (bills []sweep.OnOne, err error) {
	of := map[string][]runtime.Trial{}
	var order []*planned // the first on each
	called := namesOf(list)
	for _, x := range list {
		key := runtime.SourceKey(x.base)
		if of[key] == nil {
			order = append(order, x)
		}
		of[key] = append(of[key], x.runs()...)
	}
	for _, x := range order {
		name := called[runtime.SourceKey(x.base)]
		bill, err := billOf(of[runtime.SourceKey(x.base)], fresh)
		if err != nil {
			return nil, fmt.Errorf("dataset %s: %w", name, err)
		}
		bills = append(bills, sweep.OnOne{Dataset: name, Bill: bill})
		proven := provenRuns(of[runtime.SourceKey(x.base)])
		if len(proven) == 0 || len(proven) == bill.Runs {
			continue
		}
		if bill, err = billOf(proven, fresh); err != nil {
			return nil, fmt.Errorf("dataset %s: %w", name, err)
		}
		bills = append(bills, sweep.OnOne{Dataset: name, Part: "only what claims: proven is said of, as if the rest were not run", Bill: bill})
	}
	return bills, nil
}

// provenRuns are the runs of specs that claim a proof.
func provenRuns(runs []runtime.Trial) (proven []runtime.Trial) {
	for _, r := range runs {
		if r.Plan.Spec.Privacy.Claims == pipeline.ClaimsProven {
			proven = append(proven, r)
		}
	}
	return proven
}

// resultOf writes the table of each experiment, and the document on all.
func resultOf(ctx context.Context, opts runtime.Options, list []*planned, bills []sweep.OnOne, done []*runtime.Result, fresh bool) (r severalResult, err error) {
	t, called := &sweep.Together{Bills: bills}, namesOf(list)
	var names []string
	for i, at := 0, 0; i < len(list); i++ {
		x := list[i]
		bill, err := billOf(x.runs(), fresh)
		if err != nil {
			return r, err
		}
		one, err := x.result(ctx, opts, bill, done[at:at+len(x.trials)])
		if err != nil {
			return r, err
		}
		at += len(x.trials)
		one.Table.Dataset = called[runtime.SourceKey(x.base)]
		r.Experiments, names = append(r.Experiments, one), append(names, x.base.Name)
		t.Tables, t.Files = append(t.Tables, one.Table), append(t.Files, one.Folder)
	}
	t.Name, r.Bills, r.verdict = nameOf(names), bills, sweep.Judge(t.Tables)
	r.Folder, err = runtime.WriteTogether(opts.Disk, opts.Out, t, latest(done))
	return r, err
}

func (r severalResult) print(w io.Writer) error {
	insecure := slices.ContainsFunc(r.Experiments, func(e experimentResult) bool { return e.Table.Insecure })
	if insecure {
		fmt.Fprint(w, paint(w, red, "NOT PRIVATE")+": noise from --insecure-noise-seed; do not release.\n\n")
	}
	for _, e := range r.Experiments {
		fmt.Fprintf(plainly(w), "%s: %s\n", e.Table.Name, path.Join(e.Folder, "sweep.html"))
	}
	_, err := fmt.Fprintf(w, "\n%s\n%-16s %s\n", words.Wrap(r.verdict.Text()), "all of them", plaintext.Text(path.Join(r.Folder, "together.md")))
	return err
}
