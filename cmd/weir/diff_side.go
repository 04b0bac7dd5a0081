package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/compare"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/dataset"
	"weir/runtime/store"
)

// side reads what an argument names, by what lies there.
func (d *differ) side(c *cobra.Command, arg string) (compare.Side, error) {
	if strings.HasPrefix(arg, "specs:") {
		return d.specSide(arg)
	}
	info, err := os.Stat(arg)
	path := ledgerOf(arg)
	switch {
	case path != arg || strings.HasSuffix(arg, dataset.LedgerSuffix):
		return ledgerSide(c, arg, path)
	case err != nil:
		return compare.Side{}, withCode(exitUsage, fmt.Errorf("%s: %w: must be a spec, a saved plan, the folder of a run or a ledger; a spec in git is named as REV..REV -- SPEC", arg, store.Reason(err)))
	case info.IsDir():
		return runSide(arg)
	case filepath.Base(arg) == "run.json":
		return runSide(filepath.Dir(arg))
	}
	return d.fileSide(c, arg)
}

// fileSide tells a saved plan and a ledger of another name from a spec.
func (d *differ) fileSide(c *cobra.Command, arg string) (compare.Side, error) {
	data, err := disk.ReadFile(arg, mostOfLedger)
	if err != nil {
		return compare.Side{}, withCode(exitUsage, fmt.Errorf("%s: %w", arg, store.Reason(err)))
	}
	if compare.IsPlan(data) {
		return compare.Side{Name: arg, Kind: compare.Plan, Plan: data, Digest: compare.Digest(data)}, nil
	}
	first, _, _ := strings.Cut(string(data), "\n")
	var line struct{ Prev, Hash string }
	if json.Unmarshal([]byte(first), &line) == nil && line.Prev != "" && line.Hash != "" {
		return ledgerSide(c, arg, arg)
	}
	return d.specSide(arg)
}

func (d *differ) specSide(arg string) (compare.Side, error) {
	sp, err := d.spec.load(arg)
	if err != nil {
		return compare.Side{}, err
	}
	return sideOf(arg, sp)
}

func revisionSide(r *gitCommit, name string) (compare.Side, error) {
	sp, err := r.spec(name, spec.Trial{})
	if err != nil {
		return compare.Side{}, err
	}
	return sideOf(r.name+":"+name, sp)
}

// sideOf compiles a spec. One that says something without a plan, such as a budget that
// cannot be met, is compared by its settings.
func sideOf(name string, sp *spec.Spec) (compare.Side, error) {
	text, err := sp.Canonical()
	if err != nil {
		return compare.Side{}, err
	}
	side := compare.Side{Name: name, Kind: compare.Spec, Canonical: text, Digest: sp.Digest}
	plan, err := compile.Compile(sp)
	if err != nil {
		side.Why = err.Error()
		return side, nil
	}
	side.Plan, err = json.Marshal(plan)
	return side, err
}

// runSide is a run with its figures and those of its repeats.
func runSide(dir string) (compare.Side, error) {
	rec, err := readRun(dir)
	if err != nil {
		return compare.Side{}, err
	}
	figures := &compare.Figures{Cell: cell(rec), Values: rec.Metrics}
	figures.Repeats, err = repeats(dir, rec)
	return compare.Side{Name: dir, Kind: compare.Run, Digest: rec.SpecDigest, Canonical: []byte(rec.Spec), Plan: rec.Plan, Figures: figures}, err
}

// cell is what runs have in common that differ by their noise alone.
func cell(rec *record.Run) string {
	return fmt.Sprintf("%s %s %s %v", rec.SpecDigest, rec.Dataset.ID, rec.Dataset.Version, rec.Insecure)
}

// repeats are the figures of all finished runs of a run's cell that lie beside it, its own
// among them. A record that cannot be read is no repeat.
func repeats(dir string, rec *record.Run) (all []map[string]float64, err error) {
	folders, err := store.Runs(filepath.Dir(filepath.Clean(dir)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, folder := range folders {
		if other, err := store.ReadRecord(folder); err == nil && cell(other) == cell(rec) && other.Status == record.Done {
			all = append(all, other.Metrics)
		}
	}
	return all, nil
}

// ledgerSide adds a ledger up as weir ledger show does.
func ledgerSide(c *cobra.Command, arg, path string) (compare.Side, error) {
	entries, err := readLedger(path)
	if err != nil {
		return compare.Side{}, err
	}
	t, err := (&ledgerFlags{accountant: account.Default}).totals(c, entries)
	if err != nil {
		return compare.Side{}, err
	}
	charges := &compare.Charges{Total: compare.LedgerTotal{Epsilon: orNil(t.fixed.Epsilon), Delta: t.fixed.Delta, Adjacency: string(t.fixed.Adjacency),
		Unit: t.fixed.Unit.String(), Accountant: t.fixed.Accountant, Charges: t.fixed.Charges}}
	if t.balance != nil {
		charges.Total.Left = &t.balance.Left
	}
	for i, e := range entries {
		line, err := chargeLine(i+1, e)
		if err != nil {
			return compare.Side{}, err
		}
		charges.Dataset, charges.Lines = e.Dataset, append(charges.Lines, line)
	}
	return compare.Side{Name: arg, Kind: compare.Ledger, Charges: charges}, nil
}

func chargeLine(n int, e ledger.Entry) (compare.Charge, error) {
	event := "no proven bound: " + e.Unproven
	if e.Event.Event != nil {
		text, err := privacy.MarshalEvent(e.Event.Event)
		if err != nil {
			return compare.Charge{}, err
		}
		event = string(text)
	}
	return compare.Charge{Identity: e.Identity(), Hash: e.Hash, Line: n, Time: e.Time.Format("2006-01-02 15:04"), Run: e.Run, Stage: e.Stage, Name: e.Name, Event: event}, nil
}

// orNil is nil for no bound, which JSON has no number for.
func orNil(x float64) *float64 {
	if math.IsInf(x, 1) {
		return nil
	}
	return &x
}
