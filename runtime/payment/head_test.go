package payment

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/store"
)

// recorded leaves the record of a run of the spec s on version 1 of the dataset d.
func recorded(t *testing.T, out string, rec record.Run) store.RunDir {
	t.Helper()
	d, _, err := store.NewRunDir(disk.Disk{}, out, "study", time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC),
		bytes.NewReader(bytes.Repeat([]byte{7}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	rec.SpecDigest, rec.Dataset.ID, rec.Dataset.Version = "s", "d", "1"
	if err := errors.Join(d.WriteRecord(&rec), d.Unlock()); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFindRuns: a run is found again by spec, dataset and version, all three.
func TestFindRuns(t *testing.T) {
	d := recorded(t, t.TempDir(), record.Run{})
	for _, names := range [][3]string{{"s", "d", "1"}, {"x", "d", "1"}, {"s", "x", "1"}, {"s", "d", "2"}} {
		runs, err := FindRuns(filepath.Dir(d.Path), names[0], names[1], names[2], nil)
		if err != nil || (len(runs) == 1) != (names == [3]string{"s", "d", "1"}) {
			t.Errorf("%v finds %d runs, %v", names, len(runs), err)
		}
	}
}

// TestRecordsStateCharges: what records state of a dataset is found below the folder of runs, and a ledger without
// these charges fails against them; of another dataset nothing is stated.
func TestRecordsStateCharges(t *testing.T) {
	out := t.TempDir()
	rec := record.Run{Charges: []record.Charge{{ID: "r/train/counts"}}}
	rec.Dataset.LedgerCount, rec.Dataset.LedgerHead = 1, "sha256:00"
	file := filepath.Join(recorded(t, out, rec).Path, "run.json")
	for dataset, want := range map[string][]string{"d": {"r/train/counts"}, "other": nil} {
		if charges, err := StatedCharges(out, dataset); err != nil || !slices.Equal(charges[file], want) {
			t.Errorf("%s: %v, %v; must be %v", dataset, charges, err, want)
		}
	}
	entries := []ledger.Entry{{Dataset: "d"}}
	if count, missing, err := CheckRecords(out, "absent", entries); count != 1 || len(missing) != 1 || err != nil {
		t.Errorf("a ledger that lacks the charge: %d records, %v, %v; must be 1 and an error", count, missing, err)
	}
	entries[0].Dataset = "other"
	if count, missing, err := CheckRecords(out, "absent", entries); count != 0 || len(missing) != 0 || err != nil {
		t.Errorf("the ledger of another dataset: %d records, %v, %v; must be none", count, missing, err)
	}
}
