// Package runtime carries out a plan: it opens the data, orders the stages,
// runs independent ones side by side, stores their outputs by content, pays the
// ledger, and leaves a record. It never imports stages.
package runtime

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/record"
	"weir/runtime/book"
	"weir/runtime/database/postgres"
	"weir/runtime/files"
	"weir/runtime/schedule"
	"weir/runtime/store"
)

// Result is what a run left.
type Result struct {
	Path   string // folder of the run
	Record *record.Run
	Reused bool     // a finished run of the same spec and data; nothing was spent
	Before []string // ids of its own charges that stood in the ledger when it was continued, or made again
	Left   *int64   // rows that max_rows left out, where this run has read the rows: private, for the owner's terminal alone
	Stops  []Stop   // where the stages stood that a cancelled run was carrying out, of those that say
}

// run is one execution of a plan.
type run struct {
	plan   *compile.Plan
	opts   Options
	folder *files.Folder
	files  *files.Held
	source *opened
	dir    store.RunDir
	cache  store.Cache
	key    noise.Key
	purse  *book.Purse
	record *record.Run
	before *record.Run // of a finished run that is made again, else nil
	trace  trace
	there  map[string]postgres.Standing // by stage: what was there, before the run, where its table is written to
	once   map[string]bool              // lazy tables that are stored
	seed   func(*compile.Step) uint64   // of public randomness

	blind bool // no data is opened: a survey of what a plan would charge
	paid  bool // a finished run has charged all of it, and read other rows of a further private file: nothing new may be charged
	open  bool // an interrupted run that read other rows would have charged what it had left, and so may this one

	mu        sync.Mutex
	at        map[string][2]int64 // progress of the stages at work
	stops     []Stop
	tables    map[pipeline.Ref]pipeline.Table
	content   string                   // tells apart what private files hold; for the owner's side only
	recipes   map[string]string        // public
	earlier   map[string]*book.Earlier // runs whose noise stages have, as was found when the run began
	addresses map[string]string        // private side
	stored    []string                 // places that this run stored under
}

// Run carries out a plan. A finished run of the same spec and data is returned
// as it is, unless opts.Fresh; an interrupted one is continued with its own
// noise, which costs nothing again. The error of a cancelled run is the
// context's; its finished stages stay in the cache.
func Run(ctx context.Context, plan *compile.Plan, opts Options) (*Result, error) {
	opts.DropKey = opts.DropKey || !plan.Spec.Privacy.KeepNoiseKey
	held, source, err := openFiles(ctx, plan, opts)
	if err != nil {
		return nil, err
	}
	defer held.Close()
	defer source.Close()
	return runOf(plan, source, held, opts).do(ctx)
}

// openFiles opens the dataset of a plan, and holds what else is opened until it is closed.
func openFiles(ctx context.Context, plan *compile.Plan, opts Options) (*files.Held, *opened, error) {
	folder, err := files.OpenFolder(opts.Dir, opts.Confine)
	if err != nil {
		return nil, nil, err
	}
	held := files.Hold(folder)
	var s *opened
	if err = CheckFiles(plan, folder); err == nil {
		s, err = openSource(ctx, plan, held, opts)
	}
	if err == nil {
		if err = opts.locked(ctx, plan, held, s); err != nil {
			s.Close()
		}
	}
	if err != nil {
		held.Close()
	}
	return held, s, err
}

// runOf is a run of a plan on an opened dataset.
func runOf(plan *compile.Plan, source *opened, held *files.Held, opts Options) *run {
	return &run{plan: plan, opts: opts, folder: held.Folder, files: held, source: source, tables: map[pipeline.Ref]pipeline.Table{},
		earlier: map[string]*book.Earlier{}, addresses: map[string]string{}, at: map[string][2]int64{}, once: storedOnce(plan), seed: seedsOf(plan, opts.Repeat)}
}

func (r *run) do(ctx context.Context) (*Result, error) {
	if err := r.checkPublic(ctx); err != nil {
		return nil, err
	}
	if err := r.nameRecipes(ctx); err != nil {
		return nil, err
	}
	if err := r.opts.Replay.sameContent(r.content); err != nil {
		return nil, err
	}
	if err := r.lookAtServers(ctx); err != nil {
		return nil, err
	}
	finished, err := r.begin(ctx)
	if err != nil || finished != nil {
		return finished, err
	}
	defer r.dir.Unlock()
	err = r.carryOut(ctx)
	return &Result{Path: r.dir.Path, Record: r.record, Before: r.purse.Before(), Left: r.source.left.Load(), Stops: r.stops}, errors.Join(err, r.end(err))
}

// carryOut runs the stages and, when all are done and nothing that they read has
// changed, publishes.
func (r *run) carryOut(ctx context.Context) error {
	if err := r.storeSource(ctx); err != nil {
		return err
	}
	err := schedule.Steps(ctx, r.plan, max(1, r.opts.Workers), r.execute)
	r.settle(err == nil)
	if err == nil {
		same := make(chan error, 1)
		go func() { same <- r.unchanged(ctx) }() // beside the writing of tables, which may read the source again
		err = r.build(ctx)
		err = errors.Join(err, <-same, r.files.Untouched())
	}
	if errors.Is(err, pipeline.ErrChanged) {
		return errors.Join(err, r.opts.Disk.RemoveAll(r.dir.Aside()), r.forget())
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
	own, err := r.files.Lists(r.plan.Spec.Dataset.Declared.Files)
	if err == nil {
		err = r.files.AllUnchanged(ctx, own...)
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

// nameRecipes finds the recipes of all stages, and tells apart what the private files hold.
func (r *run) nameRecipes(ctx context.Context) (err error) {
	digest := func(file string) (string, error) { return r.files.Digest(ctx, file) }
	if r.blind {
		r.recipes, err = recipesOf(r.plan, r.source.Dataset, r.opts.Repeat, ifThere(digest))
		return err
	}
	if r.content, err = contentOf(r.plan, r.source, digest); err != nil {
		return err
	}
	r.recipes, err = recipesOf(r.plan, r.source.Dataset, r.opts.Repeat, digest)
	return err
}

// ifThere takes a public file that is absent for one that no run has read: whoever looks at a
// plan need not have it.
func ifThere(digest func(string) (string, error)) func(string) (string, error) {
	return func(file string) (string, error) {
		of, err := digest(file)
		if errors.Is(err, fs.ErrNotExist) {
			return "absent", nil
		}
		return of, err
	}
}

// nameSource gives the dataset its address.
func (r *run) nameSource() (err error) {
	r.tables[pipeline.Ref{Stage: pipeline.DatasetID}] = r.source.table
	r.addresses[pipeline.DatasetID], err = store.DigestJSON(address{Recipe: r.recipes[pipeline.DatasetID], Files: []string{r.source.content}})
	return err
}

// address is where the outputs of a step lie whose noise is drawn with the key of this
// commitment; those of its inputs are known. It holds what the rows are, so a survey that
// opens no data has none.
func (r *run) address(ctx context.Context, step *compile.Step, key string) (string, error) {
	if r.blind {
		return "", nil
	}
	var all []string
	for _, f := range step.Work.Files {
		digest, err := r.files.Digest(ctx, f.Path)
		if err != nil {
			return "", err
		}
		all = append(all, digest)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := address{Recipe: r.recipes[step.ID], Inputs: chain(r.plan, step, r.addresses), Files: all, Key: key, Test: r.opts.Insecure != nil}
	if step.Work.Secret {
		a.Secret = r.source.secret.Commitment()
	}
	return store.DigestJSON(a)
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
