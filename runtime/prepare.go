package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/record"
	"weir/runtime/book"
	"weir/runtime/files"
	"weir/runtime/store"
)

// prepare fills in the record, opens the ledger and writes the record, so that
// a run that is killed can be found and continued.
func (r *run) prepare(ctx context.Context, base string) error {
	r.cache = cacheOf(r.opts)
	if err := r.opts.Disk.MkdirAll(r.cache.Dir, 0o700); err != nil {
		return fmt.Errorf("%s: must be a folder that is writable, for what runs share: %w", r.cache.Dir, store.Reason(err))
	}
	if !r.opts.Disk.Writable(r.cache.Dir) {
		return fmt.Errorf("%s: must be writable, for what stages make", r.cache.Dir)
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
	if err := r.openLedger(); err != nil {
		return err
	}
	if err := r.findEarlier(ctx); err != nil {
		return err
	}
	if err := r.unsettled(); err != nil {
		return err
	}
	if err := r.purse.Afford(); err != nil {
		return err
	}
	if err := r.confirm(); err != nil {
		return err
	}
	r.removeLeftovers(base)
	if r.before != nil {
		return nil // a record says already what the run is
	}
	return r.dir.WriteRecord(r.record)
}

// tryFiles opens every further file and reads how its table begins, since a run that
// cannot read one would fail when it has paid.
func (r *run) tryFiles(ctx context.Context) error {
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		for _, f := range step.Work.Files {
			if err := r.folder.Check(f.Path); err != nil {
				return atStage(step.ID, err)
			}
		}
		if len(step.Work.Files) == 0 || !step.Lazy || !lendsOnly(step) {
			continue
		}
		if _, err := r.runStage(ctx, step, nil, book.NewSecrets(r.source.secret, "", false)); err != nil {
			return atStage(step.ID, err)
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

// openLedger opens the dataset's ledger. A run that draws no noise has none, a replay charges nothing.
func (r *run) openLedger() error {
	r.purse = book.NewPurse(r.plan, r.source.Dataset, r.record.ID, r.key, r.opts.probe())
	r.purse.Recipes(r.recipes, r.basis)
	if r.before != nil {
		r.purse.Settled(r.before.Charges)
	}
	if unpaid(r.plan) || r.opts.Replay != nil {
		return nil
	}
	a, err := book.Open(r.plan, r.source.Dataset, ledgerPlace(r.plan, r.folder, r.opts), r.opts.Clock)
	if err != nil {
		return err
	}
	r.record.Dataset.Ledger = a.Path()
	if note := a.Note(); note != "" {
		r.opts.Log.Warn(note)
	}
	r.purse.From(a)
	return nil
}

// unpaid reports whether a plan charges nothing: it is without privacy, or no stage draws
// noise. Its run leaves no mark beside the data.
func unpaid(p *compile.Plan) bool {
	return p.Budget.Infinite() || !slices.ContainsFunc(p.Steps, func(s compile.Step) bool { return len(s.Spends) > 0 })
}

// ledgerPlace says where the ledger of the source is looked for.
func ledgerPlace(plan *compile.Plan, folder *files.Folder, opts Options) book.Place {
	at := book.Place{Disk: opts.Disk, Asked: askedLedger(plan, folder, opts), Out: opts.Out, Test: opts.Insecure != nil, Order: opts.orders[SourceKey(plan)], Seen: opts.seen, Log: opts.Log}
	if opts.Ledger == "" {
		at.Inside = folder.Inside
	}
	return at
}

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
	if rec.Dir, err = filepath.Abs(r.folder.Dir()); err != nil {
		return err
	}
	rec.Weir, rec.Build, rec.Name, rec.Status = r.opts.Version, r.opts.Build, r.plan.Name, record.Running
	rec.SpecDigest, rec.Spec, rec.Plan, rec.Bill = r.plan.Digest, string(spec), plan, r.billText()
	rec.Dataset = record.Dataset{Name: r.plan.Dataset.Source.Name, Invented: r.plan.Dataset.Source.Invented, ID: r.source.ID, Version: r.source.Version, Unit: r.plan.Dataset.PrivacyUnit,
		LedgerCount: rec.Dataset.LedgerCount, LedgerHead: rec.Dataset.LedgerHead} // of an attempt that is continued
	rec.Terms = record.Terms{Adjacency: r.plan.Adjacency, Accountant: r.plan.Accountant, Claims: string(r.plan.Claims), Delta: r.plan.Delta,
		Budget: r.plan.Budget, Proven: r.plan.Epsilon.Proven, Published: r.plan.Epsilon.Published, Reason: r.plan.Epsilon.Reason}
	rec.KeyCommitment, rec.KeyKept, rec.Insecure, rec.InsecureSeed = r.key.Commitment(), !r.opts.DropKey, r.opts.Insecure != nil, r.opts.Insecure
	rec.Release, rec.Internal, rec.Metrics, rec.Notes = []record.File{}, []record.File{}, map[string]float64{}, map[string]string{}
	rec.Repeat, rec.Tables = r.opts.Repeat, r.releasedTables()
	rec.Charges, rec.Stages = append([]record.Charge{}, rec.Charges...), []record.Stage{}
	return nil
}

// billText is the plan as it is released; a test says so first.
func (r *run) billText() string {
	if r.opts.Insecure != nil {
		return record.NotPrivate + "\n\n" + words.Plan(r.plan.Plan)
	}
	return words.Plan(r.plan.Plan)
}
