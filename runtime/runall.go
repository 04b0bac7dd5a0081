package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"weir/pipeline/compile"
	"weir/runtime/payment"
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
	opts.seen, opts.told = &payment.Seen{}, &notices{notes: map[string]bool{}}
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

// trial returns the options of one of the trials.
func (o Options) trial(i int, t Trial) Options {
	run := o.RunsDone + i + 1
	o.Repeat, o.Log = t.Repeat, o.Log.With("run", run)
	o.Progress = inTrial{o.Progress, fmt.Sprintf("run %d: ", run)}
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

// PublicSeed returns the seed of public randomness in a repeat of an experiment: the spec's own in
// the first, in later ones 53 bits (which every reader of JSON holds) that follow from it. Runs
// of one repeat share it whatever else they differ in, so that their figures can be paired.
func PublicSeed(seed uint64, repeat int) uint64 {
	if repeat == 0 {
		return seed
	}
	b := binary.LittleEndian.AppendUint64([]byte("weir repeat\x00"), seed)
	digest := sha256.Sum256(binary.LittleEndian.AppendUint64(b, uint64(repeat)))
	return binary.LittleEndian.Uint64(digest[:]) >> 11
}

// repeated names the stages that a repeat does again: those that draw noise, and all that
// read what comes of it. What lies before them, a split of the rows too, is the same in all
// repeats, so that one cached output serves all.
func repeated(plan *compile.Plan) map[string]bool {
	again := map[string]bool{}
	for i := range plan.Steps { // a stage stands behind those it reads
		step := &plan.Steps[i]
		again[step.ID] = len(step.Work.Spends) > 0
		for _, refs := range step.Inputs {
			for _, ref := range refs {
				again[step.ID] = again[step.ID] || again[ref.Stage]
			}
		}
	}
	return again
}

// seedsOf gives the seed of each step's public randomness in a repeat.
func seedsOf(plan *compile.Plan, repeat int) func(*compile.Step) uint64 {
	again := repeated(plan)
	return func(step *compile.Step) uint64 {
		if !again[step.ID] {
			return plan.Seed
		}
		return PublicSeed(plan.Seed, repeat)
	}
}
