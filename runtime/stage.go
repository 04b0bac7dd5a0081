package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/runtime/payment"
	"weir/runtime/store"
	"weir/runtime/table"
)

// execute runs one step, or takes its outputs from the cache.
func (r *run) execute(ctx context.Context, step *compile.Step) error {
	began := r.opts.Clock()
	works := r.outputs.stores(step) // else it works while others read it
	if works {
		r.opts.Progress.Start(step.ID, step.Kind)
	}
	reused, err := r.produce(ctx, step)
	err = pipeline.AtStage(step.ID, err)
	if pipeline.Cancelled(err) {
		r.watch.stopped(step.ID, r.outputs.cache.Scratch(r.place(step)).Drawn() != nil)
	}
	if works {
		r.opts.Progress.End(step.ID, reused, err)
	}
	seconds := r.opts.Clock().Sub(began).Seconds()
	r.noteStage(step, reused, seconds)
	r.opts.Log.Info("stage ended", "stage", step.ID, "kind", step.Kind, "reused", reused, "lazy", step.Lazy,
		"ok", err == nil, "seconds", seconds)
	return err
}

// produce makes the outputs of a step, or finds them in the cache, while no other run charges its recipe.
func (r *run) produce(ctx context.Context, step *compile.Step) (reused bool, err error) {
	release, err := r.purse.Reserve(ctx, step)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	where := r.place(step)
	scratch := r.outputs.cache.Scratch(where)
	if r.outputs.stores(step) {
		defer r.opts.turns.Take(where)()
		if r.outputs.load(step, where) {
			// A kill between storing and this leaves checkpoints.
			return true, errors.Join(r.purse.PayAll(step), scratch.Remove())
		}
	}
	payer, err := r.purse.Payer(step, scratch.Drawn())
	if err != nil {
		return false, err
	}
	secrets := r.purse.Secrets(step)
	out, err := r.runStage(ctx, step, payer, secrets)
	if err != nil {
		return false, err
	}
	if !r.outputs.stores(step) {
		tables, err := lazy(step, out)
		r.outputs.keep(step, tables)
		return false, errors.Join(err, secrets.Close())
	}
	promised := func() error { return errors.Join(payer.Close(), secrets.Close(), r.files.Untouched()) }
	return false, r.store(ctx, step, where, out, promised)
}

// store writes what a stage made to the cache, at an address.
func (r *run) store(ctx context.Context, step *compile.Step, where string, out pipeline.Tables,
	promised func() error) (err error) {
	defer r.guarded(step, &err)
	return r.outputs.store(ctx, step, where, out, promised)
}

// guarded turns a panic, which is an internal error, into an error whose details stay
// internal, because they may quote data. Rows are computed while they are stored or
// written, so these are guarded too.
func (r *run) guarded(step *compile.Step, err *error) {
	if p := recover(); p != nil {
		path := filepath.Join(r.attempt.Dir.Internal(), "fault-"+step.ID+".txt")
		r.opts.Disk.WriteBytes(path, 0o600, fmt.Appendf(nil, "%v\n\n%s", p, debug.Stack()))
		*err = fmt.Errorf("internal error in weir, not in the spec; details are in %s, which is private", path)
	}
}

func (r *run) runStage(ctx context.Context, step *compile.Step, payer *payment.Payer, secrets *payment.Secrets) (
	out pipeline.Tables, err error) {
	defer r.guarded(step, &err)
	in := r.outputs.inputs(step)
	out, err = step.Work.Run(ctx, r.env(step, payer, secrets), in)
	if err != nil {
		return nil, err
	}
	for port, h := range step.Work.Out {
		if made := out[port]; h.Form.IsFiles() && made.Files == nil || !h.Form.IsFiles() && made.Open == nil {
			return nil, fmt.Errorf("the kind %s returned no output %s", step.Kind, port)
		}
	}
	return out, push(step, in["in"].Pushed, out)
}

// push says of the first output how a database computes its rows, where it computes the rows of the input.
func push(step *compile.Step, pushed *pipeline.Pushed, out pipeline.Tables) error {
	if pushed == nil || step.Work.Elsewhere == nil {
		return nil
	}
	rows, err := step.Work.Elsewhere(pushed.Relation)
	t := out[step.First]
	t.Pushed = &pipeline.Pushed{Relation: rows, Session: pushed.Session}
	out[step.First] = t
	return err
}

// lazy puts the planned headers on streams, and the stage's name on their errors.
func lazy(step *compile.Step, out pipeline.Tables) (pipeline.Tables, error) {
	tables := pipeline.Tables{}
	for port, h := range step.Work.Out {
		h, err := h.Filled(out[port].Domain)
		if err != nil {
			return nil, err
		}
		tables[port] = pipeline.Table{Header: h, Open: nameErrors(step.ID, out[port].Open), Files: out[port].Files,
			Pushed: out[port].Pushed}
	}
	return tables, nil
}

