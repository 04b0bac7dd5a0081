package main

import (
	"os"
	"path/filepath"
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
		if got := rebase(set, "sub"); got != want {
			t.Errorf("%s becomes %s, must be %s", set, got, want)
		}
	}
}
