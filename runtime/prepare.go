package runtime

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"weir/pipeline/show"
	"weir/record"
)

// prepare fills in the record, opens the ledger and writes the record, so that
// a run that is killed can be found and continued.
func (r *run) prepare(base string) error {
	r.cache = cache{filepath.Join(base, "cache")}
	if err := os.MkdirAll(r.cache.dir, 0o700); err != nil {
		return fmt.Errorf("%s: the folder of runs must be writable (--out): %w", base, unwrapPath(err))
	}
	if err := r.describe(); err != nil {
		return err
	}
	if err := r.openLedger(); err != nil {
		return err
	}
	return r.dir.writeRecord(r.record)
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
	if rec.Dir, err = filepath.Abs(r.folder.dir); err != nil {
		return err
	}
	rec.Weir, rec.Build, rec.Name, rec.Status = r.opts.Version, r.opts.Build, r.plan.Name, record.Running
	rec.SpecDigest, rec.Spec, rec.Plan, rec.Bill = r.plan.Digest, string(spec), plan, r.billText()
	rec.Dataset = record.Dataset{Name: r.source.name, ID: r.source.id, Version: r.source.version, Unit: r.plan.Dataset.PrivacyUnit}
	rec.Terms = record.Terms{Adjacency: r.plan.Adjacency, Accountant: r.plan.Accountant, Claims: string(r.plan.Claims), Delta: r.plan.Delta,
		Budget: r.plan.Budget, Proven: r.plan.Epsilon.Proven, Published: r.plan.Epsilon.Published, Reason: r.plan.Epsilon.Reason}
	rec.KeyCommitment, rec.KeyKept, rec.Insecure, rec.InsecureSeed = r.key.Commitment(), !r.opts.DropKey, r.opts.Insecure != nil, r.opts.Insecure
	rec.Release, rec.Internal, rec.Metrics, rec.Notes = []record.File{}, []record.File{}, map[string]float64{}, map[string]string{}
	rec.Repeat, rec.Tables = r.opts.Repeat, releasedTables(r.plan)
	rec.Charges, rec.Stages = []record.Charge{}, []record.Stage{}
	return nil
}

// billText is the plan as it is released; a test says so first.
func (r *run) billText() string {
	if r.opts.Insecure != nil {
		return record.NotPrivate + "\n\n" + show.Text(r.plan.Plan)
	}
	return show.Text(r.plan.Plan)
}
