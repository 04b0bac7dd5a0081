package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"weir/privacy/noise"
	"weir/record"
	"weir/runtime/pay"
	"weir/runtime/store"
)

// begin finds the run to return or continue, or makes a new one.
func (r *run) begin() (*Result, error) {
	base := filepath.Join(r.opts.Out, r.plan.Name)
	if !r.opts.Fresh && r.opts.Replay == nil {
		for _, f := range store.FindRuns(base, r.plan.Digest, r.source.ID, r.source.Version) {
			done, err := r.takeUp(f)
			if err != nil || done != nil {
				return done, err
			}
			if r.record != nil {
				return nil, r.prepare(base)
			}
		}
	}
	if err := r.start(); err != nil {
		return nil, err
	}
	if err := r.prepare(base); err != nil {
		return nil, errors.Join(err, r.dir.Unlock(), os.RemoveAll(r.dir.Path)) // nothing was spent: a refused run leaves no trace
	}
	return nil, nil
}

// takeUp returns an earlier run if it is done, or takes it over if it can be
// continued. A run on other content, by another program or with a key that is not
// its own is neither: a new run with a new key pays anew.
func (r *run) takeUp(f store.Found) (*Result, error) {
	if !r.opts.asked(f.Record) {
		return nil, nil
	}
	if !(store.RunDir{Path: f.Path}).HasRead(r.source.content) {
		r.opts.Log.Warn("the dataset has changed since an earlier run of this spec; this run draws new noise, which is a new charge", "run", f.Path)
		return nil, nil
	}
	if f.Record.Status == record.Done {
		return r.shown(f)
	}
	if r.opts.Build == "" || f.Record.Build != r.opts.Build {
		r.opts.Log.Warn("an interrupted run was made by another build of weir and is not continued", "run", f.Path)
		return nil, nil
	}
	return nil, r.resume(f)
}

// shown is a finished run, whose charges have to stand in the ledger.
func (r *run) shown(f store.Found) (*Result, error) {
	if gone(f) {
		return nil, r.rebuild(f)
	}
	if err := (store.RunDir{Path: f.Path}).CheckRelease(f.Record); err != nil {
		r.opts.Log.Warn("the files of a finished run of this spec have changed, so it is not shown again", "run", f.Path, "why", err)
		return nil, nil
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
	a, err := openAccount(r.plan, r.source, r.folder, r.opts)
	if err != nil {
		return err
	}
	written, err := a.Restore(pay.NewPurse(r.plan, r.source.Dataset, rec.ID, noise.Key{}, nil), rec.Charges)
	for _, id := range written {
		r.opts.Log.Warn("the ledger was missing a charge of a finished run; it has been written again", "charge", id)
	}
	return err
}

// asked reports whether a run is the repeat that is asked for; one with a test seed
// continues or repeats only one of the same seed.
func (o Options) asked(rec *record.Run) bool {
	return rec.Repeat == o.Repeat && rec.Insecure == (o.Insecure != nil) &&
		(o.Insecure == nil || rec.KeyCommitment == pay.InsecureKey(*o.Insecure).Commitment())
}

// resume takes over an unfinished run whose key was kept and is the one that its
// record commits to.
func (r *run) resume(f store.Found) error {
	key, err := pay.LoadKey(filepath.Join(f.Path, "internal"))
	if err != nil {
		return nil // without its key a run cannot be continued
	}
	if key.Commitment() != f.Record.KeyCommitment {
		r.opts.Log.Warn("the noise key of an interrupted run is not the one that its record commits to, so it is not continued", "run", f.Path)
		return nil
	}
	dir := store.RunDir{Path: f.Path}
	if err := dir.Lock(); err != nil {
		if errors.Is(err, store.ErrLocked) {
			return fmt.Errorf("%s: %w; wait for it, or start another with --fresh", f.Path, err)
		}
		return err
	}
	r.dir, r.key, r.record = dir, key, f.Record
	r.opts.Log.Info("continuing an interrupted run", "run", f.Path)
	return nil
}

// start makes a new run with a new key. A replay keeps no key: whoever asked for
// it has it.
func (r *run) start() (err error) {
	if r.opts.Replay != nil {
		r.key = r.opts.Replay.Key
	} else if r.key, err = pay.NewKey(r.opts.Random, r.opts.Insecure); err != nil {
		return fmt.Errorf("noise key: %w", err)
	}
	dir, id, err := store.NewRunDir(r.opts.Out, r.plan.Name, r.opts.Clock(), r.opts.Random)
	if err != nil {
		return err
	}
	r.dir, r.record = dir, &record.Run{ID: id, Started: r.opts.Clock()}
	if r.opts.Replay != nil {
		return nil
	}
	return errors.Join(pay.KeepKey(dir, r.key), dir.KeepContent(r.source.content))
}
