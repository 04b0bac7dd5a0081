package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/pipeline/spec"
)

// rulesFolder holds the specs that show each rule, from the folder of the package stages.
const rulesFolder = "../testdata/rules"

// ruleExamples are the specs that show one rule: overrides of the base spec that it finds (bad) and that it does not
// find (good), or the names of specs for kinds that are made for tests.
type ruleExamples struct {
	Bad    []string `yaml:"bad"`
	Good   []string `yaml:"good"`
	Corpus *struct {
		Bad  string `yaml:"bad"`
		Good string `yaml:"good"`
	} `yaml:"corpus"`
}

// readExamples returns the base spec and the examples of all rules.
func readExamples(folder string) (base []byte, examples map[string]ruleExamples, err error) {
	base, err = os.ReadFile(filepath.Join(folder, "base.yaml"))
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(filepath.Join(folder, "rules.yaml"))
	if err != nil {
		return nil, nil, err
	}
	return base, examples, yaml.Unmarshal(text, &examples)
}

const examplesHead = `
## A spec that each rule finds, and one that it does not

A line is settings of this spec, as by --set; a name in italics is a spec of pipeline/compile/testdata, for kinds that
are made for tests. Rules that are held by design or by a run have none: no spec shows them, and the tests above do.

`

// examplesTable words the specs that show each rule.
func examplesTable() (string, error) {
	base, examples, err := readExamples(rulesFolder)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s```yaml\n%s```\n\n| id | found | not found |\n| --- | --- | --- |\n", examplesHead, base)
	for _, r := range spec.AuditRules() {
		if e, ok := examples[r.ID]; ok {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.ID, e.cell(e.Bad, "bad"), e.cell(e.Good, "good"))
		}
	}
	return b.String(), nil
}

// cell words the overrides of an example, or names its spec.
func (e ruleExamples) cell(set []string, folder string) string {
	if e.Corpus != nil {
		return "*" + folder + "/" + map[string]string{"bad": e.Corpus.Bad, "good": e.Corpus.Good}[folder] + "*"
	}
	if len(set) == 0 {
		return "the spec as it is"
	}
	var lines []string
	for _, s := range set {
		lines = append(lines, "`"+strings.ReplaceAll(s, "|", "\\|")+"`")
	}
	return strings.Join(lines, " ")
}
