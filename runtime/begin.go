package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/record"
	"weir/runtime/book"
	"weir/runtime/store"
)

// begin finds the run to return or continue, or makes a new one. One that another process
// holds is waited for; a fresh run asks for none.
func (r *run) begin(ctx context.Context) (*Result, error) {
	for {
		done, held, err := r.find(ctx)
		if held == "" || err != nil {
			return done, err
		}
		r.opts.Log.Warn("waiting for the run of this spec that another process holds", "folder", held)
		if err := (store.RunDir{Disk: r.opts.Disk, Path: held}).Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// find looks for runs of this spec and begins, while no other process does so: two that
// found none would both pay. It names a run that is at work.
func (r *run) find(ctx context.Context) (done *Result, held string, err error) {
	base := filepath.Join(r.opts.Out, r.plan.Name)
	if r.opts.Fresh || r.opts.Replay != nil {
		return nil, "", r.beginNew(ctx, base)
	}
	unlock, err := store.LockRuns(r.opts.Disk, r.opts.Out, r.plan.Name)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	runs, unread := store.FindRuns(base, r.plan.Digest, r.source.ID, r.source.Version, r.opts.seen)
	if unread != nil {
		r.opts.Log.Warn("an earlier run cannot be read, so it is neither shown nor continued; if it is one of this spec, this run is a new charge", "why", unread)
	}
	for _, f := range runs {
		done, err := r.takeUp(f)
		switch {
		case errors.Is(err, disk.ErrLocked):
			return nil, f.Path, nil
		case err != nil || done != nil:
			return done, "", err
		case r.record != nil:
			return nil, "", r.beginAgain(ctx, base)
		}
	}
	return nil, "", r.beginNew(ctx, base)
}

// beginNew begins a run of its own; nothing was spent, so a refused one leaves no trace.
func (r *run) beginNew(ctx context.Context, base string) error {
	if err := r.start(); err != nil {
		return err
	}
	if err := r.prepare(ctx, base); err != nil {
		return errors.Join(err, r.dir.Unlock(), r.opts.Disk.RemoveAll(r.dir.Path))
	}
	return nil
}

// beginAgain continues a run that was taken up.
func (r *run) beginAgain(ctx context.Context, base string) error {
	if err := r.prepare(ctx, base); err != nil {
		return errors.Join(err, r.dir.Unlock())
	}
	return nil
}

// takeUp returns an earlier run if it is done, or takes it over if it can be
// continued; disk.ErrLocked where another process works on it. A run on other content,
// by another program or with a key that is not its own is neither: a new run with a
// new key pays anew.
func (r *run) takeUp(f store.Found) (*Result, error) {
	if !r.opts.asked(f.Record) {
		return nil, nil
	}
	dir := store.RunDir{Disk: r.opts.Disk, Path: f.Path}
	if !dir.HasRead(r.content) {
		r.passOver(dir, f.Record)
		r.opts.Log.Warn("an earlier run of this spec read other rows of a further private file, or the record of what it read is gone from its internal folder; what it paid for is used again", "folder", f.Path)
		return nil, nil
	}
	if f.Record.Status == record.Done && !r.sameRecipes(f.Record) {
		r.opts.Log.Warn("an earlier run of this spec was another computation (a file that it names, or a kind of weir, has changed since); what it paid for and is still the same is used again", "folder", f.Path)
		return nil, nil
	}
	if f.Record.Status == record.Done {
		return r.shown(f)
	}
	if err := dir.Lock(); err != nil {
		return nil, err
	}
	rec, err := store.ReadRecord(f.Path) // which may have ended before it was locked
	if err == nil && rec.Status == record.Done {
		err = dir.Unlock()
		f.Record = rec
		done, errShown := r.shown(f)
		return done, errors.Join(err, errShown)
	}
	if err == nil && r.resume(dir, rec) {
		return nil, nil
	}
	return nil, errors.Join(err, dir.Unlock())
}

// passOver learns from a run that read other rows what this one may charge. Where a version means one table,
// only a further private file can have changed; so that the ledger does not tell whether it did, this run
// charges no more than it would if the file were as it was. The newest run has the word: a finished one would
// be shown, one that may charge nothing would be continued as such, and any other would charge what it has left.
func (r *run) passOver(dir store.RunDir, rec *record.Run) {
	switch {
	case r.source.Known == nil || r.paid || r.open:
	case settled(dir) || rec.Status == record.Done && r.sameRecipes(rec):
		r.paid = true
	case rec.Status != record.Done:
		r.open = r.keptKey(store.Paid{Name: r.plan.Name, Run: rec.ID, Build: rec.Build, Key: rec.KeyCommitment}) != nil
	}
}

// settledFile marks, in the internal folder of a run, that it may charge nothing.
const settledFile = "charges-nothing"

func settled(dir store.RunDir) bool {
	_, err := os.Lstat(filepath.Join(dir.Internal(), settledFile))
	return err == nil
}

// unsettled refuses a run that may charge nothing and would. It is asked before the run has a record: a
// refused one is not there to be continued.
func (r *run) unsettled() error {
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		if r.paid && !r.free(step) && r.from(step) == nil && !r.purse.Charged(r.record.ID, step) {
			return atStage(step.ID, fmt.Errorf("%w. --fresh draws new noise", book.ErrNewCharge))
		}
	}
	return nil
}

// sameRecipes reports whether a finished run did what this one would do.
func (r *run) sameRecipes(rec *record.Run) bool {
	for _, s := range rec.Stages {
		if s.Recipe != r.recipes[s.ID] {
			return false
		}
	}
	return len(rec.Stages) == len(r.plan.Steps)
}

// shown is a finished run, whose charges have to stand in the ledger.
func (r *run) shown(f store.Found) (*Result, error) {
	if gone(f) {
		return nil, r.rebuild(f, "the release of a finished run of this spec is gone; it is made again, and nothing is charged")
	}
	if r.unsent(f.Record.ID) {
		return nil, r.rebuild(f, "the table of a finished run of this spec is gone from the server; it is made again, and nothing is charged")
	}
	if err := (store.RunDir{Path: f.Path}).CheckRelease(f.Record); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", f.Path, err, errEdited)
	}
	if !unpaid(r.plan) {
		if err := r.restore(f.Record); err != nil {
			return nil, err
		}
	}
	return &Result{Path: f.Path, Record: f.Record, Reused: true}, nil
}

