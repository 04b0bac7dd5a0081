package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy/noise"
	"weir/runtime/dataset"
	"weir/runtime/pay"
)

// identity is which dataset a run works on: a random id and a declared version,
// which are public, and what stays with the owner.
type identity struct {
	pay.Dataset
	content string    // tells contents apart; for the owner's side only
	secret  noise.Key // of draws that have to fall alike in all runs of the dataset
}

// publicIdentity is that of rows that anyone can make. Their secret draws need
// not be secret.
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
func identify(ctx context.Context, path, digest string, rows pipeline.Table, plan *compile.Plan, folder *Folder, opts Options) (identity, error) {
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
	known, err := dataset.Identify(ctx, dataset.Opening{Out: opts.owners(), Path: path, Version: version, Digest: digest,
		Ledger: askedLedger(plan, folder, opts), Uncharged: plan.Budget.Infinite(), Rows: rows, Clock: opts.Clock, Random: opts.Random})
	if err != nil {
		return identity{}, err
	}
	for _, note := range known.Notes {
		opts.Log.Warn(note)
	}
	if err := overlapping(known, plan); err != nil && opts.Replay == nil {
		return identity{}, err
	}
	return identity{Dataset: pay.Dataset{ID: known.ID, Version: version, Path: known.Path, Known: known}, content: known.Content(), secret: known.Secret}, nil
}

// overlapping refuses a dataset with a budget whose rows another one has spent on:
// two ledgers would be two budgets. Without a budget the owner is told (W32).
func overlapping(known *dataset.Identity, plan *compile.Plan) error {
	if len(known.Overlaps) == 0 || plan.Dataset.Budget == nil || slices.Contains(plan.Spec.Privacy.Acknowledge, "W32") {
		return nil
	}
	return dataset.Refusal{Err: fmt.Errorf("has a budget and shares rows with %s, whose charges are in another ledger (W32); if the people are the same, give them one ledger: %s; if they are not, acknowledge: [W32]",
		strings.Join(known.Overlaps, ", "), strings.Join(known.Joins, "; "))}
}

// askedLedger is where the caller or the spec says that the ledger lies, or "".
func askedLedger(plan *compile.Plan, folder *Folder, opts Options) string {
	if opts.Ledger == "" && plan.Spec.Dataset.Ledger != "" {
		return folder.Path(plan.Spec.Dataset.Ledger)
	}
	return opts.Ledger
}