func nameErrors(stage string, open func(context.Context) pipeline.Batches) func(context.Context) pipeline.Batches {
	return func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			reading := true
			defer func() {
				if !reading { // the panic, if any, is the reader's
					return
				}
				if p := recover(); p != nil {
					yield(nil, pipeline.AtStage(stage, store.ErrInternal))
				}
			}()
			for rec, err := range open(ctx) {
				reading = false
				if !yield(rec, pipeline.AtStage(stage, err)) {
					return
				}
				reading = true
			}
			reading = false
		}
	}
}

// env returns all that a running stage may touch.
func (r *run) env(step *compile.Step, payer *payment.Payer, secrets *payment.Secrets) *pipeline.Env {
	return &pipeline.Env{
		Stage:    step.ID,
		Plan:     r.view(step),
		Insecure: r.opts.Insecure != nil,
		Workers:  max(1, r.opts.Workers),
		Counting: r.opts.Counting,
		Log:      r.opts.Log.With("stage", step.ID),
		Progress: func(done, total int64) { r.watch.reached(step.ID, done, total) },
		Resumed:  func(done, total int64) { r.opts.Progress.Resumed(step.ID, done, total) },
		Metric:   func(name string, value float64) { r.watch.add(step.ID, name, value) },
		Rand:     func(purpose string) *rand.Rand { return PublicRand(r.seed(step), step.ID, purpose) },
		Secret:   secrets.Stream,
		Readers:  r.plan.Spec.Readers,
		Privacy:  payer,
		Mem:      memory.DefaultAllocator,
		Files:    r.opener(step),
		Create: func(name string) (io.WriteCloser, error) {
			return r.outputs.cache.Scratch(r.place(step)).Create(name, payer.Released)
		},
		Restore: func(name string) (io.ReadCloser, error) {
			return r.outputs.cache.Scratch(r.place(step)).Open(name)
		},
	}
}

// view returns what of the plan a stage's recipe holds, and no more: what the stage makes may be used
// again under another plan.
func (r *run) view(step *compile.Step) *pipeline.Plan {
	switch {
	case step.Work.OfPlan:
		return r.plan.View()
	case step.Work.OfBudget:
		return &pipeline.Plan{Budget: r.plan.Budget, Delta: r.plan.Delta, Adjacency: r.plan.Adjacency}
	}
	return nil
}

// opener opens the further tables that the work of a step names, and no other: by
// them its class is judged.
func (r *run) opener(step *compile.Step) func(string, *pipeline.CSV, *domain.Domain) (pipeline.Table, error) {
	return func(path string, csv *pipeline.CSV, domain *domain.Domain) (pipeline.Table, error) {
		for _, f := range step.Work.Files {
			if f.Path == path {
				return table.Open(r.files, path, csv, domain)
			}
		}
		return pipeline.Table{}, fmt.Errorf("%s: the stage opens this file, which is not in the stage's plan", path)
	}
}

// PublicRand returns public randomness: a function of the spec's seed, the stage and
// the purpose, so that it does not depend on what else runs.
func PublicRand(seed uint64, stage, purpose string) *rand.Rand {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h := sha256.New()
	h.Write(b[:])
	h.Write([]byte(stage + "\x00" + purpose))
	return rand.New(rand.NewChaCha8([32]byte(h.Sum(nil))))
}

// errNoRun is what a stage hears that wants noise or files outside a run.
var errNoRun = errors.New("this needs a run; put the stage into a spec")

type noPayer struct{}

func (noPayer) Open(string) (*privacy.Handle, error) { return nil, errNoRun }

// LocalEnv lets a stage that spends nothing work outside a run, as `weir
// evaluate` does: it has public randomness and progress, and neither noise nor
// files.
func LocalEnv(stage string, seed uint64, workers int, log *slog.Logger, progress Reporter) *pipeline.Env {
	secret := payment.NewSecrets(payment.InsecureKey(seed), stage, true)
	return &pipeline.Env{
		Stage: stage, Workers: max(1, workers), Log: log, Mem: memory.DefaultAllocator,
		Progress: func(done, total int64) { progress.Progress(stage, done, total) },
		Resumed:  func(done, total int64) { progress.Resumed(stage, done, total) },
		Metric:   func(string, float64) {},
		Rand:     func(purpose string) *rand.Rand { return PublicRand(seed, stage, purpose) },
		Secret:   secret.Stream,
		Privacy:  noPayer{},
		Files: func(string, *pipeline.CSV, *domain.Domain) (pipeline.Table, error) {
			return pipeline.Table{}, errNoRun
		},
		Create:  func(string) (io.WriteCloser, error) { return nil, errNoRun },
		Restore: func(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist },
	}
}

// Safely turns a panic, which is an internal error, into an error that quotes
// nothing of the data.
func Safely[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("internal error in weir, not in the input; please report it")
		}
	}()
	return f()
}
