package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"weir/runtime/evaluation"
)

// evaluateStudy runs `weir evaluate --metrics all --json` on two texts.
func evaluateStudy(t *testing.T, real, synthetic string, args ...string) (evaluation.Evaluation, int, string) {
	t.Helper()
	s := newStudy(t, 10)
	s.write("real.csv", real)
	s.write("synthetic.csv", synthetic)
	code, out, errs := s.weir(append([]string{"evaluate", "--real", s.path("real.csv"), "--synthetic",
		s.path("synthetic.csv"),
		"--domain", s.path("domain.yaml"), "--target", "flag", "--json"}, args...)...)
	var e evaluation.Evaluation
	if code == exitDone {
		if err := json.Unmarshal([]byte(out), &e); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	}
	return e, code, errs
}

// people returns a table of n rows; row changes what a row holds.
func people(n int, row func(i int) string) string {
	var b strings.Builder
	b.WriteString("id,income,group,flag\n")
	for i := range n {
		b.WriteString(row(i) + "\n")
	}
	return b.String()
}

func usual(i int) string {
	return fmt.Sprintf("%d,%d,%c,%d", i, 20000+(i*7919)%60000, 'a'+rune(i%3), (i/3)%2)
}

func TestEvaluateAll(t *testing.T) {
	e, code, errs := evaluateStudy(t, people(200, usual), people(150, usual))
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	for _, key := range []string{"marginals.total_variation", "marginals.total_variation.group", "downstream.auroc",
		"downstream.auroc.logistic_regression"} {
		if _, ok := e.Metrics[key]; !ok {
			t.Errorf("no %s", key)
		}
	}
}

// TestEvaluateAnotherEncoding: real rows in Windows-1252 are compared with synthetic ones in UTF-8, in which all values
// are alike; without the encoding the refusal names the flag.
func TestEvaluateAnotherEncoding(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("domain.yaml", "columns:\n  - {name: größe, type: integer, bounds: [0, 9]}\n  - {name: ort, type: "+
		"categorical, categories: [Zürich, Málaga]}\n")
	s.write("real.csv", "gr\xf6\xdfe;ort;nr\n"+strings.Repeat("1;Z\xfcrich;7\n2;M\xe1laga;8\n", 50))
	s.write("synthetic.csv", "größe;ort\n"+strings.Repeat("1;Zürich\n2;Málaga\n", 50))
	args := []string{"evaluate", "--real", s.path("real.csv"), "--synthetic", s.path("synthetic.csv"), "--domain",
		s.path("domain.yaml"),
		"--metrics", "marginals", "--json"}
	code, _, errs := s.weir(append(args, "--delimiter", ";")...)
	if code != exitFailed || !strings.Contains(errs, "real.csv: line 1: is not UTF-8 text") || !strings.Contains(errs,
		"weir evaluate") {
		t.Errorf("undeclared: exit code %d: %s", code, errs)
	}
	code, out, errs := s.weir(append(args, "--delimiter", ";", "--encoding", "windows-1252")...)
	var e evaluation.Evaluation
	if code != exitDone || json.Unmarshal([]byte(out), &e) != nil || e.Metrics["marginals.total_variation"] != 0 ||
		strings.Contains(strings.Join(e.Notes, "\n"), "are missing") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}

// TestEvaluateOddTables: a value or a stated reason for every group, never a
// panic, and no figure that is not a number.
func TestEvaluateOddTables(t *testing.T) {
	for name, c := range map[string][2]string{
		"constant columns": {people(60, func(i int) string { return fmt.Sprintf("%d,5,a,%d", i, i%2) }),
			people(60, usual)},
		"one class": {people(60, usual),
			people(60, func(i int) string { return fmt.Sprintf("%d,%d,b,1", i, 100*i) })},
		"one row":           {people(1, usual), people(1, usual)},
		"one synthetic row": {people(60, usual), people(1, usual)},
		"other categories": {people(60, usual),
			people(60, func(i int) string { return fmt.Sprintf("%d,%d,zebra,%d", i, i, i%2) })},
		"missing column": {people(60, usual),
			people(60, func(i int) string { return fmt.Sprintf("%d,,a,%d", i, i%2) })},
		"the same table":         {people(60, usual), people(60, usual)},
		"everything missing":     {people(60, usual), people(60, func(int) string { return ",,," })},
		"empty synthetic":        {people(60, usual), people(0, usual)},
		"empty real":             {people(0, usual), people(60, usual)},
		"real everything absent": {people(60, func(int) string { return ",,," }), people(60, usual)},
	} {
		t.Run(name, func(t *testing.T) {
			e, code, errs := evaluateStudy(t, c[0], c[1], "--metrics", "all")
			if code != exitDone {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			for _, n := range e.Notes {
				if strings.Contains(n, "internal error") {
					t.Errorf("note: %s", n)
				}
			}
			if len(e.Metrics)+len(e.Notes) == 0 {
				t.Error("neither figures nor reasons")
			}
		})
	}
}

// TestEvaluateShowsTheWorst: of a wide table the figures of the whole and the worst few
// are printed, the right ones, with a line on the rest; --all and --json have everything.
func TestEvaluateShowsTheWorst(t *testing.T) {
	s := newStudy(t, 10)
	var domain, names strings.Builder
	domain.WriteString("columns:\n")
	for i := range 40 {
		fmt.Fprintf(&domain, "  - {name: c%02d, type: categorical, categories: [a, b]}\n", i)
		fmt.Fprintf(&names, ",c%02d", i)
	}
	// Column i is a in all real rows, and b in i of 100 synthetic ones.
	table := func(bad bool) string {
		text := names.String()[1:] + "\n"
		for row := range 100 {
			cells := make([]string, 40)
			for i := range cells {
				cells[i] = map[bool]string{true: "b", false: "a"}[bad && row < i]
			}
			text += strings.Join(cells, ",") + "\n"
		}
		return text
	}
	s.write("wide.yaml", domain.String())
	s.write("real.csv", table(false))
	s.write("synthetic.csv", table(true))
	args := []string{"evaluate", "--real", s.path("real.csv"), "--synthetic", s.path("synthetic.csv"), "--domain",
		s.path("wide.yaml"), "--metrics", "marginals"}
	code, out, errs := s.weir(args...)
	if lines := strings.Count(out, "\n"); code != exitDone || lines > 90 {
		t.Fatalf("exit code %d, %d lines, must be at most 90: %s%s", code, lines, out, errs)
	}
	for _, want := range []string{"rows: real 100, synthetic 100\n", "total_variation.c39 ", "total_variation.c35 ",
		"total_variation_2way.c00:c39 ", "more figures", "independent"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not shown in\n%s", want, out)
		}
	}
	for _, bad := range []string{"total_variation.c34 ", "_low", "probability_real.", "NaN"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q is shown in\n%s", bad, out)
		}
	}
	_, all, _ := s.weir(append(args, "--all")...)
	if !strings.Contains(all, "total_variation.c00 ") || strings.Count(all, "\n") < 40*39/2 ||
		strings.Contains(all, "more figures") {
		t.Errorf("--all shows %d lines", strings.Count(all, "\n"))
	}
}

