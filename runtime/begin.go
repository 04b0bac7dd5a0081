package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/record"
	"weir/runtime/dataset"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// begin finds the run to return or continue, or makes a new one. It waits for a run that another process
// holds; a fresh run skips the search.
func (r *run) begin(ctx context.Context) (*Result, error) {
	for {
		done, inputs, err := r.find(ctx)
		if inputs == "" || err != nil {
			return done, err
		}
		r.opts.Log.Warn("waiting for the run of this spec that another process holds", "folder", inputs)
		if err := (store.RunDir{Disk: r.opts.Disk, Path: inputs}).Wait(ctx); err != nil {
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
	runs, unread := payment.FindRuns(base, r.plan.Digest, r.source.ID, r.source.Version, r.opts.seen)
	if unread != nil {
		r.opts.Log.Warn("an earlier run cannot be read, so it is neither shown nor continued; if it is one of this spec, "+
			"this run is a new charge", "why", unread)
	}
	var passed payment.Passed
	for _, f := range runs {
		done, err := r.takeUp(f, &passed)
		switch {
		case errors.Is(err, disk.ErrLocked):
			return nil, f.Path, nil
		case err != nil || done != nil:
			return done, "", err
		case r.record != nil:
			r.attempt.Settled = r.attempt.Settled || passed.Settled
			return nil, "", r.beginAgain(ctx, base)
		}
	}
	r.attempt.Settled = passed.Settled
	return nil, "", r.beginNew(ctx, base)
}

// beginNew begins a run of its own; nothing was spent, so a refused one leaves no trace.
func (r *run) beginNew(ctx context.Context, base string) error {
	if err := r.start(); err != nil {
		return err
	}
	if err := r.prepare(ctx, base); err != nil {
		return errors.Join(err, r.attempt.Dir.Unlock(), r.opts.Disk.RemoveAll(r.attempt.Dir.Path))
	}
	return nil
}

// beginAgain continues a run that was taken up.
func (r *run) beginAgain(ctx context.Context, base string) error {
	if err := r.prepare(ctx, base); err != nil {
		return errors.Join(err, r.attempt.Dir.Unlock())
	}
	return nil
}

// takeUp returns an earlier run if it is done, or takes it over if it can be
// continued; disk.ErrLocked where another process works on it. A run on other content,
// by another program or with a key that is not its own is neither: a new run with a
// new key pays anew.
func (r *run) takeUp(f payment.Found, passed *payment.Passed) (*Result, error) {
	switch r.task.Standing(f) {
	case payment.OtherRows:
		passed.Over(r.task, f)
		r.opts.Log.Warn("an earlier run of this spec read other rows of a further private file, or the record of what it "+
			"read "+
			"is gone from its internal folder; what it paid for is used again", "folder", f.Path)
	case payment.OtherWork:
		r.opts.Log.Warn("an earlier run of this spec was another computation (a file that it names, or a kind of weir, has "+
			"changed since); what it paid for and is still the same is used again", "folder", f.Path)
	case payment.Finished:
		return r.shown(f)
	case payment.Unfinished:
		return r.takeOver(f)
	}
	return nil, nil
}

// takeOver locks an unfinished run and continues it, or shows it where it has ended meanwhile.
func (r *run) takeOver(f payment.Found) (*Result, error) {
	dir := store.RunDir{Disk: r.opts.Disk, Path: f.Path}
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

// shown returns a finished run, whose charges have to stand in the ledger.
func (r *run) shown(f payment.Found) (*Result, error) {
	if unreleased(f) {
		return nil, r.rebuild(f, "the release of a finished run of this spec is gone; it is made again, and nothing is "+
			"charged")
	}
	if r.unsent(f.Record.ID) {
		return nil, r.rebuild(f, "the table of a finished run of this spec is gone from the server; it is made again, "+
			"and nothing is charged")
	}
	if err := (store.RunDir{Path: f.Path}).CheckRelease(f.Record); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", f.Path, err, errEdited)
	}
	if !payment.Unpaid(r.plan) {
		if err := r.restore(f.Record); err != nil {
			return nil, err
		}
	}
	return &Result{Path: f.Path, Record: f.Record, Reused: true}, nil
}

// restore writes what the ledger lacks of a finished run's charges.
func (r *run) restore(rec *record.Run) error {
	place := bookPlace(r.plan, r.files.Folder, r.opts)
	place.Shown = true
	b, err := payment.Open(r.plan, r.source.Dataset, place)
	if err != nil {
		return err
	}
	if b.Former() != "" {
		r.opts.tell(b.Note())
	}
	written, err := b.Restore(r.task, rec)
	for _, id := range written {
		r.opts.Log.Warn("the ledger was missing a charge of a finished run; it has been written again", "charge", id)
	}
	return err
}

// resume takes over an unfinished run, which is locked, where its key can be had.
func (r *run) resume(dir store.RunDir, rec *record.Run) bool {
	key, err := r.task.Resume(dir, rec)
	if err != nil {
		r.opts.Log.Warn("an interrupted run is not continued", "why", err, "folder", dir.Path)
		return false
	}
	r.record = rec
	r.attempt = payment.Attempt{ID: rec.ID, Key: key, Dir: dir, Settled: payment.Settled(dir), Probe: r.opts.probe()}
	r.opts.Log.Warn("continuing an interrupted run; what it has paid is not charged again", "folder", dir.Path)
	return true
}

// errGone is said of a finished run whose release was taken away and cannot be made again: to
// draw new noise in its place would be a charge that nobody asked for.
var errGone = errors.New("its release is gone, and cannot be made again without its noise key and the same build of " +
	"weir; " +
	"restore release/ from a backup, or draw new noise, as a new charge, with --fresh")

// errEdited is said of a finished run whose release is not what the run wrote. To draw new noise
// in its place would be a charge that nobody asked for.
var errEdited = errors.New("the finished run is not shown as it is not what the run left; nothing was charged. " +
	"Move release/ away, and it is made again without a charge, or draw new noise, as a new charge, with --fresh")

// unreleased reports whether all of a finished run's release was taken away.
func unreleased(f payment.Found) bool {
	_, err := os.Lstat((store.RunDir{Path: f.Path}).Release())
	return errors.Is(err, os.ErrNotExist) && len(f.Record.Release) > 0
}

// rebuild tells the owner why, and takes up a finished run without its release, as if it had been interrupted
// before it published: what is not in the cache is computed again under its own key,
// and its charges stand in the ledger. Its record stays as it is until all is done, and
// nothing else can be charged: where an input has changed, other noise would be needed. It returns disk.ErrLocked
// where another process does so.
func (r *run) rebuild(f payment.Found, why string) error {
	dir, done := store.RunDir{Disk: r.opts.Disk, Path: f.Path}, *f.Record
	if err := dir.Lock(); err != nil {
		return err
	}
	if !r.resume(dir, f.Record) {
		return errors.Join(fmt.Errorf("%s: %w", f.Path, errGone), dir.Unlock())
	}
	r.attempt.Again = &done
	r.opts.Log.Warn(why, "folder", f.Path)
	return nil
}

// start makes a new run with a new key. A replay keeps no key: whoever asked for
// it has it.
func (r *run) start() (err error) {
	if r.opts.Replay != nil {
		r.attempt.Key = r.opts.Replay.Key
	} else if r.attempt.Key, err = payment.NewKey(r.opts.Random, r.opts.Insecure); err != nil {
		return fmt.Errorf("noise key: %w", err)
	}
	dir, id, err := store.NewRunDir(r.opts.Disk, r.opts.Out, r.plan.Name, r.opts.Clock(), r.opts.Random)
	if err != nil {
		return err
	}
	r.attempt.Dir, r.attempt.ID, r.attempt.Probe = dir, id, r.opts.probe()
	r.record = &record.Run{ID: id, Started: r.opts.Clock()}
	if r.opts.Replay != nil {
		return nil
	}
	return r.attempt.Keep(r.task)
}

// prepare fills in the record, opens the ledger and writes the record, so that
// a run that is killed can be found and continued.
func (r *run) prepare(ctx context.Context, base string) error {
	shared := r.outputs.cache.Dir
	if err := r.opts.Disk.MkdirAll(shared, 0o700); err != nil {
		return fmt.Errorf("%s: must be a folder that is writable, for what runs share: %w", shared, store.Reason(err))
	}
	if !r.opts.Disk.Writable(shared) {
		return fmt.Errorf("%s: must be writable, for what stages make", shared)
	}
	if err := r.tryFiles(ctx); err != nil {
		return err
	}
	if err := r.describe(); err != nil {
		return err
	}
	if err := r.freeNames(); err != nil {
		return err
	}
	if err := r.openBook(ctx); err != nil {
		return err
	}
	if r.opts.Replay == nil { // it leaves folders of others as they are
		r.removeLeftovers(base)
	}
	if r.attempt.Again != nil {
		return nil // a record says already what the run is
	}
	return r.attempt.Dir.WriteRecord(r.record)
}

// tryFiles opens every further file and reads how its table begins, since a run that
// cannot read one would fail when it has paid.
func (r *run) tryFiles(ctx context.Context) error {
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		for _, f := range step.Work.Files {
			if err := r.files.Folder.Check(f.Path); err != nil {
				return pipeline.AtStage(step.ID, err)
			}
		}
		if len(step.Work.Files) == 0 || !step.Lazy || !lendsOnly(step) {
			continue
		}
		if _, err := r.runStage(ctx, step, nil, payment.NewSecrets(r.source.secret, "", false)); err != nil {
			return pipeline.AtStage(step.ID, err)
		}
	}
	return nil
}

// lendsOnly reports whether a step reads no table of another, so that it can be tried.
func lendsOnly(step *compile.Step) bool {
	for _, port := range step.Ports {
		if len(step.Inputs[port.Name]) > 0 && !port.Lends {
			return false
		}
	}
	return true
}

// openBook opens the book of the dataset, finds out whose noise each stage has, and refuses what may not be charged. A
// run that draws no noise has no ledger, and a replay charges nothing.
func (r *run) openBook(ctx context.Context) (err error) {
	place := bookPlace(r.plan, r.files.Folder, r.opts)
	b := payment.Blank(r.source.Dataset, place)
	if !payment.Unpaid(r.plan) && r.opts.Replay == nil {
		if b, err = payment.Open(r.plan, r.source.Dataset, place); err != nil {
			return err
		}
	}
	d := &r.record.Dataset
	d.Ledger, d.Former = b.Path(), cmp.Or(b.Former(), d.Former)
	if note := b.Note(); note != "" {
		r.opts.tell(note)
	}
	r.purse = payment.NewPurse(b, r.task, r.attempt)
	if err := r.purse.Search(ctx); err != nil {
		return err
	}
	if err := r.purse.NothingNew(); err != nil {
		return err
	}
	if err := r.purse.Afford(); err != nil {
		return err
	}
	return r.confirm()
}

// describe fills in the record with what is known before the run.
func (r *run) describe() error {
	plan, err := json.Marshal(r.plan)
	if err != nil {
		return err
	}
	spec, err := r.plan.Spec.Canonical()
	if err != nil {
		return err
	}
	rec := r.record
	if rec.Dir, err = filepath.Abs(r.files.Folder.Dir()); err != nil {
		return err
	}
	rec.Weir, rec.Build, rec.Name, rec.Status = r.opts.Version, r.opts.Build, r.plan.Name, record.Running
	rec.Commit = r.opts.Commit
	rec.SpecDigest, rec.Spec, rec.Plan, rec.Bill = r.plan.Digest, string(spec), plan, r.billText()
	rec.Dataset = record.Dataset{Name: r.plan.Dataset.Source.Name, Invented: r.plan.Dataset.Source.Invented,
		ID: r.source.ID, Version: r.source.Version, Unit: r.plan.Dataset.PrivacyUnit,
		// of an attempt that is continued
		LedgerCount: rec.Dataset.LedgerCount, LedgerHead: rec.Dataset.LedgerHead, Former: rec.Dataset.Former}
	rec.Terms = record.Terms{Adjacency: r.plan.Adjacency, Accountant: r.plan.Accountant, Claims: string(r.plan.Claims),
		Delta:  r.plan.Delta,
		Budget: r.plan.Budget, Proven: r.plan.Epsilon.Proven, Published: r.plan.Epsilon.Published,
		Reason: r.plan.Epsilon.Reason}
	rec.KeyCommitment, rec.KeyKept, rec.Insecure, rec.InsecureSeed = r.attempt.Key.Commitment(), !r.opts.DropKey,
		r.opts.Insecure != nil, r.opts.Insecure
	rec.Release, rec.Internal, rec.Metrics, rec.Notes = []record.File{}, []record.File{}, map[string]float64{},
		map[string]string{}
	rec.Repeat, rec.Tables = r.opts.Repeat, r.releasedTables()
	rec.Charges, rec.Stages = append([]record.Charge{}, rec.Charges...), []record.Stage{}
	return nil
}

// billText returns the plan as it is released; a test says so first.
func (r *run) billText() string {
	if r.opts.Insecure != nil {
		return record.NotPrivate + "\n\n" + words.Plan(r.plan.Plan)
	}
	return words.Plan(r.plan.Plan)
}

// ExperimentsDir lies beside the runs of a name and holds the tables of its experiments.
const ExperimentsDir = "sweeps"

// removeLeftovers removes what killed runs were writing: unfinished files of the cache and of
// internal folders hold private rows. Files that a living process writes are left to it,
// and so is whatever else lies in folders that the user may have named alike.
func (r *run) removeLeftovers(base string) {
	n, err := 0, error(nil)
	add := func(more int, failed error) { n, err = n+more, errors.Join(err, failed) }
	folders, failed := store.RunFolders(base)
	add(0, failed)
	stored, failed := r.outputs.cache.Folders()
	add(0, failed)
	for _, ours := range append(append(folders, stored...), filepath.Join(base, ExperimentsDir)) {
		add(r.opts.Disk.RemoveLeftovers(ours))
	}
	for dir, ours := range r.shared() {
		add(r.opts.Disk.RemoveLeftoversIn(dir, ours))
	}
	if n > 0 {
		r.opts.Log.Warn("removed unfinished files that a killed run had left", "files", n)
	}
	if err != nil {
		r.opts.Log.Warn("unfinished files of a killed run could not be looked for everywhere", "why", err)
	}
}

// shared lists the folders in which files of weir's lie beside others, and which are its.
func (r *run) shared() map[string]func(name string) bool {
	out := r.opts.Out
	ledger := func(name string) bool { return strings.HasSuffix(name, dataset.LedgerSuffix) }
	owner := func(name string) bool {
		return strings.HasSuffix(name, dataset.OwnerSuffix) || strings.HasSuffix(name, dataset.KeptSuffix)
	}
	all := map[string]func(string) bool{
		filepath.Join(out, "datasets"): dataset.InIndex, filepath.Join(out, "owners"): owner,
		filepath.Join(out, "ledgers"): ledger,
	}
	if r.record.Dataset.Ledger != "" {
		all[filepath.Dir(r.record.Dataset.Ledger)] = ledger
	}
	if r.source.Path != "" {
		all[filepath.Dir(r.source.Path)] = func(name string) bool { return ledger(name) || owner(name) }
	}
	return all
}
