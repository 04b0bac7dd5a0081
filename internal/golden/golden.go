// Package golden finds the reference values that the Golden tests read, and
// the public datasets that some of them read besides.
package golden

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Dir returns the folder of reference values: $WEIR_GOLDEN, else testdata/golden
// of the repository. Where it is absent the test fails and is never skipped: a
// missing reference must not pass for a match.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := find()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Data returns $WEIR_DATA, a folder of public datasets. They belong to others
// and are not in the repository, so a test that reads them is skipped where the
// variable is not set; a folder that it names must exist.
func Data(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("WEIR_DATA")
	if dir == "" {
		t.Skip("WEIR_DATA names no folder of public datasets")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("WEIR_DATA: %v", err)
	}
	return dir
}

// Load decodes the named file of the folder of reference values into v.
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

// find is $WEIR_GOLDEN, else the folder beside the go.mod above the package under
// test, whose folder is the working directory.
func find() (string, error) {
	dir := os.Getenv("WEIR_GOLDEN")
	for up := "."; dir == "" && len(up) < 50; up = filepath.Join("..", up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			dir = filepath.Join(up, "testdata", "golden")
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("golden: no reference values: %w; WEIR_GOLDEN names another folder", err)
	}
	return filepath.Abs(dir)
}
