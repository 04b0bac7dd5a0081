package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"weir/record"
)

// begin finds the run to return or continue, or makes a new one.
func (r *run) begin() (*Result, error) {
	base := filepath.Join(r.opts.Out, r.plan.Name)
	if !r.opts.Fresh && r.opts.Replay == nil {
		for _, f := range findRuns(base, r.plan.Digest, r.source.id, r.source.version) {
			done, err := r.takeUp(f)
			if err != nil || done != nil {
				return done, err
			}
			if r.record != nil {
				return nil, r.prepare(base)
			}
		}
	}
	if err := r.start(base); err != nil {
		return nil, err
	}
	if err := r.prepare(base); err != nil {
		r.dir.lock.Close()
		return nil, errors.Join(err, os.RemoveAll(r.dir.path)) // nothing was spent: a refused run leaves no trace
	}
	return nil, nil
}

// takeUp returns an earlier run if it is done, or takes it over if it can be
// continued. A run on other content, by another program or with a key that is not
// its own is neither: a new run with a new key pays anew.
func (r *run) takeUp(f found) (*Result, error) {
	if f.record.Repeat != r.opts.Repeat || f.record.Insecure != (r.opts.Insecure != nil) || !sameKey(f.record, r.opts) {
		return nil, nil
	}
	if content, err := os.ReadFile(filepath.Join(f.path, "internal", contentFile)); err != nil || string(content) != r.source.content {
		r.opts.Log.Warn("the dataset's content is not what an earlier run of this spec read; this run draws new noise, as a new charge", "run", f.path)
		return nil, nil
	}
	if f.record.Status == record.Done {
		return r.shown(f)
	}
	if r.opts.Build == "" || f.record.Build != r.opts.Build {
		r.opts.Log.Warn("an interrupted run was of another build of weir and is not continued", "run", f.path)
		return nil, nil
	}
	return nil, r.resume(f)
}

// shown is a finished run, whose charges have to stand in the ledger.
func (r *run) shown(f found) (*Result, error) {
	if err := checkFiles(f.path, f.record); err != nil {
		r.opts.Log.Warn("a finished run of this spec is not as it was written, and is not shown", "run", f.path, "why", err)
		return nil, nil
	}
	if !r.plan.Budget.Infinite() {
		a, err := openAccount(r.plan, r.source, r.folder, r.opts)
		if err != nil {
			return nil, err
		}
		if err := a.restore(r, f.record); err != nil {
			return nil, err
		}
	}
	return &Result{Path: f.path, Record: f.record, Reused: true}, nil
}

// sameKey: a run with a test seed continues or repeats only one of the same seed.
func sameKey(rec *record.Run, opts Options) bool {
	return opts.Insecure == nil || rec.KeyCommitment == insecureKey(*opts.Insecure).Commitment()
}

// resume takes over an unfinished run whose key was kept and is the one that its
// record commits to.
func (r *run) resume(f found) error {
	key, err := LoadKey(filepath.Join(f.path, "internal"))
	if err != nil {
		return nil // without its key a run cannot be continued
	}
	if key.Commitment() != f.record.KeyCommitment {
		r.opts.Log.Warn("the noise key of an interrupted run is not the one that its record commits to, so it is not continued", "run", f.path)
		return nil
	}
	dir := runDir{path: f.path}
	if err := dir.acquire(); err != nil {
		if errors.Is(err, errLocked) {
			return fmt.Errorf("%s: %w; wait for it, or start another with --fresh", f.path, err)
		}
		return err
	}
	r.dir, r.key, r.record = dir, key, f.record
	r.opts.Log.Info("continuing an interrupted run", "run", f.path)
	return nil
}

// start makes a new run with a new key. A replay keeps no key: whoever asked for
// it has it.
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
	if r.opts.Replay != nil {
		return nil
	}
	return errors.Join(keepKey(dir.internal(), key), keepContent(dir.internal(), r.source.content))
}
