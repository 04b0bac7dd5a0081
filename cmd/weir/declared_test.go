package main

import (
	"strings"
	"testing"
)

// withCounts makes rows from noisy counts that an office declares public.
func withCounts(s study) {
	s.write("counts.csv", "marginal,income,group,flag,count,sigma\n1,\"[0, 50001]\",,,210,5\n1,\"[50002, "+
		"100000]\",,,190,5\n"+
		"2,,a,0,60,5\n2,,a,1,70,5\n2,,b,0,70,5\n2,,b,1,60,5\n2,,c,0,75,5\n2,,c,1,65,5\n")
	s.edit("spec.yaml", "  sample:", `  counted: {kind: marginals_from, file: counts.csv, like: features, epsilon: 0.75, delta: 1e-9, unit: a household, noise: gaussian, declared_by: the statistics office}
  office: {kind: sample, from: counted, rows: 30}
  sample:`)
	s.edit("spec.yaml", "kind: sample, rows: 50", "kind: sample, from: train, rows: 50")
}

// TestDeclaredNoiseIsOutsideTheProof: what a file of noisy counts cost is printed in
// bill and PRIVACY.md as its makers say it, and not added to what is proven here.
func TestDeclaredNoiseIsOutsideTheProof(t *testing.T) {
	s := newStudy(t, 400)
	plain := s.result()
	withCounts(s)
	r := s.result()
	if r.Epsilon["proven"] == nil || *r.Epsilon["proven"] != *plain.Epsilon["proven"] {
		t.Errorf("epsilon is %v, must be that of the dataset alone", r.Epsilon["proven"])
	}
	for _, file := range []string{"BILL.txt", "PRIVACY.md"} {
		text := released(t, r, file)
		for _, want := range []string{"counts.csv", "the statistics office",
			"epsilon 0.75, delta 1e-09 for a household, gaussian noise", "outside of what"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q:\n%s", file, want, text)
			}
		}
	}
	if rows := strings.Count(released(t, r, "office.csv"), "\n"); rows != 31 {
		t.Errorf("%d lines of rows from the counts, must be 31", rows)
	}
}

// TestPrivateInputsOfMarginalsFrom are refused before anything runs: the dataset as a
// file of counts, and a private table where a model has to be.
func TestPrivateInputsOfMarginalsFrom(t *testing.T) {
	for what, c := range map[string]struct{ stage, want string }{
		"the dataset as counts": {"{kind: marginals_from, file: data.csv, like: features, epsilon: 1, unit: a, noise: " +
			"gaussian, declared_by: me}", "W13"},
		"a private table": {"{kind: marginals_from, model: clean}", "must be a stage that gives a model"},
	} {
		s := newStudy(t, 40)
		s.edit("spec.yaml", "  sample:", "  counted: "+c.stage+"\n  sample:")
		s.edit("spec.yaml", "kind: sample, rows: 50", "kind: sample, from: train, rows: 50")
		if code, out, errs := s.run(); code == 0 || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit code %d, must say %q: %s%s", what, code, c.want, out, errs)
		}
	}
}
