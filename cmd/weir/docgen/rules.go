package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// heldIn names what holds a rule, with the files where its number is reported and
// the files of its tests: looked up, so that the page follows code that moves.
func heldIn(r spec.AuditRule) (string, error) {
	var where []string
	add := func(what string, found []string) {
		if len(found) > 0 {
			where = append(where, what+"`"+strings.Join(found, "`, `")+"`")
		}
	}
	reported, err := filesWith(`"`+r.ID+`"`, false)
	if err != nil {
		return "", err
	}
	add("", reported)
	for _, name := range r.Tests {
		found, err := filesWith("\nfunc "+name+"(", true)
		if err != nil {
			return "", err
		}
		add(name+" in ", found)
	}
	if len(where) == 0 {
		return "", fmt.Errorf("audit rule %s: no file and no test holds it", r.ID)
	}
	held := string(r.Held)
	return held[:strings.IndexAny(held, ",:")] + ": " + strings.Join(where, "; "), nil
}

// filesWith lists the Go files of the project, tests or others, that hold a text;
// the table of rules itself, the record, which repeats what was reported, and the soak do not
// count.
func filesWith(text string, tests bool) (found []string, err error) {
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") != tests {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if strings.HasPrefix(name, "pipeline/spec/audit.go") || !tests && strings.HasPrefix(name, "record/") ||
			strings.HasPrefix(name, "internal/soak/") {
			return nil
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			found = append(found, name)
		}
		return err
	})
	slices.Sort(found)
	return found, err
}
