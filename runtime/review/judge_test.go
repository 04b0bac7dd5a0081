package review

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/privacy"
	"weir/privacy/ledger"
	"weir/runtime/payment"
)

// pure returns a charge of an event of pure epsilon, by a recipe.
func pure(recipe string, epsilon float64) ledger.Entry {
	return ledger.Entry{Dataset: "d", Run: recipe, ID: recipe, Spec: "s", Stage: "train", Name: "counts", Recipe: recipe,
		Event: privacy.JSON{Event: privacy.Pure{Epsilon: epsilon}}, Adjacency: privacy.AddRemove}
}

// TestJudge: under the basic filter epsilons of pure events add up (Rogers et al. 2016), so a budget of 1.5 holds what
// is spent and planned up to there. What grows beyond it is refused, what was beyond it before is not.
func TestJudge(t *testing.T) {
	budget := setBudget{spec: "spec.yaml", cap: ledger.Cap{Epsilon: 1.5, Delta: 1e-6, Adjacency: privacy.AddRemove,
		Filter: "basic"}}
	for name, c := range map[string]struct {
		spent, earlier, planned []ledger.Entry
		now                     float64
		over, grown             bool
	}{
		"within":              {nil, nil, []ledger.Entry{pure("a", 1)}, 1, false, true},
		"to the brim":         {[]ledger.Entry{pure("a", .5)}, nil, []ledger.Entry{pure("b", 1)}, 1.5, false, true},
		"beyond":              {[]ledger.Entry{pure("a", 1)}, nil, []ledger.Entry{pure("b", 1)}, 2, true, true},
		"as far beyond as it": {nil, []ledger.Entry{pure("a", 2)}, []ledger.Entry{pure("b", 2)}, 2, true, false},
		"less than before":    {nil, []ledger.Entry{pure("a", 3)}, []ledger.Entry{pure("b", 2)}, 2, true, false},
	} {
		got := judge(budget, c.spent, c.spent, c.earlier, c.planned)
		if got.Over != c.over || got.Grown != c.grown || got.Now == nil || math.Abs(*got.Now-c.now) > 1e-9 {
			t.Errorf("%s: %+v (now %v), must be over %v, grown %v, now %g", name, got, got.Now, c.over, c.grown, c.now)
		}
	}
}

// TestReportRefuses: a report refuses the datasets whose spending grows beyond a budget, and no others; its text says
// which those are.
func TestReportRefuses(t *testing.T) {
	two := 2.
	standing := Standing{Spec: "spec.yaml", Epsilon: 1.5, Delta: 1e-6, Filter: "basic", Unit: "row", Spent: &two,
		Now: &two}
	for _, c := range []struct {
		over, grown bool
		text        string
	}{{false, true, "within"}, {true, false, "over       but no more than in main"}, {true, true, "OVER       planned"}} {
		s := standing
		s.Over, s.Grown = c.over, c.grown
		r := Report{Against: "main", Datasets: []Dataset{{Dataset: "patients", Budgets: []Standing{s}}}}
		if err := r.Refusal(); (err != nil) != (c.over && c.grown) || err != nil && !strings.Contains(err.Error(),
			"patients") {
			t.Errorf("over %v, grown %v: %v", c.over, c.grown, err)
		}
		if text := r.Text(); !strings.Contains(text, c.text) || !strings.Contains(text, "no finite bound in main, 2 now") {
			t.Errorf("over %v, grown %v: the text is\n%s", c.over, c.grown, text)
		}
	}
}

