package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"weir/record"
)

// prepare fills in the record, opens the ledger and writes the record, so that
// a run that is killed can be found and continued.
func (r *run) prepare(base string, source *source) error {
	r.cache = cache{filepath.Join(base, "cache")}
	if err := os.MkdirAll(r.cache.dir, 0o700); err != nil {
		return fmt.Errorf("%s: the folder of runs must be writable (--out): %w", base, unwrapPath(err))
	}
	if err := r.describe(source); err != nil {
		return err
	}
	if err := r.openLedger(source); err != nil {
		return err
	}
	return r.dir.writeRecord(r.record)
}

func (r *run) describe(source *source) error {
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
	rec.Weir, rec.Name, rec.Status = r.opts.Version, r.plan.Name, record.Running
	rec.SpecDigest, rec.Spec, rec.Plan, rec.Bill = r.plan.Digest, string(spec), plan, r.plan.Text()
	rec.Dataset = record.Dataset{Name: source.name, Digest: source.digest, Unit: r.plan.Dataset.PrivacyUnit}
	rec.Terms = record.Terms{Adjacency: r.plan.Adjacency, Accountant: r.plan.Accountant, Claims: string(r.plan.Claims), Delta: r.plan.Delta,
		Budget: r.plan.Budget, Proven: r.plan.Epsilon.Proven, Published: r.plan.Epsilon.Published, Reason: r.plan.Epsilon.Reason}
	rec.KeyCommitment, rec.KeyKept, rec.Insecure = r.key.Commitment(), !r.opts.DropKey, r.opts.Insecure != nil
	rec.Release, rec.Internal, rec.Metrics, rec.Notes = []record.File{}, []record.File{}, map[string]float64{}, map[string]string{}
	rec.Repeat, rec.Tables = r.opts.Repeat, releasedTables(r.plan)
	rec.Charges, rec.Stages = []record.Charge{}, []record.Stage{}
	return nil
}

// ledgerPath is where the dataset's ledger lies: where the caller or the spec
// says, else beside the file; for a generator, or where the dataset's folder is
// read-only, with the runs.
func (r *run) ledgerPath(source *source) string {
	path := r.privateLedgerPath(source)
	if r.opts.Insecure == nil {
		return path
	}
	return strings.TrimSuffix(path, ledgerSuffix) + ".NOT-PRIVATE" + ledgerSuffix // a test must not mix with real charges
}

const ledgerSuffix = ".weir-ledger.jsonl"

func (r *run) privateLedgerPath(source *source) string {
	switch {
	case r.opts.Ledger != "":
		return r.opts.Ledger
	case r.plan.Spec.Dataset.Ledger != "":
		return r.folder.Path(r.plan.Spec.Dataset.Ledger)
	case source.ledger != "" && writable(filepath.Dir(source.ledger)):
		return source.ledger
	}
	path := filepath.Join(r.opts.Out, "ledgers", strings.TrimPrefix(source.digest, "sha256:")[:16]+ledgerSuffix)
	if source.ledger != "" {
		r.opts.Log.Warn("the dataset's folder is read-only, so its ledger lies with the runs; keep it", "ledger", path)
	}
	return path
}

// writable goes by the permission bits too, because root may write where they
// say that nobody should.
func writable(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o222 == 0 {
		return false
	}
	f, err := os.CreateTemp(dir, ".weir-*")
	if err != nil {
		return errors.Is(err, fs.ErrExist)
	}
	f.Close()
	return os.Remove(f.Name()) == nil
}
