package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// reported returns a study whose spec ends with figures and a report.
func reported(t *testing.T) study {
	s := figured(t)
	s.write("spec.yaml", s.read("spec.yaml")+"  report: {kind: report, real: complete, synthetic: sample, plots: 1}\n")
	return s
}

// figured returns a study whose spec ends with figures.
func figured(t *testing.T) study {
	s := newStudy(t, 60)
	s.edit("spec.yaml", "  sample: {kind: sample, rows: 50}\n", `  sample: {kind: sample, rows: 50}
  marginals: {kind: marginals, real: complete, synthetic: sample, ways: [1]}
  utility: {kind: downstream, real: complete, synthetic: sample, target: flag}
`)
	return s
}

func TestReportOfARun(t *testing.T) {
	t.Parallel()
	s := reported(t)
	r := s.result()
	code, out, errs := s.weir("report", r.Run)
	path := filepath.Join(r.Run, "internal", "report.html")
	if code != exitDone || strings.TrimSpace(out) != path {
		t.Fatalf("weir report: exit code %d, %s%s; must print %s", code, out, errs, path)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Internal: computed from real rows", ">study<", "marginals", "ROC curves on real rows"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, f := range r.Release {
		if strings.Contains(f, "plots-") || strings.HasSuffix(f, ".html") {
			t.Errorf("%s, which was computed from real rows, is in the release", f)
		}
	}
	if code, _, errs := s.weir("verify", r.Run); code != exitDone {
		t.Errorf("the release, datasheet included, is not replayed: %s", errs)
	}
}

func TestReportPublic(t *testing.T) {
	s := reported(t)
	r := s.result()
	code, out, errs := s.weir("report", r.Run, "--public")
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if want := released(t, r, "PRIVACY.md") + "\n" + released(t, r, "DATASHEET.md"); out != want {
		t.Errorf("the documents from run.json\n%s\nare not those of the release\n%s", out, want)
	}
	if strings.Contains(out, needle) || strings.Contains(out, s.dir) {
		t.Error("a release document holds a private value or the owner's folder")
	}
}

func TestReportRefusals(t *testing.T) {
	s := newStudy(t, 60)
	r := s.result()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"report", r.Run}, "no stage of kind report"},
		{[]string{"report", s.dir}, "is not a run"},
		{[]string{"report"}, "must be given 1 RUN"},
		{[]string{"report", r.Run, "--sweep", "utility.auroc"}, "must have one at 2 or more"},
		{[]string{"report", r.Run, "--sweep", "utility.auroc", "--public"}, "must be given without"},
	} {
		if code, _, errs := s.weir(c.args...); code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("weir %v: exit code %d, %s; must be %d and say %q", c.args, code, errs, exitUsage, c.want)
		}
	}
}

func TestReportSweep(t *testing.T) {
	t.Parallel()
	s := reported(t)
	one, two := s.result(), s.result("--set", "privacy.epsilon=3")
	code, out, errs := s.weir("report", one.Run, two.Run, "--sweep", "utility.auroc")
	if code != exitDone || !strings.Contains(out, "utility.auroc over proven epsilon, least to largest") {
		t.Errorf("exit code %d: %s%.200s", code, errs, out)
	}
}
