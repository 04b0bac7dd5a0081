package main

import (
	"strings"
	"testing"
)

// TestNoEscapesReachTheTerminal: what a terminal obeys is spelled, wherever it comes
// from: a file name, a value of a spec, an override, a record or a ledger of others.
func TestNoEscapesReachTheTerminal(t *testing.T) {
	const escape = "\x1b]0;x\x07\u202e"
	s := newStudy(t, 40)
	s.write(escape+".yaml", "weir: 1\nname: x\n")
	s.write("bad.yaml", strings.ReplaceAll(s.read("spec.yaml"), "kind: encode", `kind: "\e]0;x\a\u202e"`))
	s.write("named.yaml", strings.ReplaceAll(s.read("spec.yaml"), "kind: drop, columns: [id]",
		`kind: drop, columns: ["\e]0;x\a\u202e"]`))
	s.write("declared.yaml", s.read("spec.yaml")+"  more: {kind: read, file: \""+`\e]0;x\a\u202e`+
		"\", class: public, declared_by: \""+`\e]0;x\a\u202e`+"\", like: dataset}\n")
	s.write("ledger.jsonl", `{"stage":"`+escape+`"}`+"\n")
	for _, args := range [][]string{
		{"check", s.path(escape + ".yaml")}, {"check", s.path("bad.yaml")}, {"check", s.path("named.yaml")},
		{"plan", s.path("declared.yaml")},
		{"check", s.path("spec.yaml"), "--set", "name=" + escape}, {"run", s.path("spec.yaml"), "--set", escape + "=1"},
		{"sample", s.path(escape + ".yaml")}, {"domain", "infer", s.path(escape)}, {"ledger", "show", s.path("ledger.jsonl")},
		{"kinds", escape}, {escape}, {"epsilon", "--delta", "1e-6", "--event", escape}, {"check", "--explain", escape},
	} {
		_, out, errs := s.weir(args...)
		if strings.ContainsAny(out+errs, "\x1b\x07\u202e") {
			t.Errorf("%q: a control character is written: %q", args, out+errs)
		}
		if out+errs == "" {
			t.Errorf("%q: nothing is written", args)
		}
	}
	var b strings.Builder
	if _, err := plainly(&b).Write([]byte(escape + "\n")); err != nil || b.String() != `\x1b]0;x\x07\u202e`+"\n" {
		t.Errorf("is written as %q, %v", b.String(), err)
	}
}
