package stattest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// GoldenDir returns the folder of reference values: $WEIR_GOLDEN, else testdata/golden
// of the repository. Where it is absent the test fails and is never skipped: a
// missing reference must not pass for a match.
func GoldenDir(t testing.TB) string {
	t.Helper()
	dir, err := findGolden()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// PublicData returns $WEIR_DATA, a folder of public datasets. They belong to others
// and are not in the repository, so a test that reads them is skipped where the
// variable is not set; a folder that it names must exist.
func PublicData(t testing.TB) string {
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

// LoadGolden decodes the named file of the folder of reference values into v.
func LoadGolden(t testing.TB, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(GoldenDir(t), file))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("golden: %s: %v", file, err)
	}
}

// findGolden returns $WEIR_GOLDEN, else the folder beside the go.mod above the package under
// test, whose folder is the working directory.
func findGolden() (string, error) {
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
