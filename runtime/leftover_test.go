package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/record"
	"weir/runtime/store"
)

// TestCheckpointsOfADoneStageGo: a kill between the storing of a stage and the removal of
// its checkpoints, which are private, left them for ever (found by the soak of kills).
func TestCheckpointsOfADoneStageGo(t *testing.T) {
	out := t.TempDir()
	plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
	first, err := Run(t.Context(), plan, testOptions(out))
	if err != nil {
		t.Fatal(err)
	}
	killed := *first.Record
	killed.Status = record.Running
	if err := (store.RunDir{Path: first.Path}).WriteRecord(&killed); err != nil {
		t.Fatal(err)
	}
	stored, _ := filepath.Glob(filepath.Join(out, "cache/*/manifest.json"))
	for _, path := range stored {
		scratch := filepath.Join(filepath.Dir(path), "scratch")
		if err := os.MkdirAll(scratch, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(scratch, "checkpoint"), []byte("private"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Run(t.Context(), plan, testOptions(out))
	if err != nil || again.Path != first.Path || again.Reused {
		t.Fatalf("%+v, %v, must be continued", again, err)
	}
	if left, _ := filepath.Glob(filepath.Join(out, "cache/*/scratch")); len(left) > 0 || len(stored) == 0 {
		t.Errorf("of %d stages, %v is left", len(stored), left)
	}
}
