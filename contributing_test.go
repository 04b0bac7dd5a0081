package weir_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributingCompiles: the two kinds of CONTRIBUTING.md compile in the folders that it puts them in, so that the
// page follows the code that it calls.
func TestContributingCompiles(t *testing.T) {
	page := read(t, "CONTRIBUTING.md")
	compiles(t, "stages/prep", blocks(page, "package prep"))
	compiles(t, "stages/evaluate/missing", blocks(page, "// Package missing"))
}

// blocks joins the fenced Go blocks of a text that begin with one of these words.
func blocks(text string, words ...string) string {
	var all []string
	for _, m := range regexp.MustCompile("(?s)\n```go\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		for _, w := range words {
			if strings.HasPrefix(m[1], w) {
				all = append(all, m[1])
			}
		}
	}
	return strings.Join(all, "\n\n")
}

// compiles builds a folder with one file more, which is never written to it.
func compiles(t *testing.T, folder, source string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	file, overlay := filepath.Join(t.TempDir(), "kind.go"), filepath.Join(t.TempDir(), "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, folder, "kindofcontributing.go"): file}})
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
