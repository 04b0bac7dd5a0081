package main

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
)

// TestInitTemplatesAndModels: each template and each sort of model gives a spec that checks, with the filter of the
// budget that fits what it spends; a net gets numbers without gaps. What cannot learn the table is refused with the
// reason.
func TestInitTemplatesAndModels(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 300)
	s.write("gaps.yaml", "columns:\n  - {name: id, type: integer}\n  - {name: \"a: b\", type: numeric, bounds: [-1.5, "+
		"9], nullable: true}\n"+
		"  - {name: ward, type: categorical, categories: [\"no\", x], missing: [\"?\"]}\n  - {name: flag, type: boolean}\n")
	s.write("open.yaml", "columns:\n  - {name: ward, type: categorical, categories: private}\n  - {name: age, type: "+
		"integer, bounds: [0, 99]}\n")
	survey := []string{"--template", "survey", "--rows-public", "2400"}
	for name, c := range map[string]struct {
		flags, has, lacks []string
		domain            string
	}{
		"lists": {has: []string{"kind: dp_categories", "NO BUDGET CAN BE SET ON THIS TABLE, for good"},
			lacks: []string{"# budget:"}, domain: "open.yaml"},
		"survey": {survey, []string{"# A survey:", "adjacency: replace_one", "associations:", "filter: gaussian",
			"train: 0.8, test: 0.2"}, []string{"disclosure:", "fewer than 200"}, ""},
		"registry": {[]string{"--template", "registry"}, []string{"# A register:", "adjacency: add_remove", "disclosure:"},
			[]string{"rows_public"}, ""},
		"claims": {[]string{"--template", "claims", "--unit", "id", "--max-rows", "4"},
			[]string{"# Claims:", "{column: id, max_rows: 4}", "associations:", "worth more than epsilon"},
			[]string{"disclosure:"}, ""},
		"few": {[]string{"--rows-public", "300"}, []string{"fewer than 200", "train: 0.9, test: 0.1", "rows: 270}"},
			[]string{"associations:"}, ""},
		"mst": {append(survey, "--model", "mst"), []string{"{kind: mst, from: nameless}",
			"# budget: {epsilon: 10, delta: 1e-5}"}, []string{"gaussian", "encoded:"}, ""},
		"net": {append(survey, "--model", "dp_vae", "--epsilon", "2"), []string{"encoded: {kind: encode}",
			"train: {kind: dp_vae}", `numbers: {"a: b": -1.5}`, `categories: {ward: "no"}`,
			"marked: {kind: missing_indicator, from: nameless}", "# budget: {epsilon: 20, "}, []string{"filter: gaussian",
			"kind: auto"}, ""},
	} {
		dir := s.path(name)
		if code, _, errs := s.weir(append([]string{"init", dir, "--from", s.path(cmp.Or(c.domain, "gaps.yaml"))},
			c.flags...)...); code != exitDone {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
			continue
		}
		text := s.read(name + "/pipeline.yaml")
		for _, part := range append(c.has, "# yaml-language-server: $schema=pipeline.schema.json\n") {
			if !strings.Contains(text, part) {
				t.Errorf("%s: lacks %q:\n%s", name, part, text)
			}
		}
		for _, part := range c.lacks {
			if strings.Contains(text, part) {
				t.Errorf("%s: has %q:\n%s", name, part, text)
			}
		}
		if code, out, errs := s.weir("check", dir+"/pipeline.yaml"); code != exitDone {
			t.Errorf("%s: check: exit code %d: %s%s", name, code, out, errs)
		}
	}
	if code, _, errs := s.weir("init", s.path("shards"), "--from", s.path("gaps.yaml"), "--model", "pate_gan"); code !=
		exitUsage || !strings.Contains(errs, "--model: pate_gan cannot learn this table with its defaults: ") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestOfferedBudgetAdmits: with the budget that init offers set to the epsilon of a run, that run is admitted and a
// second one is not, whatever the epsilon.
func TestOfferedBudgetAdmits(t *testing.T) {
	s := newStudy(t, 300)
	for _, epsilon := range []string{"0.1", "1", "8"} {
		dir := s.path("at" + epsilon)
		s.weir("init", dir, "--from", s.path("domain.yaml"), "--data", s.path("data.csv"), "--rows-public", "300",
			"--epsilon", epsilon)
		spec, name := dir+"/pipeline.yaml", "at"+epsilon+"/pipeline.yaml"
		text := s.read(name)
		at := strings.Index(text, "  # budget: {epsilon: ")
		line, _, _ := strings.Cut(text[at:], "\n")
		s.write(name, strings.Replace(text, line, "  budget: {epsilon: "+epsilon+", delta: 1e-4, filter: gaussian}", 1))
		if !strings.HasSuffix(line, "delta: 1e-4, filter: gaussian}") {
			t.Errorf("offers %s", line)
		}
		if code, out, errs := s.weir("check", spec); code != exitDone {
			t.Errorf("epsilon %s: exit code %d: %s%s", epsilon, code, out, errs)
		}
		if code, _, _ := s.weir("check", spec, "--set", "privacy.epsilon="+fmt.Sprint(1.01*number(t, epsilon))); code !=
			exitPrivacy {
			t.Errorf("epsilon %s and a hundredth: exit code %d", epsilon, code)
		}
	}
}

func number(t *testing.T, text string) (x float64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &x); err != nil {
		t.Fatal(err)
	}
	return x
}
