package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPathsOfTheCommandLineStartHere(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	os.WriteFile("data.csv", []byte("x"), 0o600)
	for set, want := range map[string]string{
		"dataset.file=data.csv":      "dataset.file=" + filepath.Join("..", "data.csv"),
		"stages.test.file=data.csv":  "stages.test.file=" + filepath.Join("..", "data.csv"),
		"dataset.file=absent.csv":    "dataset.file=absent.csv",
		"name=data.csv":              "name=data.csv",
		"dataset.file=/etc/hostname": "dataset.file=/etc/hostname",
		"dataset.file=.":             "dataset.file=.",
		"dataset.file":               "dataset.file",
	} {
		if got := rebase(set, "sub", []string{"dataset.file"}); got != want {
			t.Errorf("%s becomes %s, must be %s", set, got, want)
		}
	}
}

// TestSetOfNoStage: an override of a stage that is not there says so and lists those that are;
// one that makes a stage by its kind is none.
func TestSetOfNoStage(t *testing.T) {
	s := newStudy(t, 4)
	code, _, errs := s.weir("check", s.path("spec.yaml"), "--set", "stages.trian.steps=1")
	for _, want := range []string{"--set stages.trian.steps", `is a setting of "trian", and there is no such stage`,
		"features, clean, complete, encode, train, sample", `did you mean train`} {
		if code != exitUsage || !strings.Contains(strings.Join(strings.Fields(errs), " "), want) {
			t.Errorf("exit code %d: %q, must say %q", code, errs, want)
		}
	}
	if code, _, errs := s.weir("check", s.path("spec.yaml"), "--set", "stages.more.rows=7", "--set",
		"stages.more.kind=sample", "--set", "stages.more.from=train"); code != exitDone {
		t.Errorf("a stage that --set makes: exit code %d: %s", code, errs)
	}
}
