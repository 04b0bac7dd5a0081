package weir_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestContributingCompiles: the two kinds that CONTRIBUTING.md shows compile in the folders that it puts them in, so
// that they follow the code that they call.
func TestContributingCompiles(t *testing.T) {
	compiles(t, "stages/prep", read(t, "testdata/contributing/recode.go.txt"))
	compiles(t, "stages/evaluate", read(t, "testdata/contributing/missing.go.txt"))
}

// compiles builds a folder with one file more, which is never written to it.
func compiles(t *testing.T, folder, source string) {
	t.Helper()
	local, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	file, overlay := filepath.Join(t.TempDir(), "kind.go"), filepath.Join(t.TempDir(), "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(local, folder,
		"kindofcontributing.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{file: []byte(source), overlay: replace} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "./"+folder).CombinedOutput(); err != nil {
		t.Errorf("the kind that CONTRIBUTING.md puts into %s does not compile: %s", folder, out)
	}
}
