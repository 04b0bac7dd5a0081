package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// checked returns a study that check has nothing to say about.
func checked(t *testing.T) study {
	s := newStudy(t, 400)
	s.edit("spec.yaml", "replace_one}", "replace_one, acknowledge: {W25: each person has one row here}}")
	return s
}

// check runs `weir check` on the study's spec.
func (s study) check(args ...string) (code int, out, errs string) {
	return s.weir(append([]string{"check", s.path("spec.yaml")}, args...)...)
}

func TestCheckOpensNoData(t *testing.T) {
	s := checked(t)
	if err := os.Remove(s.path("data.csv")); err != nil {
		t.Fatal(err)
	}
	code, out, errs := s.check()
	if code != exitDone || !strings.HasSuffix(out, s.path("spec.yaml")+": no error\n") || errs != "" {
		t.Errorf("exit code %d, %s%s; a sound spec must pass without its data", code, out, errs)
	}
}

// TestCheckListsEveryProblem with its place, at once, as text and as JSON.
func TestCheckListsEveryProblem(t *testing.T) {
	s := checked(t)
	s.edit("spec.yaml", "seed: 3", "seed: many")
	s.edit("spec.yaml", "outside: missing", "outside: mising")
	s.edit("spec.yaml", "kind: encode", "kind: encoed")
	places := []string{":5:7: seed: ", ":8:34: stages.clean.outside: ", ":10:18: stages.encode.kind: "}
	code, out, errs := s.check()
	for _, place := range places {
		if code != exitUsage || out != "" || !strings.Contains(errs, s.path("spec.yaml")+place) {
			t.Errorf("exit code %d, must be %d and name %s: %s%s", code, exitUsage, place, out, errs)
		}
	}
	code, out, errs = s.check("--json")
	var report checkReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitUsage || errs != "" || report.OK ||
		len(report.Problems) != len(places) {
		t.Fatalf("exit code %d, %v, stderr %q, %+v; must be one object with %d problems", code, err, errs, report,
			len(places))
	}
	for i, p := range report.Problems {
		if !strings.Contains(p.Error(), places[i]) || p.Accepted == "" {
			t.Errorf("%+v: must be at %s and say what is accepted", p, places[i])
		}
	}
}

// TestCheckRefusesWhatIsNotPrivate with the rule and an exit code of its own, whatever
// the format.
func TestCheckRefusesWhatIsNotPrivate(t *testing.T) {
	s := checked(t)
	s.edit("spec.yaml", "kind: impute_constant, numbers: {income: 50000}", "kind: impute_knn, scope: table, neighbors: 3")
	for _, format := range []string{"text", "json"} {
		if code, out, errs := s.check("--format", format); code != exitPrivacy || !strings.Contains(out+errs, "W03") {
			t.Errorf("%s: exit code %d, must be %d and name W03: %s%s", format, code, exitPrivacy, out, errs)
		}
	}
}

func TestCheckUsage(t *testing.T) {
	s := checked(t)
	if code, out, _ := s.weir("check", "--explain", "w03"); code != exitDone || !strings.HasPrefix(out, "W03 (error;") ||
		!strings.Contains(out, "instead") {
		t.Errorf("--explain w03: exit code %d, %s", code, out)
	}
	for name, args := range map[string][]string{"a format": {"check", s.path("spec.yaml"), "--format", "xml"},
		"a rule":  {"check", "--explain", "W99"},
		"no spec": {"check"}, "an absent spec": {"check", s.path("absent.yaml")}} {
		if code, out, errs := s.weir(args...); code != exitUsage || out != "" || errs == "" {
			t.Errorf("%s: exit code %d, must be %d: %s%s", name, code, exitUsage, out, errs)
		}
	}
}
