// Package runtime carries out a plan: it opens the data, orders the stages,
// runs independent ones side by side, stores their outputs by content, pays the
// ledger, and leaves a record. It never imports stages.
package runtime

import (
	"context"
	"errors"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/record"
	"weir/runtime/database/postgres"
	"weir/runtime/files"
	"weir/runtime/payment"
)

// Result is what a run left.
type Result struct {
	Path   string // folder of the run
	Record *record.Run
	Reused bool     // a finished run of the same spec and data; nothing was spent
	Before []string // ids of its own charges that stood in the ledger when it was continued, or made again
	// rows that max_rows left out, where this run has read the rows: private, for the owner's terminal alone
	Left  *int64
	Stops []Stop // where the stages stood that a cancelled run was carrying out, of those that say
}

// run is one execution of a plan.
type run struct {
	plan    *compile.Plan
	opts    Options
	files   *files.Held
	source  *opened
	task    *payment.Task
	attempt payment.Attempt
	purse   *payment.Purse // from when the book is open
	record  *record.Run
	outputs *outputs
	watch   *watch
	there   map[string]postgres.Standing // by stage: what was there, before the run, where its table is written to
	seed    func(*compile.Step) uint64   // of public randomness
}

// Run carries out a plan. A finished run of the same spec and data is returned
// as it is, unless opts.Fresh; an interrupted one is continued with its own
// noise, which costs nothing again. The error of a cancelled run is the
// context's; its finished stages stay in the cache.
func Run(ctx context.Context, plan *compile.Plan, opts Options) (*Result, error) {
	opts.DropKey = opts.DropKey || !plan.Spec.Privacy.KeepNoiseKey
	inputs, source, err := openFiles(ctx, plan, opts)
	if err != nil {
		return nil, err
	}
	defer inputs.Close()
	defer source.Close()
	return newRun(plan, source, inputs, opts).do(ctx)
}

// newRun returns a run of a plan on an opened dataset.
func newRun(plan *compile.Plan, source *opened, held *files.Held, opts Options) *run {
	return &run{plan: plan, opts: opts, files: held, source: source, outputs: newOutputs(plan, source.table, opts),
		watch: &watch{reporter: opts.Progress, done: map[string][2]int64{}}, seed: seedsOf(plan, opts.Repeat)}
}

func (r *run) do(ctx context.Context) (*Result, error) {
	err := r.checkPublic(ctx)
	if err != nil {
		return nil, err
	}
	if r.task, err = taskOf(ctx, r.plan, r.source, r.files, r.opts); err != nil {
		return nil, err
	}
	if err := r.opts.Replay.sameContent(r.task.Rows.Content); err != nil {
		return nil, err
	}
	if err := r.lookAtServers(ctx); err != nil {
		return nil, err
	}
	finished, err := r.begin(ctx)
	if err != nil || finished != nil {
		return finished, err
	}
	defer r.attempt.Dir.Unlock()
	err = r.carryOut(ctx)
	return &Result{Path: r.attempt.Dir.Path, Record: r.record, Before: r.purse.Before(), Left: r.source.left.Load(),
		Stops: r.watch.stops}, errors.Join(err, r.end(err))
}

// carryOut runs the stages and, when all are done and nothing that they read has
// changed, publishes.
func (r *run) carryOut(ctx context.Context) error {
	if err := r.storeSource(ctx); err != nil {
		return err
	}
	err := steps(ctx, r.plan, max(1, r.opts.Workers), r.execute)
	r.settle(err == nil)
	if err == nil {
		same := make(chan error, 1)
		go func() { same <- r.unchanged(ctx) }() // beside the writing of tables, which may read the source again
		err = r.build(ctx)
		err = errors.Join(err, <-same, r.files.Untouched())
	}
	if errors.Is(err, pipeline.ErrChanged) {
		return errors.Join(err, r.opts.Disk.RemoveAll(r.attempt.Dir.Aside()), r.outputs.forget())
	}
	if err != nil {
		return err
	}
	if err := r.send(ctx); err != nil {
		return err
	}
	return r.publish()
}

// unchanged refuses a dataset, or a further file, that is not what the run read.
func (r *run) unchanged(ctx context.Context) error {
	names, err := r.files.Lists(r.plan.Spec.Dataset.Declared.Files)
	if err == nil {
		err = r.files.AllUnchanged(ctx, names...)
	}
	if err != nil {
		return err
	}
	return r.source.Unchanged(ctx)
}

// settle notes in the record what was charged, and until all is done what an attempt
// before was charged: its head is a witness of the ledger.
func (r *run) settle(done bool) {
	charges, head := r.purse.Paid()
	if !done {
		paid := func(c record.Charge) bool {
			return slices.ContainsFunc(charges, func(made record.Charge) bool { return made.ID == c.ID })
		}
		charges = append(slices.DeleteFunc(slices.Clone(r.record.Charges), paid), charges...)
	}
	r.record.Charges = charges
	if d := &r.record.Dataset; head.Count >= d.LedgerCount {
		d.LedgerCount, d.LedgerHead = head.Count, head.Hash
	}
}
