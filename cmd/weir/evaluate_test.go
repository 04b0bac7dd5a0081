package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// evaluateStudy runs `weir evaluate --metrics all --json` on two texts.
func evaluateStudy(t *testing.T, real, synthetic string, args ...string) (evaluation, int, string) {
	t.Helper()
	s := newStudy(t, 10)
	s.write("real.csv", real)
	s.write("synthetic.csv", synthetic)
	code, out, errs := s.weir(append([]string{"evaluate", "--real", s.path("real.csv"), "--synthetic", s.path("synthetic.csv"),
		"--domain", s.path("domain.yaml"), "--target", "flag", "--json"}, args...)...)
	var e evaluation
	if code == exitDone {
		if err := json.Unmarshal([]byte(out), &e); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	}
	return e, code, errs
}

// people is a table of n rows; row changes what a row holds.
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
	for _, key := range []string{"marginals.total_variation", "marginals.total_variation.group", "downstream.auroc", "downstream.auroc.logistic_regression"} {
		if _, ok := e.Metrics[key]; !ok {
			t.Errorf("no %s", key)
		}
	}
}

// TestEvaluateOddTables: a value or a stated reason for every group, never a
// panic, and no figure that is not a number.
func TestEvaluateOddTables(t *testing.T) {
	for name, c := range map[string][2]string{
		"constant columns":       {people(60, func(i int) string { return fmt.Sprintf("%d,5,a,%d", i, i%2) }), people(60, usual)},
		"one class":              {people(60, usual), people(60, func(i int) string { return fmt.Sprintf("%d,%d,b,1", i, 100*i) })},
		"one row":                {people(1, usual), people(1, usual)},
		"one synthetic row":      {people(60, usual), people(1, usual)},
		"other categories":       {people(60, usual), people(60, func(i int) string { return fmt.Sprintf("%d,%d,zebra,%d", i, i, i%2) })},
		"missing column":         {people(60, usual), people(60, func(i int) string { return fmt.Sprintf("%d,,a,%d", i, i%2) })},
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

func TestEvaluateRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such group": {[]string{"--metrics", "margnals"}, "unknown group"},
	} {
		if _, code, errs := evaluateStudy(t, people(9, usual), people(9, usual), c.args...); code != exitUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
	}
	s := newStudy(t, 10)
	if code, _, errs := s.weir("evaluate", "--real", "x"); code != exitUsage {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