// TestEvaluateShowsIntervals beside scores, the figures of other tables in columns beside
// theirs, and takes a baseline.
func TestEvaluateShowsIntervals(t *testing.T) {
	s := newStudy(t, 10)
	s.write("real.csv", people(200, usual))
	s.write("other.csv", people(150, usual))
	args := []string{"evaluate", "--real", s.path("real.csv"), "--synthetic", s.path("other.csv"), "--real-train",
		s.path("real.csv"), "--baseline", s.path("other.csv"),
		"--domain", s.path("domain.yaml"), "--target", "flag", "--metrics", "downstream"}
	code, out, errs := s.weir(args...)
	if code != exitDone || !regexp.MustCompile(`(?m)^downstream +synthetic +real_train +baseline +majority$`).MatchString(
		out) ||
		!regexp.MustCompile(`(?m)^  accuracy +([0-9.]+) +[0-9.]+ +([0-9.]+) +[0-9.]+ +95 %: [0-9.]+ to [0-9.]+$`).MatchString(
			out) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	e, _, _ := evaluateStudy(t, people(200, usual), people(150, usual))
	for _, key := range []string{"downstream.auroc_low", "downstream.auroc_high.logistic_regression",
		"downstream.accuracy_majority", "downstream.rows.real", "detectability.auroc_high"} {
		if _, ok := e.Metrics[key]; !ok {
			t.Errorf("no %s", key)
		}
	}
}

func TestEvaluateRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such group": {[]string{"--metrics", "margnals"}, "unknown group"},
	} {
		if _, code, errs := evaluateStudy(t, people(9, usual), people(9, usual), c.args...); code != exitUsage ||
			!strings.Contains(errs, c.want) {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
	}
	s := newStudy(t, 10)
	if code, _, errs := s.weir("evaluate", "--real", "x"); code != exitUsage {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestEvaluateFilesOfTheirOwnForms: a file with another delimiter is read by its header; a column that a file lacks is
// left out with a word, and what the others say is the same as without it. --html writes the page of it for the owner
// alone, with verdicts and without a bill, of which nothing is known.
func TestEvaluateFilesOfTheirOwnForms(t *testing.T) {
	s := newStudy(t, 10)
	real := people(300, usual)
	s.write("real.csv", real)
	s.write("synthetic.csv", strings.ReplaceAll(strings.ReplaceAll(real, "income", "incom"), ",", ";"))
	args := []string{"evaluate", "--real", s.path("real.csv"), "--synthetic", s.path("synthetic.csv"), "--domain",
		s.path("domain.yaml"),
		"--target", "flag", "--metrics", "marginals,downstream"}
	code, out, errs := s.weir(append(args, "--html", s.path("page.html"))...)
	for _, want := range []string{"column income: is not in " + s.path("synthetic.csv") +
		", so it is left out (did you mean incom?)", "rows: real 300, synthetic 300",
		"report (private): " + s.path("page.html")} {
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("exit code %d: %s%s, must say %q", code, out, errs, want)
		}
	}
	page := s.read("page.html")
	for _, want := range []string{"Two files, compared by weir evaluate", "Single columns: total variation",
		"300 real rows (real.csv) against 300 synthetic rows (synthetic.csv)",
		"Column income: is not in ", "No epsilon covers the figures"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"Epsilon (proven)", `id="bill"`, "What may leave", "The epsilon below", "release/"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page of two files has %q", bad)
		}
	}
	info, err := os.Stat(s.path("page.html"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v, must be 0600", err, info.Mode())
	}
	s.write("other.csv", "a;b\n1;2\n")
	args[4] = s.path("other.csv")
	if code, _, errs := s.weir(args...); code != exitUsage || !strings.Contains(errs,
		"the files have no column of the domain in common") {
		t.Errorf("nothing in common: exit code %d: %s", code, errs)
	}
}
