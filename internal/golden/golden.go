// Package golden finds the reference values that the Golden tests read.
package golden

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Dir returns the folder of reference values: $WEIR_GOLDEN, else
// ../shared/golden beside the checkout. Where it is absent the test is skipped,
// in CI it fails: a missing reference must not pass for a match.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("WEIR_GOLDEN")
	if dir == "" {
		_, file, _, _ := runtime.Caller(0)
		dir = filepath.Join(filepath.Dir(file), "..", "..", "..", "shared", "golden")
	}
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("golden: no folder %s; set WEIR_GOLDEN", dir)
	}
	t.Skipf("golden: no folder %s; set WEIR_GOLDEN", dir)
	return ""
}

// Load decodes the named file of the folder into v.
func Load(t testing.TB, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(Dir(t), file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("golden: %s: %v", file, err)
	}
}
