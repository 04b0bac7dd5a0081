package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNothingOfTheOwnersIsInABundle searches the bytes of a bundle, whose members are stored as they are, for all that
// a run leaves on the owner's side: keys, secrets and marks of content, figures against real rows, rows, folders,
// times.
func TestNothingOfTheOwnersIsInABundle(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 40)
	header, rows, _ := strings.Cut(s.read("data.csv"), "\n")
	rows = regexp.MustCompile(`(?m)^\d`).ReplaceAllString(rows, planted+",$0")
	s.write("data.csv", "name,"+header+"\n"+rows)
	s.edit("domain.yaml", "columns:\n", "columns:\n  - {name: name, type: text}\n")
	s.edit("spec.yaml", "columns: [id]", "columns: [name, id]")
	s.write("spec.yaml", s.read("spec.yaml")+"  marginals: {kind: marginals, real: complete, synthetic: sample}\n")
	result := s.result()
	out := s.path("study.zip")
	if code, _, errs := s.weir("bundle", result.Run, "-o", out, "--spec"); code != 0 {
		t.Fatal(errs)
	}
	bundle := s.read("study.zip")
	private := secretsOf(s, result.Run)
	for what, text := range private {
		if i := strings.Index(bundle, text); i >= 0 {
			t.Errorf("%s: is in the bundle: ...%q...", what, bundle[max(0, i-50):min(len(bundle), i+50)])
		}
	}
	for _, what := range []string{"noise.key", "metrics.json", "owner", "row", "folder"} {
		found := false
		for name := range private {
			found = found || strings.Contains(name, what)
		}
		if !found {
			t.Errorf("no secret was looked for of %s", what)
		}
	}
}

// TestNoBundleThatVerifyRefuses: a run whose release does not hold gives no file, and the reasons; the run as it was
// gives one that verify accepts.
func TestNoBundleThatVerifyRefuses(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 40)
	run := s.result().Run
	out := s.path("study.zip")
	path := relative(s, filepath.Join(run, "run.json"))
	whole := s.read(path)
	digest := regexp.MustCompile(`"epsilon_proven": *[0-9.]+`)
	s.write(path, digest.ReplaceAllString(whole, `"epsilon_proven": 0.001`))
	code, _, errs := s.weir("bundle", run, "-o", out)
	if _, err := os.Stat(out); code != exitMismatch || err == nil ||
		!strings.Contains(errs, "epsilon is stated as 0.001") || !strings.Contains(errs, "PRIVACY.md") {
		t.Errorf("code %d, %v: %s", code, err, errs)
	}
	s.write(path, whole)
	if code, _, errs := s.weir("bundle", run, "-o", out); code != 0 {
		t.Error(errs)
	}
	if code, _, errs := s.weir("verify", out); code != 0 {
		t.Error(errs)
	}
}

// secretsOf lists texts of the owner's side of a run by where they stand.
func secretsOf(s study, run string) map[string]string {
	s.t.Helper()
	private := map[string]string{"a row": planted, "the folder": s.dir}
	long := regexp.MustCompile(`[0-9a-f]{32,}|[0-9]\.[0-9]{9,}`)
	record := s.read(relative(s, filepath.Join(run, "run.json")))
	public := s.read(relative(s, filepath.Join(run, "release", "PRIVACY.md")))
	add := func(path string) {
		for _, text := range long.FindAllString(s.read(relative(s, path)), -1) {
			if !strings.Contains(public, text) && !strings.Contains(record, text) {
				private[path+" "+text] = text
			}
		}
	}
	for _, name := range []string{"noise.key", "secret", "content", "metrics.json"} {
		add(filepath.Join(run, "internal", name))
	}
	add(s.path("data.csv.weir-owner.json"))
	var times struct{ Started, Finished string }
	if err := json.Unmarshal([]byte(record), &times); err != nil {
		s.t.Fatal(err)
	}
	private["the beginning"], private["the end"] = times.Started, times.Finished
	return private
}

func relative(s study, path string) string {
	s.t.Helper()
	name, err := filepath.Rel(s.dir, path)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		s.t.Fatal(err)
	}
	return name
}
