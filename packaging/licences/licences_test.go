package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryModuleOfAProgramIsThere: the file names a licence of each module that `go version -m` lists, and of Go.
func TestEveryModuleOfAProgramIsThere(t *testing.T) {
	program, file := filepath.Join(t.TempDir(), "sbom"), filepath.Join(t.TempDir(), "LICENCES.txt")
	output(t, "go", "build", "-o", program, "../sbom")
	if err := run([]string{program, file}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, line := range strings.Split(output(t, "go", "version", "-m", program), "\n") {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if fields[0] != "dep" {
			continue
		}
		listed++
		if !strings.Contains(string(text), "\n"+fields[1]+"@"+fields[2]+": ") {
			t.Errorf("%s: has no licence in the file", fields[1])
		}
	}
	if listed == 0 || !strings.Contains(string(text), "\ngo1.") {
		t.Errorf("%d modules listed; Go must have a licence", listed)
	}
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

// TestCollection: what several sources share stands once, parts that a source took from others count, a README.md is
// taken where there is no other file, and a source that names no licence is refused.
func TestCollection(t *testing.T) {
	var all collection
	for name, files := range map[string][]string{
		"a@v1": {"LICENSE", "inside/Licence.md", "third_party_licenses/b.txt", "testdata/LICENSE", "license.go", "main.go"},
		"b@v1": {"README.md"},
	} {
		dir := t.TempDir()
		for _, f := range files {
			write(t, filepath.Join(dir, f), map[string]string{"README.md": "License: MIT"}[f]+"shared")
		}
		if err := all.add(source{name, dir}); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Join(all.holders["shared"], ", ")
	if want := "a@v1: LICENSE, a@v1: inside/Licence.md, a@v1: third_party_licenses/b.txt"; got != want {
		t.Errorf("%s, must be %s", got, want)
	}
	if text := string(all.text()); strings.Count(text, "\nshared\n") != 1 || !strings.Contains(text, "b@v1: README.md") {
		t.Errorf("%s, must have the shared text once and the page of b", text)
	}
	empty := t.TempDir()
	write(t, filepath.Join(empty, "README.md"), "nothing")
	err := all.add(source{"c@v1", empty})
	if err == nil || !strings.Contains(err.Error(), "c@v1: has no file of a licence") {
		t.Errorf("%v, must name the module without a licence", err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
