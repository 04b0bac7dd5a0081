package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// directives of cobra as __complete prints them.
const (
	thenFiles = ":0"  // files, where nothing fits
	only      = ":4"  // nothing else
	onlyOn    = ":6"  // nothing else, and no blank behind it
	yamlFiles = ":8"  // files by their endings
	inOrder   = ":32" // as they are, then files
)

// TestCompletion asks what shells ask. Of a stranger's spec no word may come that a shell would carry out.
func TestCompletion(t *testing.T) {
	s := newStudy(t, 4)
	t.Chdir(s.dir)
	const first = "20261121-052215-74fe39d80bb4f2be0dd1a1cf6c2ae9d1"
	const second = "20261122-060112-a1b2c3d80bb4f2be0dd1a1cf6c2ae9d1"
	for _, run := range []string{first, second} {
		s.must(os.MkdirAll(filepath.Join("runs", "study", run), 0o755))
		s.write(filepath.Join("runs", "study", run, "run.json"), "{}")
	}
	s.write("hostile.yaml", "stages:\n  \"$(touch pwned)a\": {kind: sample}\n  \"a\\nb\": {kind: sample}\n  "+
		"'x;id': {kind: sample}\n  \"`id`\": {kind: sample}\n  \"a b\": {kind: sample}\n  \"a&b\": {kind: sample}\n  "+
		"\"a*\": {kind: sample}\n  \"{a,b}\": {kind: sample}\n  \"!1\": {kind: sample}\n  good: {kind: sample}\n")
	cases := []struct {
		line, directive string
		words           []string // that must come, or with ! must not
	}{
		{"check |", yamlFiles, []string{"yaml", "yml"}},
		{"check spec|", yamlFiles, []string{"yaml"}},
		{"run specs:uc|", only, []string{"specs:uclanesl-adult", "!specs:ganad-mst-cervical"}},
		{"fmt |", yamlFiles, []string{"yaml"}},
		{"budget check |", yamlFiles, []string{"yaml"}},
		{"kinds im|", only, []string{"impute_knn", "impute_constant", "!encode"}},
		{"init --model dp_w|", only, []string{"dp_wgan"}},
		{"init --template |", only, []string{"survey", "registry", "claims"}},
		{"explain w0|", only, []string{"W03", "!W10"}},
		{"check --explain W0|", only, []string{"W03"}},
		{"check --format |", only, []string{"text", "json", "sarif", "!mermaid"}},
		{"plan --format m|", only, []string{"mermaid", "!json"}},
		{"diff --format |", only, []string{"markdown"}},
		{"epsilon --accountant p|", only, []string{"pld"}},
		{"epsilon --adjacency |", only, []string{"add_remove", "replace_one"}},
		{"report |", inOrder, []string{second, "latest"}},
		{"verify 20261121|", inOrder, []string{first, "!" + second}},
		{"verify --out nowhere |", inOrder, []string{"latest", "!" + first}},
		{"verify runs/|", inOrder, nil},
		{"runs note latest |", thenFiles, []string{"!latest"}},
		{"diff 20261121|", only, []string{first}},
		{"diff specs:uclanesl-a|", only, []string{"specs:uclanesl-adult"}},
		{"diff |", thenFiles, []string{"!yaml"}},
		{"run spec.yaml --set |", onlyOn, []string{"privacy.", "stages.", "seed=", "!privacy.epsilon="}},
		{"run spec.yaml --set privacy.e|", onlyOn, []string{"privacy.epsilon=", "!privacy.delta="}},
		{"run spec.yaml --set stages.|", onlyOn, []string{"stages.train=", "stages.train.", "!stages.other."}},
		{"plan spec.yaml --set stages.train.st|", onlyOn, []string{"stages.train.steps=", "!stages.train.rows="}},
		{"run spec.yaml --set privacy.claims=|", only, []string{"privacy.claims=proven", "!privacy.claims=none"}},
		{"run spec.yaml --set privacy.epsilon=|", only, []string{"!privacy.epsilon=inf"}},
		{"run spec.yaml --set dataset.domain=|", thenFiles, nil},
		{"run spec.yaml --set privacy.accountant=r|", only, []string{"privacy.accountant=rdp", "!privacy.accountant=pld"}},
		{"run spec.yaml --set dataset.demo=|", only, []string{"dataset.demo=cardio", "dataset.demo=domain"}},
		{"run spec.yaml --set dataset.file=|", thenFiles, nil},
		{"run spec.yaml --set stages.train=|", only, []string{"stages.train=off"}},
		{"run spec.yaml --set stages.train.kind=dp_v|", only, []string{"stages.train.kind=dp_vae"}},
		{"run spec.yaml --set stages.sample.from=tr|", only, []string{"stages.sample.from=train"}},
		{"run specs:uclanesl-adult --set stages.|", onlyOn, []string{"stages.train."}},
		{"run absent.yaml --set stages.|", onlyOn, []string{"!stages.train."}},
		{"run hostile.yaml --set stages.|", onlyOn, []string{"stages.good=", `!stages."$(touch pwned)a"=`}},
		{"schema |", only, []string{"pipeline", "domain"}},
		{"completion |", only, []string{"bash", "powershell"}},
	}
	for _, c := range cases {
		args := append([]string{"__complete"}, strings.Split(strings.TrimSuffix(c.line, "|"), " ")...)
		code, out, errs := s.weir(args...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var list []string
		for _, line := range lines {
			word, _, _ := strings.Cut(line, "\t")
			list = append(list, word)
		}
		if code != exitDone || lines[len(lines)-1] != c.directive {
			t.Errorf("%s: exit code %d, directive %s, must be %s: %s", c.line, code, lines[len(lines)-1], c.directive, errs)
		}
		if strings.ContainsAny(strings.Join(list, ""), "$`;\"'\\&|<>*{}!() \n") {
			t.Errorf("%s: offers %q, must offer no word that a shell takes apart", c.line, list)
		}
		for _, word := range c.words {
			name, absent := strings.CutPrefix(word, "!")
			if slices.Contains(list, name) == absent {
				t.Errorf("%s: must have %s; ! is must not. It has %s", c.line, word, fmt.Sprintf("%.200q", list))
			}
		}
	}
}
