package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"weir/pipeline/compile"
	"weir/privacy/ledger"
	"weir/privacy/noise"
	"weir/record"
	"weir/runtime/pay"
	"weir/runtime/schedule"
	"weir/runtime/store"
)

// Trial is one run of an experiment.
type Trial struct {
	Plan   *compile.Plan
	Repeat int
}

// Experiment carries out trials side by side, each a run of its own with its own noise and
// its own charge, and returns their results in the order of the trials. Trials that would
// together pass the dataset's budget are refused before the first of them spends anything;
// what others spend meanwhile each charge meets under the lock of the ledger. After an error
// nothing new begins, and the same call continues what was interrupted.
//
// At most opts.Workers trials run at a time, and they share the workers: over all trials no
// more stages are at work at once than in a single run, so that memory is bounded as there.
func Experiment(ctx context.Context, trials []Trial, opts Options) ([]*Result, error) {
	order, err := affordable(ctx, trials, opts)
	if err != nil {
		return nil, err
	}
	workers := max(1, opts.Workers)
	together := min(workers, len(trials))
	opts.Workers, opts.turns, opts.order = workers/together, &store.Turns{}, order
	results := make([]*Result, len(trials))
	err = schedule.Each(ctx, len(trials), together, func(ctx context.Context, i int) (err error) {
		// Two trials that come to the same spec are one run: the second waits and is shown it.
		defer opts.turns.Take(fmt.Sprint(trials[i].Plan.Digest, trials[i].Repeat))()
		results[i], err = Run(ctx, trials[i].Plan, opts.trial(i, trials[i]))
		return err
	})
	return results, err
}

// trial are the options of one of the trials.
func (o Options) trial(i int, t Trial) Options {
	o.Repeat, o.Log = t.Repeat, o.Log.With("run", i+1)
	o.Progress = inTrial{o.Progress, fmt.Sprintf("run %d: ", i+1)}
	if o.Insecure != nil {
		seed := *o.Insecure + uint64(t.Repeat)
		o.Insecure = &seed
	}
	return o
}

// inTrial names the run before the stage.
type inTrial struct {
	Reporter
	run string
}

func (r inTrial) Start(stage, kind string) { r.Reporter.Start(r.run+stage, kind) }
func (r inTrial) Progress(stage string, done, total int64) {
	r.Reporter.Progress(r.run+stage, done, total)
}
func (r inTrial) End(stage string, reused bool, err error) {
	r.Reporter.End(r.run+stage, reused, err)
}

// affordable refuses trials that would together pass the dataset's budget, and fixes the
// order of its filter for all of them: side by side each would fix one for itself.
func affordable(ctx context.Context, trials []Trial, opts Options) (order float64, err error) {
	capped := slices.IndexFunc(trials, func(t Trial) bool { return t.Plan.Dataset.Budget != nil && !t.Plan.Budget.Infinite() })
	if capped < 0 {
		return 0, nil
	}
	plan := trials[capped].Plan
	files, s, err := openFiles(ctx, plan, opts)
	if err != nil {
		return 0, err
	}
	defer files.Close()
	a, err := pay.Open(plan, s.Dataset, ledgerPlace(plan, files.folder, opts), opts.Clock)
	if err != nil {
		return 0, err
	}
	var runs []*pay.Purse
	for i, t := range trials {
		if id, done := begun(t, s, opts.trial(i, t)); !t.Plan.Budget.Infinite() && !done {
			runs = append(runs, pay.NewPurse(t.Plan, s.Dataset, cmp.Or(id, fmt.Sprintf("run-%d", i+1)), noise.Key{}, nil))
		}
	}
	if err = a.Afford(runs...); errors.Is(err, ledger.ErrOverBudget) {
		err = fmt.Errorf("the experiment's %d runs together: %w", len(trials), err)
	}
	return a.Order(), err
}

// begun finds the run that a trial would be shown, or continue: what that one has charged
// is in the ledger and is not asked for again.
func begun(t Trial, s *source, opts Options) (id string, done bool) {
	runs, _ := store.FindRuns(filepath.Join(opts.Out, t.Plan.Name), t.Plan.Digest, s.ID, s.Version) // of what cannot be read each run tells
	for _, f := range runs {
		switch r := f.Record; {
		case opts.Fresh || !opts.asked(r) || !(store.RunDir{Path: f.Path}).HasRead(s.content):
		case r.Status == record.Done:
			return r.ID, true
		case opts.Build != "" && r.Build == opts.Build:
			id = r.ID
		}
	}
	return id, false
}
