package review

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestTrackedSpecs: whatever weir reads as a spec is listed, however it is written, and what was meant to be one; other
// YAML and what git does not track is not.
func TestTrackedSpecs(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"block.yaml":     "weir: 1\nstages: {}\n",
		"flow.yaml":      "{weir: 1, stages: {}}\n",
		"sub/indent.yml": "  weir: 1\n  stages: {}\n",
		"escaped.yaml":   "\"w\\x65ir\": 1\n'stages': {}\n",
		"broken.yaml":    "weir: 1\n\tstages: {\n",
		"-flag.yaml":     "weir: 1\nstages: {}\n",
		"domain.yaml":    "columns: []\n",
		"ci.yml":         "stages: [test]\njob: {script: weir check}\n",
		"spec.txt":       "weir: 1\nstages: {}\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"rm", "-q", "--cached", "block.yaml"}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	got, err := TrackedSpecs(t.Context(), dir)
	var want []string
	for _, name := range []string{"-flag.yaml", "broken.yaml", "escaped.yaml", "flow.yaml", "sub/indent.yml"} {
		want = append(want, filepath.Join(dir, name))
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("lists %q, %v, must list %q", got, err, want)
	}
	if _, err := TrackedSpecs(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder without git has no error")
	}
}
