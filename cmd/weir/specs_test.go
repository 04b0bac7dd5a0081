package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/pipeline/show"
	"weir/specs"
)

var update = flag.Bool("update", false, "rewrite the golden plans")

// TestSpecsKeepTheirBills: an embedded experiment plans as it did when its
// golden plan was written (by this program; the epsilons in it are held against
// reference libraries by the tests of privacy/). A change is deliberate: -update.
func TestSpecsKeepTheirBills(t *testing.T) {
	for _, name := range specs.Names() {
		t.Run(name, func(t *testing.T) {
			plan, err := (&specFlags{}).compile("specs:" + name)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("..", "..", "specs", "testdata", name+".plan.txt")
			if *update {
				if err := os.WriteFile(golden, []byte(show.Text(plan.Plan)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), show.Text(plan.Plan)); diff != "" {
				t.Errorf("the plan has changed (-golden +now):\n%s", diff)
			}
		})
	}
}

// TestSpecsSayTheirFiles: the head of an embedded experiment has the command that names
// each file which it reads, and where the public one is to be had.
func TestSpecsSayTheirFiles(t *testing.T) {
	file := regexp.MustCompile(`(?m)^  (  )?file: (\S+)$`)
	for _, name := range specs.Names() {
		text, _ := specs.Read(name)
		head, body, _ := strings.Cut(string(text), "\nweir: 1\n")
		for _, found := range file.FindAllStringSubmatch(body, -1) {
			command := regexp.MustCompile(`(?m)^#   weir run specs:` + regexp.QuoteMeta(name) + ` .*\.file=/data/` + regexp.QuoteMeta(found[2]) + `( |$)`)
			if !command.MatchString(head) || !regexp.MustCompile(`doi:10\.|Kaggle`).MatchString(head) {
				t.Errorf("%s: its head does not say how %s is named, or where to get it", name, found[2])
			}
		}
	}
}

// TestExamplesCompile without the data that they read.
func TestExamplesCompile(t *testing.T) {
	found, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	compiled := 0
	for _, path := range append(found, "template/pipeline.yaml") {
		if filepath.Ext(filepath.Base(path[:len(path)-len(".yaml")])) == ".domain" || filepath.Base(path) == "domain.yaml" {
			continue
		}
		compiled++
		if _, err := (&specFlags{}).compile(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if compiled < 4 {
		t.Errorf("%d examples were compiled, must be at least 4", compiled)
	}
}
