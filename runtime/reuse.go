package runtime

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/runtime/book"
	"weir/runtime/store"
)

// What is paid for is never paid again. A stage that draws noise is known by its recipe
// (recipe.go), in whichever run and spec of the dataset. Where an earlier run has charged an
// equal one, on the same rows, its noise is taken again: the stored output or, from its key
// and by the same build of weir, one that is computed anew and has the same bytes. This
// releases nothing new, so nothing is charged. The charge has to stand in the ledger, and
// another recipe is another charge with noise of its own.

// errVanished is an output that a run counted on when it said what it would charge.
var errVanished = errors.New("an earlier run's output, which this run was to use again, was there when the run began and is gone; " +
	"nothing was charged for this stage. Run again, and what it costs is said anew")

// cacheOf is what the runs of a folder share.
func cacheOf(opts Options) store.Cache {
	return store.Cache{Disk: opts.Disk, Dir: filepath.Join(opts.Out, "cache")}
}

// draws reports whether a step draws noise.
func draws(step *compile.Step) bool { return len(step.Spends) > 0 }

// findEarlier says, before anything is charged, which stages have the noise of earlier runs.
func (r *run) findEarlier(ctx context.Context) error {
	if err := r.nameSource(); err != nil {
		return err
	}
	runs := map[string]string{}
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		if err := r.decide(ctx, step); err != nil {
			return atStage(step.ID, err)
		}
		if from := r.earlier[step.ID]; from != nil {
			runs[step.ID] = from.Run
		}
	}
	r.purse.Earlier(runs)
	return nil
}

// decide finds out whose noise a step has, and with it the address of what it makes. Those
// that it reads are decided.
func (r *run) decide(ctx context.Context, step *compile.Step) (err error) {
	from := r.from(step)
	if from == nil {
		if from, err = r.lookFor(ctx, step); err != nil {
			return err
		}
	}
	key := ""
	switch {
	case from != nil:
		key = from.Commitment
	case draws(step):
		key = r.key.Commitment()
	}
	where, err := r.address(ctx, step, key)
	r.mu.Lock()
	r.addresses[step.ID] = where
	if from != nil {
		r.earlier[step.ID] = from
	}
	r.mu.Unlock()
	return errors.Join(err, r.stands(step, where))
}

// lookFor is the earlier run whose noise a step has, or nil: then it is the run's own.
func (r *run) lookFor(ctx context.Context, step *compile.Step) (*book.Earlier, error) {
	switch {
	case !draws(step):
		return nil, nil
	case r.opts.Replay != nil:
		return r.opts.Replay.Earlier[step.ID], nil
	case r.opts.Fresh || !r.plan.Budget.Infinite() && r.purse.Drawn(step):
		return nil, nil
	}
	only := r.before.From(step.ID)
	for _, p := range r.noted(step) {
		if only != "" && p.Run != only {
			continue
		}
		if from, err := r.usable(ctx, step, p); from != nil || err != nil {
			return from, err
		}
	}
	return nil, nil
}

// noted lists who has charged the recipe of a step, or was about to: the newest first, but
// before it the one whose noise the step had when this run was interrupted.
func (r *run) noted(step *compile.Step) []store.Paid {
	list, before := r.cache.Paid(r.recipes[step.ID]), stoodIn(r.dir, step.ID).Run
	slices.SortStableFunc(list, func(a, b store.Paid) int {
		switch before {
		case a.Run:
			return -1
		case b.Run:
			return 1
		}
		return 0
	})
	return list
}

// usable is the run of a note if its charge stands in the ledger and its output is there or
// can be made again, of the same rows.
func (r *run) usable(ctx context.Context, step *compile.Step, p store.Paid) (*book.Earlier, error) {
	if p.Run == r.record.ID || p.Insecure != (r.opts.Insecure != nil) || p.Insecure && p.Key != r.key.Commitment() {
		return nil, nil
	}
	where, err := r.address(ctx, step, p.Key)
	if r.blind {
		where = p.Address // which the rows decide
	}
	if err != nil || where != p.Address || !r.purse.Charged(p.Run, step) {
		return nil, err
	}
	from := &book.Earlier{Run: p.Run, Commitment: p.Key, Key: r.keptKey(p)}
	if from.Key == nil && !r.cache.Holds(where) {
		return nil, nil
	}
	return from, nil
}

// keptKey is the noise key of an earlier run, or nil. Another build of weir may compute other
// values from it, which together with the first would tell more than was paid for.
func (r *run) keptKey(p store.Paid) *noise.Key {
	if r.opts.Build == "" || p.Build != r.opts.Build {
		return nil
	}
	key, err := book.LoadKey(store.RunDir{Path: filepath.Join(r.opts.Out, p.Name, p.Run)}.Internal())
	if err != nil || key.Commitment() != p.Key {
		return nil
	}
	return &key
}

// reserve lets one run at a time charge a recipe, and looks once more whether another has
// meanwhile.
func (r *run) reserve(ctx context.Context, step *compile.Step) (done func() error, err error) {
	if !draws(step) || r.opts.Replay != nil {
		return func() error { return nil }, r.decide(ctx, step)
	}
	turn := r.opts.turns.Take(r.recipes[step.ID])
	unlock, err := r.cache.LockPaid(r.recipes[step.ID])
	if err != nil {
		turn()
		return nil, err
	}
	done = func() error { defer turn(); return unlock() }
	if err := r.decide(ctx, step); err != nil {
		return nil, errors.Join(err, done())
	}
	return done, nil
}

// announce notes that the run is about to charge a step, so that others find what it makes.
func (r *run) announce(step *compile.Step) error {
	from := r.from(step)
	switch {
	case !draws(step) || r.opts.Replay != nil:
		return nil
	case from != nil && from.Key == nil:
		return errVanished
	case from != nil:
		return nil
	}
	return r.cache.NotePaid(r.recipes[step.ID], store.Paid{Run: r.record.ID, At: r.opts.Clock(), Name: r.plan.Name, Stage: step.ID, Key: r.key.Commitment(),
		Address: r.addressOf(step), Build: r.opts.Build, Insecure: r.opts.Insecure != nil})
}

// from is the run whose noise a step has; nil is this one.
func (r *run) from(step *compile.Step) *book.Earlier {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.earlier[step.ID]
}

func (r *run) addressOf(step *compile.Step) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.addresses[step.ID]
}
