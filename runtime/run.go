// Package runtime carries out a plan: it opens the data, orders the stages,
// runs independent ones side by side, stores their outputs by content, pays the
// ledger, and leaves a record. It never imports stages.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/record"
	"weir/runtime/pay"
	"weir/runtime/schedule"
	"weir/runtime/store"
)

// Result is what a run left.
type Result struct {
	Path   string // folder of the run
	Record *record.Run
	Reused bool // a finished run of the same spec and data; nothing was spent
}

// run is one execution of a plan.
type run struct {
	plan   *compile.Plan
	opts   Options
	folder *Folder
	files  *held
	source *source
	dir    store.RunDir
	cache  store.Cache
	key    noise.Key
	purse  *pay.Purse
	record *record.Run
	before *record.Run // of a finished run that is made again, else nil
	trace  trace
	once   map[string]bool // lazy tables that are stored
	again  map[string]bool // stages that repeats do again

	mu        sync.Mutex
	tables    map[pipeline.Ref]pipeline.Table
	recipes   map[string]string // public
	addresses map[string]string // private side
	stored    []string          // places that this run stored under
}

// Run carries out a plan. A finished run of the same spec and data is returned
// as it is, unless opts.Fresh; an interrupted one is continued with its own
// noise, which costs nothing again. The error of a cancelled run is the
// context's; its finished stages stay in the cache.
func Run(ctx context.Context, plan *compile.Plan, opts Options) (*Result, error) {
	opts.DropKey = opts.DropKey || !plan.Spec.Privacy.KeepNoiseKey
	files, source, err := openFiles(ctx, plan, opts)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	return runOf(plan, source, files, opts).do(ctx)
}

// openFiles opens the dataset of a plan, and holds what else is opened until it is closed.
func openFiles(ctx context.Context, plan *compile.Plan, opts Options) (*held, *source, error) {
	folder, err := OpenFolder(opts.Dir, opts.Confine)
	if err != nil {
		return nil, nil, err
	}
	files := hold(folder)
	var s *source
	if err = CheckFiles(plan, folder); err == nil {
		s, err = openSource(ctx, plan, files, opts)
	}
	if err != nil {
		files.Close()
	}
	return files, s, err
}

// runOf is a run of a plan on an opened dataset.
func runOf(plan *compile.Plan, source *source, files *held, opts Options) *run {
	return &run{plan: plan, opts: opts, folder: files.folder, files: files, source: source, tables: map[pipeline.Ref]pipeline.Table{},
		recipes: map[string]string{}, addresses: map[string]string{}, once: storedOnce(plan), again: repeated(plan)}
}

func (r *run) do(ctx context.Context) (*Result, error) {
	if err := errors.Join(r.checkPublic(ctx), r.opts.Replay.sameContent(r.source.content)); err != nil {
		return nil, err
	}
	finished, err := r.begin(ctx)
	if err != nil || finished != nil {
		return finished, err
	}
	defer r.dir.Unlock()
	err = r.carryOut(ctx)
	return &Result{Path: r.dir.Path, Record: r.record}, errors.Join(err, r.end(err))
}

// carryOut runs the stages and, when all are done and nothing that they read has
// changed, publishes.
func (r *run) carryOut(ctx context.Context) error {
	if err := r.nameSource(); err != nil {
		return err
	}
	if err := r.storeSource(ctx); err != nil {
		return err
	}
	err := schedule.Steps(ctx, r.plan, max(1, r.opts.Workers), r.execute)
	r.settle(err == nil)
	if err == nil {
		same := make(chan error, 1)
		go func() { same <- r.files.unchanged(ctx) }() // beside the writing of tables, which may read the source again
		err = r.build(ctx)
		err = errors.Join(err, <-same, r.files.untouched())
	}
	if errors.Is(err, errChanged) {
		return errors.Join(err, r.opts.Disk.RemoveAll(r.dir.Aside()), r.forget())
	}
	if err != nil {
		return err
	}
	return r.publish()
}

// settle notes in the record what was charged, and until all is done what an attempt
// before was charged: its head is a witness of the ledger.
func (r *run) settle(done bool) {
	charges, head := r.purse.Paid()
	if !done {
		paid := func(c record.Charge) bool {
			return slices.ContainsFunc(charges, func(now record.Charge) bool { return now.ID == c.ID })
		}
		charges = append(slices.DeleteFunc(slices.Clone(r.record.Charges), paid), charges...)
	}
	r.record.Charges = charges
	if of := &r.record.Dataset; head.Count >= of.LedgerCount {
		of.LedgerCount, of.LedgerHead = head.Count, head.Hash
	}
}

// forget takes out of the cache what this run stored: it may be of rows that the
// address does not name.
func (r *run) forget() error {
	var errs []error
	for _, address := range r.stored {
		errs = append(errs, r.cache.Forget(address))
	}
	return errors.Join(errs...)
}

// nameSource gives the dataset its recipe and its address.
func (r *run) nameSource() error {
	recipe, err := sourceRecipe(r.source.ID, r.source.Version, &r.plan.Spec.Dataset)
	if err != nil {
		return err
	}
	where, err := store.DigestJSON(address{Recipe: recipe, Terms: termsOf(r.plan), Files: []string{r.source.content}})
	if err != nil {
		return err
	}
	r.tables[pipeline.Ref{Stage: pipeline.DatasetID}] = r.source.table
	r.recipes[pipeline.DatasetID], r.addresses[pipeline.DatasetID] = recipe, where
	return nil
}

// name finds the recipe and the address of a step; those of its inputs are known.
func (r *run) name(ctx context.Context, step *compile.Step) error {
	digests := map[string]string{}
	var all []string
	for _, f := range step.Work.Files {
		digest, err := r.files.digest(ctx, f.Path)
		if err != nil {
			return err
		}
		digests[f.Path], all = digest, append(all, digest)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	recipe, err := recipeOf(step, r.recipes, digests, r.plan, r.seed(step), r.opts.Repeat)
	if err != nil {
		return err
	}
	r.recipes[step.ID] = recipe
	a := address{Recipe: recipe, Terms: termsOf(r.plan), Inputs: chain(step, r.addresses), Files: all}
	if len(step.Work.Spends) > 0 {
		a.Key = r.key.Commitment()
	}
	if step.Work.Secret {
		a.Secret = r.source.secret.Commitment()
	}
	if step.Work.OfBudget && !r.plan.Budget.Infinite() {
		a.Budget = []float64{float64(r.plan.Budget), r.plan.Delta}
	}
	if showsPlan(step) {
		a.Page = []string{r.plan.Digest, fmt.Sprint("insecure ", r.opts.Insecure != nil)}
	}
	r.addresses[step.ID], err = store.DigestJSON(a)
	return err
}

// showsPlan reports whether the step writes pages: they may show the plan and its
// bill, so one of another plan is never reused.
func showsPlan(step *compile.Step) bool {
	for _, h := range step.Work.Out {
		if h.Form == pipeline.FormFiles {
			return true
		}
	}
	return false
}

// recipe is the public digest of what a step does.
func (r *run) recipe(step *compile.Step) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recipes[step.ID]
}

// keep makes a step's outputs available to those that read them.
func (r *run) keep(step *compile.Step, tables pipeline.Tables) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for port, t := range tables {
		r.tables[pipeline.Ref{Stage: step.ID, Port: port}] = t
		if port == step.First {
			r.tables[pipeline.Ref{Stage: step.ID}] = t
		}
	}
}
