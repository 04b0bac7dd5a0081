package main

import (
	"errors"
	"strings"
	"testing"

	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
	"weir/record/report"
	"weir/runtime"
)

// TestResultRoundsBoundsUp: the end of a run says no less than PRIVACY.md.
func TestResultRoundsBoundsUp(t *testing.T) {
	proven, published := 1.99950002, 0.123451
	var b strings.Builder
	epsilons(&b, streams{out: &b}, record.Terms{Proven: &proven, Published: &published, Delta: 1e-6})
	if text := b.String(); !strings.Contains(text, " 1.9996 at delta") || !strings.Contains(text,
		" 0.12346 by the paper") {
		t.Errorf("a run ends with %s", text)
	}
}

// TestEndOfARunFitsATerminal: prose is broken for the terminal, and in a pipe no line that scripts look for is.
func TestEndOfARunFitsATerminal(t *testing.T) {
	proven := 1.5
	rec := &record.Run{Terms: record.Terms{Proven: &proven, Delta: 1e-6, Adjacency: "replace_one"},
		Metrics: map[string]float64{"m.statistic_loss": 1}, Stages: []record.Stage{{ID: "m", Kind: "marginals"}},
		Remarks: []record.Remark{{Stage: "train", Text: strings.Repeat("bounds are wide ", 20)}}}
	for _, columns := range []int{78, 0} {
		var b strings.Builder
		err := printResult(streams{out: &b, columns: columns}, &runtime.Result{Record: rec, Path: "run", Reused: true})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if columns > 0 && len(line) > columns+1 {
				t.Errorf("a terminal of %d columns gets %s", columns, line)
			}
		}
		if whole := strings.Contains(b.String(), "nothing was charged. --fresh draws new noise, as a new charge.\n"); whole !=
			(columns == 0) {
			t.Errorf("%d columns: %s", columns, b.String())
		}
	}
}

// TestListsFitATerminal: errors and the list of a ledger are folded for a terminal, and whole in a pipe.
func TestListsFitATerminal(t *testing.T) {
	entry := ledger.Entry{Run: "20261128-080201-42a7a465116dcc4f739249451733cf46", Stage: "train", Name: "marginals",
		Adjacency: "add_remove"}
	entry.Event.Event = privacy.Gaussian{NoiseMultiplier: 5}
	for columns, whole := range map[int]string{78: "\nEVENT: {\"gaussian\":{\"noise_multiplier\":5}}\n",
		0: "  train  marginals  row   add_remove  {\"gaussian\":{\"noise_multiplier\":5}}\n"} {
		var b strings.Builder
		s := streams{out: &b, err: &b, columns: columns}
		printError(s, errors.New(strings.Repeat("a word ", 30)+"end"))
		if err := printLedger(s, []ledger.Entry{entry}, ledger.Overview{}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if columns > 0 && len(line) > columns+1 {
				t.Errorf("a terminal of %d columns gets %s", columns, line)
			}
		}
		unbroken := strings.Contains(b.String(), strings.Repeat("a word ", 30))
		if !strings.Contains(b.String(), whole) || unbroken != (columns == 0) {
			t.Errorf("%d columns: %s", columns, b.String())
		}
	}
}

// TestHelpFitsATerminal: no line of a help text is longer than the terminal, but examples, which are copied whole.
func TestHelpFitsATerminal(t *testing.T) {
	for _, name := range []string{"", "audit", "budget check", "diff", "run"} {
		var b strings.Builder
		execute(t.Context(), streams{out: &b, err: &b, columns: 78}, strings.Fields(name+" --help"))
		text, rest, _ := strings.Cut(b.String(), "\nExamples:\n")
		if !strings.Contains(text, "Exit codes: 0") {
			t.Errorf("weir %s --help says only %s", name, text)
		}
		_, flags, _ := strings.Cut(rest, "\nFlags:\n")
		for line := range strings.Lines(text + flags) {
			if len(line) > 79 {
				t.Errorf("weir %s --help: %s", name, line)
			}
		}
	}
}

// TestFiguresPointToAReportThatIsThere, and a score is among the first where it is computed.
func TestFiguresPointToAReportThatIsThere(t *testing.T) {
	rec := &record.Run{Metrics: map[string]float64{"m.k_marginal_score": 987.5, "m.nist_2018_score": 987500,
		"m.columns": 3}, Stages: []record.Stage{{ID: "m", Kind: "marginals"}}}
	var plain, noted strings.Builder
	plain.WriteString(report.Headlines(rec, declaredBy(t, rec.Stages...), words.Wrap))
	rec.Internal = []record.File{{Path: "internal/report.html"}}
	noted.WriteString(report.Headlines(rec, declaredBy(t, rec.Stages...), words.Wrap))
	if text := plain.String(); strings.Contains(text, "the report") || !strings.Contains(text,
		"and 2 more in internal/metrics.json\n") || !strings.Contains(text, "m.k_marginal_score") || !strings.Contains(text,
		"1000 is best") {
		t.Errorf("a run without a report ends with %s", text)
	}
	if text := noted.String(); !strings.Contains(text, "; the report says what they mean\n") {
		t.Errorf("a run with a report ends with %s", text)
	}
}

// TestTablesAreNamedForWhatTheyHold: rows of people and lists of counts are not called
// synthetic at the end of a run.
func TestTablesAreNamedForWhatTheyHold(t *testing.T) {
	reg, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Run{Stages: []record.Stage{{ID: "draw", Kind: "sample"}, {ID: "keep", Kind: "write"},
		{ID: "post", Kind: "remove_anomalies"}}}
	for _, c := range []struct{ path, stage, want string }{
		{"release/draw.csv", "draw", "synthetic table"},
		{"internal/draw.csv", "draw", "synthetic table"},
		{"internal/keep.csv", "keep", "PRIVATE table"},
		{"release/keep.csv", "keep", "released table"},
		{"release/post.csv", "post", "less anomalies"},
	} {
		if got := tableWord(rec, reg, record.File{Path: c.path, What: record.TableOf(c.stage)}); got != c.want {
			t.Errorf("%s is a %s, must be a %s", c.path, got, c.want)
		}
	}
}
