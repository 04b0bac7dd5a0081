package main

import (
	"os"
	"strings"
	"testing"
)

// TestInitRunsAtOnce: what init writes has nothing to complain about, and runs.
func TestInitRunsAtOnce(t *testing.T) {
	t.Parallel()
	s := study{t, t.TempDir()}
	code, out, errs := s.weir("init", s.path("new/study"))
	if code != exitDone || !strings.Contains(out, s.path("new/study/pipeline.yaml")) {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	spec := s.path("new/study/pipeline.yaml")
	if code, out, errs := s.weir("check", "--strict", spec); code != exitDone ||
		strings.Contains(out, ": note") || errs != "" {
		t.Errorf("check: exit code %d, %s%s; must find nothing but what the spec accepts", code, out, errs)
	}
	code, out, errs = s.weir("run", spec, "--out", s.path("runs"), "--set", "dataset.demo_rows=500", "--set",
		"dataset.rows_public=500",
		"--set", "stages.sample.rows=50", "--insecure-noise-seed", "1")
	if code != exitDone || !strings.Contains(out, "PRIVACY") {
		t.Errorf("run: exit code %d: %s%s", code, out, errs)
	}
}

// TestInitIgnoresSecrets: what must never be committed is in .gitignore, with the names
// that runs give it.
func TestInitIgnoresSecrets(t *testing.T) {
	s := study{t, t.TempDir()}
	s.weir("init", s.dir)
	lines := strings.Split(s.read(".gitignore"), "\n")
	for _, secret := range []string{"runs/", "noise.key", "*.weir-owner.json*", "*.NOT-PRIVATE.*", "*.pem"} {
		if strings.Count("\n"+strings.Join(lines, "\n")+"\n", "\n"+secret+"\n") != 1 {
			t.Errorf(".gitignore lacks %s: %q", secret, lines)
		}
	}
}

// TestInitOverwritesNothing: where one file exists none is written, and all that exist
// are named.
func TestInitOverwritesNothing(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("domain.yaml", "mine")
	code, _, errs := s.weir("init", s.dir)
	if code != exitUsage || !strings.Contains(errs, s.path("domain.yaml")+": exists") || s.read("domain.yaml") != "mine" {
		t.Errorf("exit code %d, must be %d and name the file: %s", code, exitUsage, errs)
	}
	if _, err := os.Stat(s.path("pipeline.yaml")); err == nil {
		t.Error("init wrote a part")
	}
}

// TestInitIntoAFileSaysWhatItTakes: a table where the folder should be, or above it, is named, and left alone.
func TestInitIntoAFileSaysWhatItTakes(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("t.csv", "a\n1\n")
	code, _, errs := s.weir("init", s.path("t.csv"))
	if code != exitUsage || !strings.Contains(errs, "t.csv: is a file; init takes the folder to write into") ||
		strings.Contains(errs, "exists") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if code, _, errs := s.weir("init", s.path("t.csv/study")); code != exitUsage || !strings.Contains(errs,
		"not a directory") || strings.Contains(errs, "exists") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
