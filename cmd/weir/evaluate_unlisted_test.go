package main

import (
	"strings"
	"testing"
)

// TestEvaluateTellsUnlistedFromMissing: in a column that may be missing, as every released
// list is, values that the list lacks once became missing without a word.
func TestEvaluateTellsUnlistedFromMissing(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("d.yaml", "columns:\n  - {name: code, type: categorical, categories: [A, other], nullable: true, missing: "+
		"[none]}\n  - {name: sex, type: categorical, categories: [f, m]}\n")
	s.write("real.csv", "code,sex\nA,f\nB7,m\nB8,f\n,m\nnone,f\nA,m\n")
	s.write("synthetic.csv", "code,sex\nA,f\nother,m\n,m\nA,f\n")
	code, out, errs := s.weir("evaluate", "--real", s.path("real.csv"), "--synthetic", s.path("synthetic.csv"), "--domain",
		s.path("d.yaml"), "--metrics", "marginals")
	if code != exitDone || strings.Count(out, "outside the declared") != 1 ||
		!strings.Contains(out, "note: real: column code: 2 values are outside the declared ones, and count as missing") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	if strings.Count(out, "note: real: a released domain has the spellings of released rows") != 1 ||
		strings.Contains(out, "note: synthetic") {
		t.Errorf("%s must say once, of real rows, which domain knows other spellings", out)
	}
}

// TestEvaluateTakesATableWithoutRows whose lists may be missing: either side, with or without rows on the other.
func TestEvaluateTakesATableWithoutRows(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("d.yaml", "columns:\n  - {name: code, type: categorical, categories: [A, other], nullable: true}\n  - "+
		"{name: sex, type: categorical, categories: [f, m]}\n")
	s.write("some.csv", "code,sex\nA,f\n,m\nother,m\n")
	s.write("none.csv", "code,sex\n")
	for _, pair := range [][2]string{{"some", "none"}, {"none", "some"}, {"none", "none"}} {
		code, out, errs := s.weir("evaluate", "--real", s.path(pair[0]+".csv"), "--synthetic", s.path(pair[1]+".csv"),
			"--domain", s.path("d.yaml"), "--metrics", "marginals")
		if code != exitDone || strings.Contains(out, "outside the declared") {
			t.Errorf("%v: exit %d, %s%s", pair, code, out, errs)
		}
	}
}

// TestEvaluateNamesWhatAKindLacks: a setting or a table without a flag is said to be one of specs, never a place of no
// file.
func TestEvaluateNamesWhatAKindLacks(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("d.yaml", "columns:\n  - {name: sex, type: categorical, categories: [f, m]}\n")
	s.write("t.csv", "sex\nf\nm\n")
	_, out, _ := s.weir("evaluate", "--real", s.path("t.csv"), "--synthetic", s.path("t.csv"), "--domain",
		s.path("d.yaml"),
		"--metrics", "downstream,regression_discovery,compare_queries,dimension_wise_prediction")
	for _, want := range []string{"note: downstream: not computed: needs --target\n",
		"note: regression_discovery: not computed: needs --target; needs columns, model, which only the stage of a spec " +
			"can set\n", "note: compare_queries: not computed: needs answers, which only the stage of a spec can read\n",
		"note: dimension_wise_prediction: not computed: needs --real-train\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s lacks %q", out, want)
		}
	}
}
