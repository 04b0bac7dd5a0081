package runtime

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/record"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// TestErrorOfARunStaysInternal: what a stage says may count rows, and run.json lies
// outside internal/.
func TestErrorOfARunStaysInternal(t *testing.T) {
	dir := t.TempDir()
	err := runSpec(t, strings.Replace(liarSpec, "LIE", "uses too few", 1), dir)
	found, _ := filepath.Glob(filepath.Join(dir, "lies", "*", "run.json"))
	if err == nil || len(found) != 1 {
		t.Fatalf("%v, %v", err, found)
	}
	data, readErr := os.ReadFile(found[0])
	if readErr != nil {
		t.Fatal(readErr)
	}
	var rec record.Run
	if err := json.Unmarshal(data, &rec); err != nil || rec.Status != record.Failed ||
		rec.Error != "stage counts: failed; what it said is in internal/error.txt" {
		t.Errorf("run.json says %s: %q, %v", rec.Status, rec.Error, err)
	}
	if strings.Contains(string(data), "3 of 4") {
		t.Errorf("run.json holds what the stage said: %s", data)
	}
	path := filepath.Join(filepath.Dir(found[0]), "internal", "error.txt")
	info, statErr := os.Stat(path)
	if statErr != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v, must be there with mode 0600", info, statErr)
	}
	if said, _ := os.ReadFile(path); string(said) != err.Error()+"\n" {
		t.Errorf("internal/error.txt says %q, the run said %q", said, err)
	}
	r := &run{attempt: payment.Attempt{Dir: store.RunDir{Path: filepath.Dir(found[0])}}}
	if err := r.dropError(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil || r.dropError() != nil {
		t.Error("the error of an attempt that was continued must go, and may be gone")
	}
}
