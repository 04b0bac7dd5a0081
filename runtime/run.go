package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"weir/pipeline"
	"weir/privacy/noise"
	"weir/record"
	"weir/runtime/table"
)

// Result is what a run left.
type Result struct {
	Path   string // folder of the run
	Record *record.Run
	Reused bool // a finished run of the same spec and data; nothing was spent
}

// run is one execution of a plan.
type run struct {
	plan   *pipeline.Plan
	opts   Options
	folder *Folder
	dir    runDir
	cache  cache
	key    noise.Key
	payer  *payer
	record *record.Run
	trace  trace

	mu      sync.Mutex
	tables  map[pipeline.Ref]pipeline.Table
	recipes map[string]string
}

// Run carries out a plan. A finished run of the same spec and data is returned
// as it is, unless opts.Fresh; an interrupted one is continued with its own
// noise, which costs nothing again. The error of a cancelled run is the
// context's; its finished stages stay in the cache.
func Run(ctx context.Context, plan *pipeline.Plan, opts Options) (*Result, error) {
	opts.DropKey = opts.DropKey || !plan.Spec.Privacy.KeepNoiseKey
	folder, err := OpenFolder(opts.Dir, opts.Confine)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	source, err := openSource(ctx, plan, folder)
	if err != nil {
		return nil, err
	}
	r := &run{plan: plan, opts: opts, folder: folder, tables: map[pipeline.Ref]pipeline.Table{}, recipes: map[string]string{}}
	finished, err := r.begin(source)
	if err != nil || finished != nil {
		return finished, err
	}
	defer r.dir.lock.Close()
	err = r.carryOut(ctx, source)
	return &Result{Path: r.dir.path, Record: r.record}, errors.Join(err, r.end(err))
}

// begin finds the run to return or continue, or makes a new one.
func (r *run) begin(source *source) (*Result, error) {
	base := filepath.Join(r.opts.Out, r.plan.Name)
	if !r.opts.Fresh && r.opts.Replay == nil {
		for _, f := range findRuns(base, r.plan.Digest, source.digest) {
			switch {
			case f.record.Repeat != r.opts.Repeat || f.record.Insecure != (r.opts.Insecure != nil) || !sameKey(f.record, r.opts):
			case f.record.Status == record.Done:
				return &Result{Path: f.path, Record: f.record, Reused: true}, nil
			default:
				if ok, err := r.resume(f); err != nil {
					return nil, err
				} else if ok {
					return nil, r.prepare(base, source)
				}
			}
		}
	}
	if err := r.start(base); err != nil {
		return nil, err
	}
	if err := r.prepare(base, source); err != nil {
		r.dir.lock.Close()
		return nil, errors.Join(err, os.RemoveAll(r.dir.path)) // nothing was spent: a refused run leaves no trace
	}
	return nil, nil
}

// sameKey: a run with a test seed continues or repeats only one of the same seed.
func sameKey(rec *record.Run, opts Options) bool {
	return opts.Insecure == nil || rec.KeyCommitment == insecureKey(*opts.Insecure).Commitment()
}

// resume takes over an unfinished run whose key was kept.
func (r *run) resume(f found) (bool, error) {
	key, err := LoadKey(filepath.Join(f.path, "internal"))
	if err != nil {
		return false, nil // without its key a run cannot be continued
	}
	dir := runDir{path: f.path}
	if err := dir.acquire(); err != nil {
		if errors.Is(err, errLocked) {
			return false, fmt.Errorf("%s: %w; wait for it, or start another with --fresh", f.path, err)
		}
		return false, err
	}
	r.dir, r.key, r.record = dir, key, f.record
	r.opts.Log.Info("continuing an interrupted run", "run", f.path)
	return true, nil
}

// start makes a new run with a new key.
func (r *run) start(base string) error {
	key, err := newKey(r.opts)
	if err != nil {
		return fmt.Errorf("noise key: %w", err)
	}
	dir, id, err := newRunDir(base, r.opts)
	if err != nil {
		return err
	}
	r.dir, r.key = dir, key
	r.record = &record.Run{ID: id, Started: r.opts.Clock()}
	return keepKey(dir.internal(), key)
}

// carryOut runs the stages and, when all are done, publishes.
func (r *run) carryOut(ctx context.Context, source *source) error {
	r.tables[pipeline.Ref{Stage: pipeline.DatasetID}] = source.table
	r.recipes[pipeline.DatasetID] = source.recipe()
	if err := schedule(ctx, r.plan, max(1, r.opts.Workers), r.execute); err != nil {
		return err
	}
	return r.publish(ctx)
}

func (r *run) internalPath(name string) string { return filepath.Join(r.dir.internal(), name) }

// planRecipe finds the digest of step's recipe; those of its inputs are known.
func (r *run) planRecipe(ctx context.Context, step *pipeline.Step) error {
	var files []string
	for _, name := range step.Outline.Files {
		digest, err := table.Digest(ctx, r.folder, name)
		if err != nil {
			return err
		}
		files = append(files, digest)
	}
	if showsPlan(step) {
		files = append(files, r.plan.Digest, fmt.Sprint("insecure ", r.opts.Insecure != nil))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recipes[step.ID] = recipeOf(step, r.recipes, files, r.plan.Seed, r.key.Commitment())
	return nil
}

// showsPlan reports whether the step writes pages: they may show the plan and its
// bill, so one of another plan is never reused.
func showsPlan(step *pipeline.Step) bool {
	for _, h := range step.Outline.Out {
		if h.Form == pipeline.FormFiles {
			return true
		}
	}
	return false
}

// recipe is the digest that planRecipe found.
func (r *run) recipe(step *pipeline.Step) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recipes[step.ID]
}

// keep makes a step's outputs available to those that read them.
func (r *run) keep(step *pipeline.Step, tables pipeline.Tables, e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for port, t := range tables {
		r.tables[pipeline.Ref{Stage: step.ID, Port: port}] = t
		if port == step.First {
			r.tables[pipeline.Ref{Stage: step.ID}] = t
		}
	}
	if e != nil {
		r.noteOutputs(step.ID, *e)
	}
}
