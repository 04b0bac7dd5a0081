package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/runtime/dataset"
	"weir/runtime/demo"
	"weir/runtime/files"
	"weir/runtime/pay"
	"weir/runtime/table"
)

// source is the opened dataset.
type source struct {
	identity
	table pipeline.Table
	name  string
}

// openSource opens the dataset of a plan and finds out which dataset it is.
func openSource(ctx context.Context, plan *compile.Plan, held *files.Held, opts Options) (*source, error) {
	d := &plan.Spec.Dataset
	s := &source{name: "demo: " + d.Demo}
	open := s.openFile
	if d.Demo != "" {
		open = s.openDemo
	}
	if err := open(ctx, plan, held, opts); err != nil {
		return nil, atStage(pipeline.DatasetID, err)
	}
	s.table.Header = plan.Spec.Source()
	s.table.Open = nameErrors(pipeline.DatasetID, countRows(capUnits(s.table, d.PrivacyUnit)))
	return s, nil
}

// openDemo: made-up rows protect nobody, so what they are is public.
func (s *source) openDemo(_ context.Context, plan *compile.Plan, _ *files.Held, opts Options) error {
	d := &plan.Spec.Dataset
	t, err := demo.Open(d.Demo, d.DemoRows, plan.Seed, d.Columns())
	if err != nil {
		return err
	}
	s.table, s.identity = t, demoIdentity(plan, t.Rows, opts)
	return nil
}

// demoIdentity is that of the rows that a generator makes up.
func demoIdentity(plan *compile.Plan, rows int64, opts Options) identity {
	d := &plan.Spec.Dataset
	return publicIdentity(fmt.Sprintf("demo %s %d %d", d.Demo, rows, plan.Seed), string(d.Version), opts)
}

func (s *source) openFile(ctx context.Context, plan *compile.Plan, held *files.Held, opts Options) error {
	d := &plan.Spec.Dataset
	if err := held.Check(d.File); err != nil {
		return err
	}
	t, err := table.OpenUnits(held, d.File, d.CSV, d.Columns(), d.PrivacyUnit.Column)
	if err != nil {
		return err
	}
	digest, err := held.Digest(ctx, d.File)
	if err != nil {
		return err
	}
	if err := held.Named(d.File); err != nil { // the ledger is found by the name, the digest is of what is held
		return err
	}
	s.table, s.name = t, filepath.Base(d.File)
	s.identity, err = identify(ctx, held.Path(d.File), digest, t, plan, held.Folder, opts)
	return errors.Join(err, held.Named(d.File))
}

// identity is which dataset a run works on: a random id and a declared version,
// which are public, and what stays with the owner.
type identity struct {
	pay.Dataset
	content string    // tells contents apart; for the owner's side only
	secret  noise.Key // of draws by the order of rows; one for each content of each version
}

// publicIdentity names rows that anyone can make. Their secret draws need not be secret.
func publicIdentity(what, version string, opts Options) identity {
	h := sha256.Sum256([]byte("weir " + what))
	id := identity{Dataset: pay.Dataset{ID: "ds-" + hex.EncodeToString(h[:16]), Version: version}, content: what, secret: noise.Key(h)}
	if opts.Insecure != nil {
		id.secret = pay.InsecureKey(*opts.Insecure)
	}
	return id
}

// identify finds the id of a file's dataset, or gives it one. A run with a test
// seed leaves no mark on the owner's side, and gives the same bytes on any
// machine.
func identify(ctx context.Context, path, digest string, rows pipeline.Table, plan *compile.Plan, folder *files.Folder, opts Options) (identity, error) {
	version := string(plan.Spec.Dataset.Version)
	if opts.Insecure != nil {
		id := publicIdentity("insecure", version, opts)
		id.content, id.Path = digest, path
		return id, nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return identity{}, err
	}
	known, err := dataset.Identify(ctx, dataset.Opening{Disk: opts.Disk, Out: opts.owners(), Path: path, Version: version, Digest: digest,
		Ledger: askedLedger(plan, folder, opts), Uncharged: unpaid(plan), Replay: opts.Replay != nil, Locked: opts.locking || opts.Locked != nil, Rows: rows, Clock: opts.Clock, Random: opts.Random})
	if err != nil {
		return identity{}, err
	}
	for _, note := range known.Notes {
		opts.Log.Warn(note)
	}
	if err := overlapping(known, plan); err != nil && opts.Replay == nil {
		return identity{}, errors.Join(err, known.Forget())
	}
	return identity{Dataset: pay.Dataset{ID: known.ID, Version: version, Path: known.Path, Known: known}, content: known.Content(), secret: known.Secret}, nil
}

// overlapping refuses a dataset with a budget whose rows another one has spent on:
// two ledgers would be two budgets. Without a budget the owner is told (W32).
func overlapping(known *dataset.Identity, plan *compile.Plan) error {
	if len(known.Overlaps) == 0 || plan.Dataset.Budget == nil || slices.Contains(plan.Spec.Privacy.Acknowledge, "W32") {
		return nil
	}
	return dataset.Refusal{Err: fmt.Errorf("has a budget and shares rows with %s, whose charges are in another ledger (W32); if the people are the same, give them one ledger: %s; if they are not, privacy.acknowledge: [W32]",
		strings.Join(known.Overlaps, ", "), strings.Join(known.Joins, "; "))}
}

// askedLedger is where the caller or the spec says that the ledger lies, or "".
func askedLedger(plan *compile.Plan, folder *files.Folder, opts Options) string {
	if opts.Ledger == "" && plan.Spec.Dataset.Ledger != "" {
		return folder.Path(plan.Spec.Dataset.Ledger)
	}
	return opts.Ledger
}
