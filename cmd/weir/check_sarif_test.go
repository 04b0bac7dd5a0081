package main

import (
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"testing"
)

// sarifLog holds what SARIF 2.1.0 (OASIS, 2020) requires: version and runs (section
// 3.13), tool and driver (3.14.6, 3.18.2) with a name (3.19.8), rules with distinct
// ids (3.49.3), results with a message text (3.27.11, 3.11.8).
type sarifLog struct {
	Version string `json:"version"`
	Runs    []struct {
		Tool struct {
			Driver struct {
				Name  string      `json:"name"`
				Rules []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Results []sarifFound `json:"results"`
	} `json:"runs"`
}

// sarifRule holds of a rule what SARIF requires (3.49) and what weir says of each of its own.
type sarifRule struct {
	ID               string
	ShortDescription struct{ Text string }
	Help             struct{ Text string }
	HelpURI          string
}

type sarifFound struct {
	RuleID    string
	Level     string
	Message   struct{ Text string }
	Locations []struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           *struct{ StartLine, StartColumn int }
		}
	}
	Suppressions []struct{ Kind, Justification string }
}

// sarifOf checks a spec and decodes the log.
func sarifOf(t *testing.T, s study, spec string, exit int, args ...string) sarifLog {
	t.Helper()
	code, out, errs := s.weir(append([]string{"check", s.path(spec), "--format", "sarif"}, args...)...)
	if code != exit || errs != "" {
		t.Fatalf("exit code %d, must be %d with nothing on stderr: %s", code, exit, errs)
	}
	var log sarifLog
	if err := json.Unmarshal([]byte(out), &log); err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	return log
}

// results holds a log to what the standard requires, among it that all results or none say by whom they are accepted
// (3.27.23), and returns its results.
func (log sarifLog) results(t *testing.T) []sarifFound {
	t.Helper()
	run, rules := log.Runs[0], map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if r.ID == "" || rules[r.ID] {
			t.Errorf("rule %q has no id of its own", r.ID)
		}
		if uri, err := url.Parse(r.HelpURI); err != nil || r.HelpURI != "" && !uri.IsAbs() || r.ShortDescription.Text == "" {
			t.Errorf("rule %s: the help lies at %q, %v, and the description is %q", r.ID, r.HelpURI, err,
				r.ShortDescription.Text)
		}
		rules[r.ID] = true
	}
	if run.Tool.Driver.Name != "weir" || run.Results == nil {
		t.Errorf("the driver is %q with results %v, must be weir with a list", run.Tool.Driver.Name, run.Results)
	}
	for _, r := range run.Results {
		if r.Suppressions == nil {
			t.Errorf("%+v: does not say who accepts it", r)
		}
		if r.Message.Text == "" || !rules[r.RuleID] || !slices.Contains([]string{"none", "note", "warning", "error"},
			r.Level) {
			t.Errorf("%+v: must have a text, a listed rule and a level of the standard", r)
		}
	}
	return run.Results
}

// file returns the path that a result names: a URI reference, which must lead to a file.
func (r sarifFound) file(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(r.Locations[0].PhysicalLocation.ArtifactLocation.URI)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(u.Path); err != nil {
		t.Error(err)
	}
	return u.Path
}

// TestSARIFAcknowledged: what a spec accepts is suppressed by its reason.
func TestSARIFAcknowledged(t *testing.T) {
	r := sarifOf(t, checked(t), "spec.yaml", exitDone).results(t)
	if len(r) != 1 || r[0].RuleID != "W25" || len(r[0].Suppressions) != 1 || r[0].Suppressions[0].Kind != "inSource" ||
		r[0].Suppressions[0].Justification != "each person has one row here" {
		t.Errorf("%+v: must be W25 alone, with the reason of the spec", r)
	}
}

func TestSARIFWarnings(t *testing.T) {
	s := checked(t)
	if err := os.Mkdir(s.path("100% mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	const spec = "100% mine/spec.yaml" // which no URI may hold as it is
	s.write("100% mine/domain.yaml", s.read("domain.yaml"))
	s.write(spec, s.read("spec.yaml"))
	s.edit(spec, "{epsilon: 1,", "{epsilon: 40,")
	r := sarifOf(t, s, spec, exitDone).results(t)
	r = slices.DeleteFunc(r, func(f sarifFound) bool { return len(f.Suppressions) > 0 })
	if len(r) != 1 || r[0].RuleID != "W33" || r[0].Level != "warning" || r[0].file(t) != s.path(spec) {
		t.Errorf("%+v: must be W33, a warning about %s", r, spec)
	}
}

// TestSARIFErrors: faults stand at their line, in the file that has them.
func TestSARIFErrors(t *testing.T) {
	for _, c := range []struct {
		file, old, new, rule string
		line, exit           int
	}{
		{"spec.yaml", "kind: drop", "kind: dropp", "spec", 7, exitUsage},
		{"domain.yaml", "bounds: [0, 100000]", "bounds: [9, 1]", "spec", 3, exitUsage},
		{"spec.yaml", "kind: impute_constant, numbers: {income: 50000}", "kind: impute_knn, scope: table, neighbors: 3",
			"W03", 11, exitPrivacy},
	} {
		s := checked(t)
		s.edit(c.file, c.old, c.new)
		found := sarifOf(t, s, "spec.yaml", c.exit).results(t)
		if len(found) != 1 {
			t.Errorf("%s: %d results, must be one", c.new, len(found))
		}
		for _, r := range found {
			region := r.Locations[0].PhysicalLocation.Region
			if r.RuleID != c.rule || r.Level != "error" || r.file(t) != s.path(c.file) || region == nil ||
				region.StartLine != c.line ||
				region.StartColumn < 1 {
				t.Errorf("%s: %+v at %+v, must be an error of %s in line %d of %s", c.new, r, region, c.rule, c.line, c.file)
			}
		}
	}
}

// TestSARIFOfAnOverride: a fault of the command line is in no line of the spec.
func TestSARIFOfAnOverride(t *testing.T) {
	s := checked(t)
	r := sarifOf(t, s, "spec.yaml", exitUsage, "--set", "seed=x").results(t)
	if len(r) != 1 || r[0].file(t) != s.path("spec.yaml") || r[0].Locations[0].PhysicalLocation.Region != nil {
		t.Errorf("%+v: must be one result without a region", r)
	}
}
