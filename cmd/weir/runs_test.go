package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/record/listing"
)

func (s study) runs(args ...string) []listing.Run {
	s.t.Helper()
	code, out, errs := s.weir(append([]string{"runs", "--out", s.path("runs"), "--json"}, args...)...)
	var printed struct{ Runs []listing.Run }
	if err := json.Unmarshal([]byte(out), &printed); code != exitDone || err != nil {
		s.t.Fatalf("exit code %d, %v: %s%s", code, err, out, errs)
	}
	return printed.Runs
}

// TestRunsAreListed, newest first, with what a record says and what it does not; what
// cannot be read is listed so, and what only lies there is not.
func TestRunsAreListed(t *testing.T) {
	s := newStudy(t, 200)
	if runs := s.runs(); len(runs) != 0 {
		t.Errorf("no folder of runs lists %v", runs)
	}
	first := s.result()
	s.edit("spec.yaml", "rows: 50}", "rows: 50}\n  utility: {kind: marginals, real: encode, synthetic: sample}")
	s.edit("spec.yaml", "real: encode", "real: complete")
	s.result("--insecure-noise-seed", "1")
	id := "20200101-000000-" + strings.Repeat("0", 32)
	for path, text := range map[string]string{"study/" + id + "/run.json": `{"status":"` + needle, "study/2" + id[1:8] +
		"-000001" + id[15:] + "/note": "", "other/notes/run.json": "{}"} {
		path = s.path("runs/" + path)
		os.MkdirAll(filepath.Dir(path), 0o755)
		os.WriteFile(path, []byte(text), 0o600)
	}
	os.WriteFile(s.path("runs/study/20200102-000000-"+strings.Repeat("0", 32)), nil, 0o600)
	runs := s.runs()
	if len(runs) != 5 {
		t.Fatalf("%d runs, must be 5: %+v", len(runs), runs)
	}
	if r := runs[0]; !r.Test || r.Status != "done" || len(r.Metrics) == 0 || r.Bytes < 1000 || r.Proven == nil {
		t.Errorf("the newest is %+v", r)
	}
	if r := runs[1]; r.Path != first.Run || r.Test || *r.Proven != *first.Epsilon["proven"] ||
		time.Since(r.Started) > time.Hour {
		t.Errorf("the first is %+v", r)
	}
	for _, r := range runs[2:] {
		if r.Status != listing.Unreadable || r.Why == "" || strings.Contains(r.Why, needle) {
			t.Errorf("what cannot be read is %+v", r)
		}
	}
	if n := len(s.runs("--status", "done", "--name", "st*", "--since", "1h")); n != 2 {
		t.Errorf("%d runs are done, must be 2", n)
	}
	if n := len(s.runs("--since", "2020-01-02")); n != 3 {
		t.Errorf("%d runs since the second, must be 3", n)
	}
	_, text, _ := s.weir("runs", "--out", s.path("runs"))
	if strings.Count(text, "\n") != 6 || !strings.Contains(text, "done, NOT PRIVATE") || !strings.Contains(text,
		"utility.total_variation 0.") {
		t.Errorf("the table is\n%s", text)
	}
	s.mustSay(exitUsage, []string{"--status: is ready, must be one of done,"}, "runs", "--status", "ready")
	s.mustSay(exitUsage, []string{"--since: is soon, must be"}, "runs", "--since", "soon")
	s.mustSay(exitUsage, []string{"--name: is [, must be"}, "runs", "--name", "[")
}

// TestPageOfRunsIsTheOwners, in the folder of runs or where it is asked for, and its links
// lead to the reports from there.
func TestPageOfRunsIsTheOwners(t *testing.T) {
	s := newStudy(t, 200)
	s.edit("spec.yaml", "rows: 50}", "rows: 50}\n  report: {kind: report, real: complete, synthetic: sample, plots: 0}")
	code, _, errs := s.run()
	if code != exitDone {
		t.Fatal(errs)
	}
	for _, file := range []string{s.path("runs/index.html"), s.path("pages/all.html")} {
		os.MkdirAll(filepath.Dir(file), 0o755)
		args := []string{"runs", "--out", s.path("runs"), "--html"}
		if !strings.HasSuffix(file, "index.html") {
			args = append(args, file)
		}
		if code, out, errs := s.weir(args...); code != exitDone || strings.TrimSpace(out) != file {
			t.Fatalf("exit code %d: %s%s", code, out, errs)
		}
		text, _ := os.ReadFile(file)
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, must be of mode 0600", file, info, err)
		}
		_, link, _ := strings.Cut(string(text), `<a href="./`)
		link, _, _ = strings.Cut(link, `"`)
		if _, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(link))); err != nil ||
			!strings.HasSuffix(link, "report.html") {
			t.Errorf("%s links %q: %v", file, link, err)
		}
	}
	s.mustSay(exitUsage, nil, "runs", "page.html")
}
