package runtime

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime/book"
	"weir/runtime/store"
)

// execute runs one step, or takes its outputs from the cache.
func (r *run) execute(ctx context.Context, step *compile.Step) error {
	began := r.opts.Clock()
	works := r.stores(step) // else it works while others read it
	if works {
		r.opts.Progress.Start(step.ID, step.Kind)
	}
	reused, err := r.outputs(ctx, step)
	err = atStage(step.ID, err)
	r.stopped(step, err)
	if works {
		r.opts.Progress.End(step.ID, reused, err)
	}
	seconds := r.opts.Clock().Sub(began).Seconds()
	r.noteStage(step, reused, seconds)
	r.opts.Log.Info("stage ended", "stage", step.ID, "kind", step.Kind, "reused", reused, "lazy", step.Lazy, "ok", err == nil, "seconds", seconds)
	return err
}

// stores reports whether the outputs of a step are stored.
func (r *run) stores(step *compile.Step) bool { return !step.Lazy || r.once[step.ID] }

func (r *run) outputs(ctx context.Context, step *compile.Step) (reused bool, err error) {
	done, err := r.reserve(ctx, step)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := r.stand(step); err != nil {
		return false, err
	}
	from := r.from(step)
	if r.stores(step) {
		defer r.opts.turns.Take(r.place(step))()
		if tables, ok := r.cache.Load(r.place(step), step.Work.Out); ok {
			r.keep(step, tables)
			// A kill between storing and this leaves checkpoints.
			return true, errors.Join(r.purse.PayAll(step, from), r.cache.Scratch(r.place(step)).Remove())
		}
	}
	if err := r.announce(step); err != nil {
		return false, err
	}
	payer := r.purse.Payer(step, from, r.cache.Scratch(r.place(step)).Drawn())
	secrets := book.NewSecrets(r.source.secret, r.secretName(step), step.Work.Secret)
	out, err := r.runStage(ctx, step, payer, secrets)
	if err != nil {
		return false, err
	}
	if !r.stores(step) {
		tables, err := lazy(step, out)
		r.keep(step, tables)
		return false, errors.Join(err, secrets.Close())
	}
	return false, r.store(ctx, step, out, func() error { return errors.Join(payer.Close(), secrets.Close(), r.files.Untouched()) })
}

// store keeps what a stage made, if what was promised was done.
func (r *run) store(ctx context.Context, step *compile.Step, out pipeline.Tables, promised func() error) (err error) {
	defer r.guarded(step, &err)
	where := r.place(step)
	r.mu.Lock()
	r.stored = append(r.stored, where)
	r.mu.Unlock()
	tables, err := r.cache.Store(ctx, where, step.Work.Out, out, promised)
	if err == nil {
		r.keep(step, tables)
	}
	return err
}

// guarded turns a panic, which is an internal error, into an error whose details stay
// internal, because they may quote data. Rows are computed while they are stored or
// written, so these are guarded too.
func (r *run) guarded(step *compile.Step, err *error) {
	if p := recover(); p != nil {
		path := filepath.Join(r.dir.Internal(), "fault-"+step.ID+".txt")
		r.opts.Disk.WriteBytes(path, 0o600, fmt.Appendf(nil, "%v\n\n%s", p, debug.Stack()))
		*err = fmt.Errorf("internal error in weir, not in the spec; details are in %s, which is private", path)
	}
}

func (r *run) runStage(ctx context.Context, step *compile.Step, payer *book.Payer, secrets *book.Secrets) (out pipeline.Tables, err error) {
	defer r.guarded(step, &err)
	out, err = step.Work.Run(ctx, r.env(step, payer, secrets), r.inputs(step))
	if err != nil {
		return nil, err
	}
	for port, h := range step.Work.Out {
		if made := out[port]; h.Form.IsFiles() && made.Files == nil || !h.Form.IsFiles() && made.Open == nil {
			return nil, fmt.Errorf("the kind %s returned no output %s", step.Kind, port)
		}
	}
	return out, push(step, r.inputs(step)["in"].Pushed, out)
}

// push says of the first output how a database computes its rows, where it computes the rows of the input.
func push(step *compile.Step, from *pipeline.Pushed, out pipeline.Tables) error {
	if from == nil || step.Work.Elsewhere == nil {
		return nil
	}
	rows, err := step.Work.Elsewhere(from.Relation)
	t := out[step.First]
	t.Pushed = &pipeline.Pushed{Relation: rows, Session: from.Session}
	out[step.First] = t
	return err
}

// lazy puts the planned headers on streams, and the stage's name on their errors.
func lazy(step *compile.Step, out pipeline.Tables) (pipeline.Tables, error) {
	named := pipeline.Tables{}
	for port, h := range step.Work.Out {
		h, err := h.Filled(out[port].Domain)
		if err != nil {
			return nil, err
		}
		named[port] = pipeline.Table{Header: h, Open: nameErrors(step.ID, out[port].Open), Files: out[port].Files, Pushed: out[port].Pushed}
	}
	return named, nil
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
					yield(nil, atStage(stage, store.ErrInternal))
				}
			}()
			for rec, err := range open(ctx) {
				reading = false
				if !yield(rec, atStage(stage, err)) {
					return
				}
				reading = true
			}
			reading = false
		}
	}
}

// lent is an artifact of which a stage may know the header and nothing else: it does
// not raise the class of what the stage returns, so neither rows nor files of it must be read.
func lent(t pipeline.Table) pipeline.Table {
	t.Files = func(context.Context) ([]pipeline.File, error) { return nil, errLent }
	t.Open = func(context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) { yield(nil, errLent) }
	}
	return t
}

var errLent = errors.New("the port lends a header only, but its rows were read")

func (r *run) inputs(step *compile.Step) pipeline.Tables {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := pipeline.Tables{}
	for _, port := range step.Ports {
		for i, ref := range step.Inputs[port.Name] {
			name := port.Name
			if port.Many {
				name = pipeline.Indexed(port.Name, i)
			}
			t := r.tables[ref]
			t.Header = t.Header.Clone() // a stage may write to what it is given, and to nothing else
			if port.Lends {
				t = lent(t)
			}
			in[name] = t
		}
	}
	return in
}
