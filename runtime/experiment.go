package runtime

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/record"
	"weir/runtime/pay"
	"weir/runtime/store"
)

// Trial is one run of an experiment.
type Trial struct {
	Plan   *compile.Plan
	Repeat int
}

// CheckExperiment refuses an experiment whose runs would together pass the
// dataset's budget, before the first of them spends anything.
func CheckExperiment(ctx context.Context, trials []Trial, opts Options) error {
	plan := trials[0].Plan
	if plan.Dataset.Budget == nil || plan.Budget.Infinite() {
		return nil
	}
	folder, err := OpenFolder(opts.Dir, opts.Confine)
	if err != nil {
		return err
	}
	defer folder.Close()
	files := hold(folder)
	defer files.Close()
	s, err := openSource(ctx, plan, files, opts)
	if err != nil {
		return err
	}
	a, err := openAccount(plan, s, folder, opts)
	if err != nil {
		return err
	}
	err = a.Afford(toDo(trials, s, opts)...)
	if errors.Is(err, pay.ErrOverBudget) {
		return fmt.Errorf("the experiment's %d runs together: %w", len(trials), err)
	}
	return err
}

// toDo are the runs that are not done yet.
func toDo(trials []Trial, s *source, opts Options) []*pay.Purse {
	var runs []*pay.Purse
	for i, t := range trials {
		if !isDone(t, s, opts) {
			runs = append(runs, pay.NewPurse(t.Plan, s.Dataset, fmt.Sprintf("run-%d", i+1), noise.Key{}, nil))
		}
	}
	return runs
}

func isDone(t Trial, s *source, opts Options) bool {
	for _, f := range store.FindRuns(filepath.Join(opts.Out, t.Plan.Name), t.Plan.Digest, s.ID, s.Version) {
		if f.Record.Repeat == t.Repeat && f.Record.Status == record.Done && !opts.Fresh {
			return true
		}
	}
	return false
}
