package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/runtime"
	"weir/runtime/budget"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

// side reads what an argument names, by what lies there.
func (d *differ) side(c *cobra.Command, arg string) (words.Side, error) {
	if strings.HasPrefix(arg, "specs:") {
		return d.specSide(arg)
	}
	arg, err := d.place.find(arg)
	if err != nil {
		return words.Side{}, err
	}
	info, err := os.Stat(arg)
	table := dataset.IsTable(arg)
	rev, name, inGit := strings.Cut(arg, ":")
	switch {
	case err != nil && !table && inGit && rev != "":
		return commitFile(c, rev, name)
	case table || strings.HasSuffix(arg, dataset.LedgerSuffix):
		return ledgerSide(c, arg)
	case err != nil:
		return words.Side{}, withCode(exitUsage, fmt.Errorf("%s: %w: must be a spec, a saved plan, a run (its folder, its id or latest) or a ledger; a spec in git is named as REV..REV -- SPEC", arg, store.Reason(err)))
	case info.IsDir():
		return runSide(arg)
	case filepath.Base(arg) == "run.json":
		return runSide(filepath.Dir(arg))
	}
	return d.fileSide(c, arg)
}

// fileSide tells a saved plan and a ledger of another name from a spec.
func (d *differ) fileSide(c *cobra.Command, arg string) (words.Side, error) {
	data, err := disk.ReadFile(arg, dataset.MostOfLedger)
	if err != nil {
		return words.Side{}, withCode(exitUsage, fmt.Errorf("%s: %w", arg, store.Reason(err)))
	}
	if words.IsPlan(data) {
		return words.Side{Name: arg, Kind: words.PlanSide, Plan: data, Digest: words.Digest(data)}, nil
	}
	first, _, _ := strings.Cut(string(data), "\n")
	var line struct{ Prev, Hash string }
	if json.Unmarshal([]byte(first), &line) == nil && line.Prev != "" && line.Hash != "" {
		return ledgerSide(c, arg)
	}
	return d.specSide(arg)
}

func (d *differ) specSide(arg string) (words.Side, error) {
	return sideOf(arg, func(t spec.Trial) (*spec.Spec, error) {
		flags := d.spec
		flags.trial = t
		return flags.load(arg)
	})
}

// sideOf compiles a spec, and all runs of its experiment. One that says something without a
// plan, such as a budget that cannot be met, is compared by its settings.
func sideOf(name string, load budget.Loader) (words.Side, error) {
	sp, err := load(spec.Trial{})
	if err != nil {
		return words.Side{}, err
	}
	text, err := sp.Canonical()
	if err != nil {
		return words.Side{}, err
	}
	side := words.Side{Name: name, Kind: words.SpecSide, Canonical: text, Digest: sp.Digest}
	plan, err := compile.Compile(sp)
	if err != nil {
		side.Why = err.Error()
		return side, nil
	}
	if side.Plan, err = json.Marshal(plan); err != nil || sp.Experiment == nil {
		return side, err
	}
	side.Experiment, err = together(sp, load)
	if err != nil {
		side.Why, err = "of its experiment: "+err.Error(), nil
	}
	return side, err
}

// together is what the runs of an experiment cost as one plan.
func together(sp *spec.Spec, load budget.Loader) (*words.Experiment, error) {
	runs, err := budget.Runs(sp, load)
	if err != nil {
		return nil, err
	}
	trials := make([]runtime.Trial, len(runs))
	for i, r := range runs {
		trials[i] = r.Trial
	}
	total, _, err := runtime.Together(trials, false)
	return &words.Experiment{Runs: len(runs), Proven: orNil(total.Epsilon)}, err
}
