package runtime

import (
	"context"
	"fmt"

	"weir/pipeline/compile"
	"weir/runtime/store"
)

// Trial is one of several runs that are carried out together, as an experiment's are.
type Trial struct {
	Plan   *compile.Plan
	Repeat int
}

// RunAll carries out trials side by side, each a run of its own, and returns their results in the order of the trials.
// Noise and charge belong to a recipe: stages of one repeat that are alike in two trials share them. Trials that would
// together pass the dataset's budget are refused before the first of them spends anything; what others spend meanwhile
// each charge meets under the lock of the ledger. After an error nothing new begins, and the same call continues what
// was interrupted.
//
// At most opts.Workers trials run at a time, and they share the workers: over all trials no
// more stages are at work at once than in a single run, so that memory is bounded as there.
func RunAll(ctx context.Context, trials []Trial, opts Options) ([]*Result, error) {
	opts.seen, opts.told = &store.Seen{}, &notices{notes: map[string]bool{}}
	orders, err := affordable(ctx, trials, opts)
	if err != nil {
		return nil, err
	}
	opts.Confirm = nil // who is asked has been, for all of them
	workers := max(1, opts.Workers)
	together := min(workers, len(trials))
	opts.Workers, opts.turns, opts.orders = workers/together, &store.Turns{}, orders
	results := make([]*Result, len(trials))
	err = sideBySide(ctx, len(trials), together, func(ctx context.Context, i int) (err error) {
		// Two trials that come to the same spec are one run: the second waits and is shown it.
		defer opts.turns.Take(fmt.Sprint(trials[i].Plan.Digest, trials[i].Repeat))()
		results[i], err = Run(ctx, trials[i].Plan, opts.trial(i, trials[i]))
		if opts.Ran != nil && err == nil {
			opts.Ran()
		}
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
func (r inTrial) Resumed(stage string, done, total int64) {
	r.Reporter.Resumed(r.run+stage, done, total)
}
func (r inTrial) Progress(stage string, done, total int64) {
	r.Reporter.Progress(r.run+stage, done, total)
}
func (r inTrial) End(stage string, reused bool, err error) {
	r.Reporter.End(r.run+stage, reused, err)
}
