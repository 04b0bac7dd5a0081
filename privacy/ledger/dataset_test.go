package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/disk"
	"weir/privacy"
)

// oldLine is a line written by the earlier format, whose dataset is a digest of the table.
const oldLine = `{"prev":"sha256:b8cd2b9ab3e6d1ae3ef6e94a2dfaa1dfd1b75b3f2ed1f0e0ef5b0a8e8f8a6d53","time":"2026-01-02T03:04:06.000000006Z","run":"run-1","spec":"sha256:5","dataset":"sha256:d1","stage":"train","event":{"pure":{"epsilon":1}},"adjacency":"add_remove","id":"c1","hash":"sha256:0"}` + "\n"

// TestNoDigestOfTheTable: the ledger may be public, so it holds no digest of the table: neither a new one
// nor one of the earlier format opens.
func TestNoDigestOfTheTable(t *testing.T) {
	for _, id := range []string{"sha256:" + strings.Repeat("0a", 32), "SHA256:1", "md5:1", "blake2b:1",
		strings.Repeat("0a", 32)} {
		if _, err := newLedger(&memory{}, id, ticking()); err == nil || !strings.Contains(err.Error(), "random id") ||
			strings.Contains(err.Error(), id) {
			t.Errorf("dataset %s: %v, must ask for a random id and not repeat the digest", id, err)
		}
	}
	for _, id := range []string{dataset, "ds-sha", "clinic"} {
		if _, err := newLedger(&memory{}, id, ticking()); err != nil {
			t.Errorf("dataset %s: %v", id, err)
		}
	}
	_, parsed := Parse([]byte(oldLine))
	_, opened := newLedger(&memory{data: []byte(oldLine)}, dataset, ticking())
	_, adopted := newLedger(&memory{data: []byte(oldLine)}, "", ticking())
	_, mixed := merge(filled(t, 1).data, []byte(oldLine))
	for name, err := range map[string]error{"parse": parsed, "open": opened, "adopt": adopted, "merge": mixed} {
		if !errors.Is(err, ErrOldFormat) || errors.Is(err, ErrTampered) || !strings.Contains(err.Error(), "line 1") ||
			!strings.Contains(err.Error(), "digest of the private table") || !strings.Contains(err.Error(), "new ledger") {
			t.Errorf("%s of the earlier format: %v", name, err)
		}
	}
}

func TestOpenTakesTheDatasetOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	if _, err := Open(disk.Disk{}, path, "", ticking()); err == nil || !strings.Contains(err.Error(),
		"dataset: is missing") {
		t.Errorf("an absent ledger without a dataset: %v", err)
	}
	if err := os.WriteFile(path, filled(t, 2).data, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(disk.Disk{}, path, "", ticking())
	if err != nil || l.Dataset() != dataset {
		t.Fatalf("dataset is %v, %v", l, err)
	}
	if added, err := l.Append(nil, charge("x", 1)); err != nil || added[0].Dataset != dataset {
		t.Errorf("a charge after that: %+v, %v", added, err)
	}
	if l, err := Open(disk.Disk{}, path, dataset, ticking()); err != nil || l.Dataset() != dataset || l.Head().Count != 3 {
		t.Errorf("the same by name: %v", err)
	}
}

// TestEntryKeepsWhatTheChargeSays: one ledger holds several versions of a dataset, and says of each charge which
// version, spend, recipe and unit.
func TestEntryKeepsWhatTheChargeSays(t *testing.T) {
	m := &memory{}
	l, _ := newLedger(m, dataset, ticking())
	one, two := charge("a", 1), withUnit(charge("b", 2), "patient_id", 4)
	two.Version, two.Name, two.Recipe = "2026-02", "histogram", "sha256:9"
	if _, err := l.Append(&Cap{Epsilon: 9, Adjacency: privacy.AddRemove, Filter: "basic", Unit: Unit{"patient_id", 4}},
		one, two); err != nil {
		t.Fatal(err)
	}
	got, err := Parse(m.data)
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if e := got[0]; e.Version != "1" || e.Unit != (Unit{}) || e.Name != "sum" || e.Recipe != "sha256:7" ||
		*e.Filter != (Filter{Name: "basic"}) {
		t.Errorf("first charge is %+v", e)
	}
	if e := got[1]; e.Version != "2026-02" || e.Unit != (Unit{"patient_id", 4}) || e.Name != "histogram" ||
		e.Recipe != "sha256:9" {
		t.Errorf("second charge is %+v", e)
	}
	for _, edit := range [][2]string{{`"unit":"row"`, `"unit":{"column":"","max_rows":0}`},
		{`"max_rows":4`, `"max_rows":1`}, {`"version":"1"`, `"version":"2"`},
		{`"filter":{"name":"basic"}`, `"filter":{"name":"gaussian"}`}, {`"recipe":"sha256:7"`, `"recipe":"sha256:8"`},
		{`"name":"sum"`, `"name":"s"`}} {
		edited := strings.Replace(string(m.data), edit[0], edit[1], 1)
		if _, err := Parse([]byte(edited)); edited == string(m.data) || !errors.Is(err, ErrTampered) {
			t.Errorf("%s for %s is taken: %v", edit[1], edit[0], err)
		}
	}
}