// restore writes what the ledger lacks of a finished run's charges.
func (r *run) restore(rec *record.Run) error {
	at := ledgerPlace(r.plan, r.folder, r.opts)
	at.Shown = true
	a, err := book.Open(r.plan, r.source.Dataset, at, r.opts.Clock)
	if err != nil {
		return err
	}
	purse := book.NewPurse(r.plan, r.source.Dataset, rec.ID, noise.Key{}, nil)
	purse.Recipes(r.recipes, func(*compile.Step) string { return "" }) // ids are the record's
	written, err := a.Restore(purse, rec.Charges)
	for _, id := range written {
		r.opts.Log.Warn("the ledger was missing a charge of a finished run; it has been written again", "charge", id)
	}
	return err
}

// asked reports whether a run is the repeat that is asked for; one with a test seed
// continues or repeats only one of the same seed.
func (o Options) asked(rec *record.Run) bool {
	return rec.Repeat == o.Repeat && rec.Insecure == (o.Insecure != nil) &&
		(o.Insecure == nil || rec.KeyCommitment == book.InsecureKey(*o.Insecure).Commitment())
}

// resume takes over an unfinished run, which is locked, if this program made it and its
// key was kept and is the one that its record commits to.
func (r *run) resume(dir store.RunDir, rec *record.Run) bool {
	if r.opts.Build == "" || rec.Build != r.opts.Build {
		r.opts.Log.Warn("an interrupted run was made by another build of weir and is not continued", "folder", dir.Path)
		return false
	}
	key, err := book.LoadKey(dir.Internal())
	if err != nil {
		return false // without its key a run cannot be continued
	}
	if key.Commitment() != rec.KeyCommitment {
		r.opts.Log.Warn("the noise key of an interrupted run is not the one that its record commits to, so it is not continued", "folder", dir.Path)
		return false
	}
	if !r.sameSecret(dir) {
		r.opts.Log.Warn("an interrupted run drew its secrets by another owner file, so its noise would fall to other rows and it is not continued", "folder", dir.Path)
		return false
	}
	r.dir, r.key, r.record, r.paid = dir, key, rec, r.paid || settled(dir)
	r.opts.Log.Warn("continuing an interrupted run; what it has paid is not charged again", "folder", dir.Path)
	return true
}

// start makes a new run with a new key. A replay keeps no key: whoever asked for
// it has it.
func (r *run) start() (err error) {
	if r.opts.Replay != nil {
		r.key = r.opts.Replay.Key
	} else if r.key, err = book.NewKey(r.opts.Random, r.opts.Insecure); err != nil {
		return fmt.Errorf("noise key: %w", err)
	}
	dir, id, err := store.NewRunDir(r.opts.Disk, r.opts.Out, r.plan.Name, r.opts.Clock(), r.opts.Random)
	if err != nil {
		return err
	}
	r.dir, r.record = dir, &record.Run{ID: id, Started: r.opts.Clock()}
	if r.opts.Replay != nil {
		return nil
	}
	if r.paid {
		err = dir.Keep(settledFile, func(io.Writer) error { return nil })
	}
	return errors.Join(err, book.KeepKey(dir, r.key), dir.KeepContent(r.content), r.keepSecret(dir))
}

// secretFile holds, in the internal folder of a run, the commitment of the secret that it began with.
const secretFile = "secret"

func (r *run) keepSecret(dir store.RunDir) error {
	return dir.Keep(secretFile, func(w io.Writer) error {
		_, err := io.WriteString(w, r.source.secret.Commitment())
		return err
	})
}

// sameSecret reports whether a run that is continued has the secret that it began with. Its key then puts noise on
// the rows that it was for: a copy of its folder, continued where the owner's side has drawn another secret for the
// same content, splits otherwise, and would put the same noise on other rows under one charge. A plan without secret
// draws asks for none.
func (r *run) sameSecret(dir store.RunDir) bool {
	if !slices.ContainsFunc(r.plan.Steps, func(s compile.Step) bool { return s.Work.Secret }) {
		return true
	}
	began, err := disk.ReadFile(filepath.Join(dir.Internal(), secretFile), 0)
	return err == nil && string(began) == r.source.secret.Commitment()
}