// TestQuoteText: a quote says what is charged anew and what was paid, how the ledger stands then, and how often the
// charges fit once more; without a proof it has no bound.
func TestQuoteText(t *testing.T) {
	one, limit, room := 1., 4., 2
	q := payment.Quote{Statement: payment.Statement{Ledger: "l.jsonl", Before: 1, Bill: 1, Cap: &limit, Room: &room},
		Dues: []payment.Due{{Stage: "train", Epsilon: &one, Charges: 1}, {Stage: "count", Epsilon: &one, From: "r1"}}}
	q.Spent.Total, q.After.Total = ledger.Total{Epsilon: 1, Delta: 1e-6, Accountant: "rdp"}, ledger.Total{Epsilon: 2}
	text := QuoteText([]payment.Quote{q}, nil)
	for _, want := range []string{"train            new charge, epsilon 1 alone",
		"count            reused, charged in run r1",
		"then             epsilon 2, after 1 new charge", "budget           epsilon 4; 2 remains, room for 2 more such " +
			"charges"} {
		if !strings.Contains(text, want) {
			t.Errorf("a quote reads\n%s, without %q", text, want)
		}
	}
	q.Dues[0].Epsilon, q.After.Epsilon, q.After.Reason = nil, math.Inf(1), "nothing is proven"
	if text = QuoteText([]payment.Quote{q}, nil); !strings.Contains(text, "then             without a proven bound") ||
		!strings.Contains(text, "refused, nothing is proven") || !strings.Contains(text, "epsilon none proven alone") {
		t.Errorf("a quote without a proof reads\n%s", text)
	}
	q.After.Unmeasured = true
	q.Fixed = &ledger.Total{Epsilon: 0.5, Delta: 1e-6, Accountant: "pld"}
	text = QuoteText([]payment.Quote{q}, nil)
	if !strings.Contains(text, "then             no sum, since the filter has no") ||
		!strings.Contains(text, "\n                   epsilon 0.5 at delta 1e-06 (pld), if all charges were fixed") {
		t.Errorf("a quote without a measure reads\n%s", text)
	}
	for want, s := range map[string]payment.Statement{
		"none, and none can be set":                {Before: 1, Uncapped: true, UncappedAfter: true},
		"no budget (dataset.budget) can be set on": {UncappedAfter: true},
	} {
		if text = QuoteText([]payment.Quote{{Statement: s}}, nil); !strings.Contains(text, want) ||
			!HasHistory([]payment.Quote{{Statement: s}}) {
			t.Errorf("a quote that rules out budgets reads\n%s, must say %q", text, want)
		}
	}
	if HasHistory([]payment.Quote{{}}) || !HasHistory([]payment.Quote{q}) {
		t.Error("a new ledger has no history; one with a charge or a budget has")
	}
}

// TestCommitReadsWhatWasCommitted: a revision gives files as they were committed, whatever lies there now, and neither
// files outside of it nor what a link leads to.
func TestCommitReadsWhatWasCommitted(t *testing.T) {
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v %s", name, args, err, out)
		}
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("weir: 1")
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	run("git", "init", "-q", "-b", "main", ".")
	run("git", "add", "-A")
	run("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "-m",
		"first")
	write("weir: 2")
	r, err := OpenCommit(t.Context(), dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := r.Read("a.yaml", 100); err != nil || string(data) != "weir: 1" {
		t.Errorf("a.yaml: %q, %v; must be as it was committed", data, err)
	}
	if names, err := r.Holding("weir: 1"); err != nil || len(names) != 1 || names[0] != "a.yaml" {
		t.Errorf("files with weir: 1: %v, %v", names, err)
	}
	if name, err := r.Inside(filepath.Join(dir, "sub", "b.yaml")); err != nil || name != "sub/b.yaml" {
		t.Errorf("sub/b.yaml is called %q, %v", name, err)
	}
	for name, most := range map[string]int64{"absent": 100, "link.yaml": 100, "../a.yaml": 100, "a.yaml": 3} {
		if data, err := r.Read(name, most); err == nil {
			t.Errorf("%s up to %d bytes: %q, must be refused", name, most, data)
		}
	}
	if _, err := OpenCommit(t.Context(), dir, "absent"); err == nil {
		t.Error("a revision that is not there must be refused")
	}
}

// TestBudgetsThatLeftAreInherited: a new dataset is held to the budget of its namesake, and to those that no other new
// one is the namesake of; one without a namesake to all, and made-up rows to none.
func TestBudgetsThatLeftAreInherited(t *testing.T) {
	stateOf := func(file string) specState {
		return specState{namedData: namedData{dataset: file + ".weir-ledger.jsonl", file: file}, shown: file}
	}
	for _, c := range []struct{ now, want string }{
		{"a2/v.csv b2/w.csv", "[0] [1]"},
		{"a2/x.csv b2/y.csv", "[0 1] [0 1]"},
		{"a2/w.csv", "[1 0]"},
		{"a2/v.csv z/q.csv", "[0 1] [0 1]"},
		{"a2/v.csv a3/v.csv b2/w.csv", "[0] [0] [1]"},
		{"demo: cardio", "[]"},
	} {
		var left []setBudget
		var pairs []specPair
		for _, file := range []string{"study/v.csv", "other/w.csv"} {
			earlier := stateOf(file)
			left = append(left, setBudget{namedData: earlier.namedData, shown: file})
			pairs = append(pairs, specPair{path: file, then: &earlier})
		}
		files := strings.Split(c.now, " ")
		if strings.HasPrefix(c.now, "demo") {
			files = []string{c.now}
		}
		for _, file := range files {
			state := stateOf(file)
			if strings.HasPrefix(file, "demo") {
				state.namedData = namedData{dataset: file}
			}
			pairs = append(pairs, specPair{path: file, now: &state})
		}
		heirs := (&Check{}).inherit(left, pairs, names(pairs, nil))
		var got []string
		for _, p := range pairs[2:] {
			got = append(got, fmt.Sprint(heirs[p.now.dataset]))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: held to %v, must be %s", c.now, got, c.want)
		}
	}
}
