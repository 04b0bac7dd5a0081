package runtime

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/runtime/dataset"
	"weir/runtime/payment"
)

// TestPublicFilesAreNotPrivateTables: whatever name the dataset goes by, and any
// other table of which weir keeps a ledger.
func TestPublicFilesAreNotPrivateTables(t *testing.T) {
	for name, c := range map[string]struct {
		file, want string
		public     bool
		make       func(dir string) error
	}{
		"by name":          {"data.csv", "which is the dataset", true, nil},
		"by a longer name": {"./sub/../data.csv", "which is the dataset", true, nil},
		"by symlink": {"b.csv", "which is the dataset", true,
			func(d string) error { return os.Symlink("data.csv", filepath.Join(d, "b.csv")) }},
		"by hard link": {"b.csv", "which is the dataset", true,
			func(d string) error { return os.Link(filepath.Join(d, "data.csv"), filepath.Join(d, "b.csv")) }},
		"by a linked folder": {"sub/data.csv", "which is the dataset", true,
			func(d string) error { return os.Symlink(".", filepath.Join(d, "sub")) }},
		"where it is not yet": {"./data.csv", "which is the dataset", true,
			func(d string) error { return os.Remove(filepath.Join(d, "data.csv")) }},
		"with a ledger":           {"o.csv", "o.csv.weir-ledger.jsonl", true, touch("o.csv", "o.csv"+dataset.LedgerSuffix)},
		"with a test ledger":      {"o.csv", "NOT-PRIVATE", true, touch("o.csv", "o.csv"+payment.TestLedgerSuffix)},
		"with an owner":           {"o.csv", "o.csv.weir-owner.json", true, touch("o.csv", "o.csv"+dataset.OwnerSuffix)},
		"a link to one with both": {"l.csv", "o.csv.weir", true, linked},
		"a public table":          {"o.csv", "", true, touch("o.csv")},
		"an absent table":         {"o.csv", "", true, nil},
		"the dataset, as private": {"data.csv", "", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()

			for _, f := range []func(string) error{touch("data.csv"), c.make} {
				if f == nil {
					continue
				}
				if err := f(dir); err != nil {
					t.Fatal(err)
				}
			}
			err := CheckPublicFiles(planReading(c.file, c.public), heldIn(t, dir).Folder)
			if c.want == "" {
				if err != nil {
					t.Errorf("is refused: %v", err)
				}
				return
			}
			var refused spec.Diagnostics
			if !errors.As(err, &refused) || !refused.Privacy() || refused[0].Rule != "W13" ||
				refused[0].Path != "stages.reference.file" || refused[0].Stage != "reference" {
				t.Fatalf("%v: must be a refusal of privacy at stages.reference.file", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: must say %q", err, c.want)
			}
		})
	}
}

// TestPartsAreNotPublic: a file that the dataset's pattern matches, by whatever name.
func TestPartsAreNotPublic(t *testing.T) {
	dir := t.TempDir()
	err := errors.Join(os.Mkdir(filepath.Join(dir, "months"), 0o700), touch("months/p-1.csv", "p-1.csv")(dir),
		os.Symlink("months/p-1.csv", filepath.Join(dir, "link.csv")), os.Symlink("months", filepath.Join(dir, "again")))
	if err != nil {
		t.Fatal(err)
	}
	for file, private := range map[string]bool{"months/p-1.csv": true, "months/p-2.csv": true,
		"./months/../months/p-1.csv": true,
		"link.csv":                   true, "again/p-1.csv": true, "months/p-*.csv": true, "p-1.csv": false,
		"months/q-1.csv": false} {
		plan := planReading(file, true)
		plan.Spec.Dataset.Declared.Files = []string{"months/p-*.csv"}
		if err := CheckPublicFiles(plan, heldIn(t, dir).Folder); (err != nil) != private {
			t.Errorf("%s: %v, must be private: %v", file, err, private)
		}
	}
}

func planReading(file string, public bool) *compile.Plan {
	work := pipeline.Work{Files: []pipeline.FileUse{{Path: file, Public: public}}}
	return &compile.Plan{Spec: &spec.Spec{Dataset: spec.Dataset{Declared: pipeline.Declared{Files: []string{"data.csv"}}}},
		Steps: []compile.Step{{Step: &pipeline.Step{ID: "reference"}, Work: work}}}
}

func touch(names ...string) func(string) error {
	return func(dir string) error {
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				return err
			}
		}
		return nil
	}
}

func linked(dir string) error {
	return errors.Join(touch("o.csv", "o.csv"+dataset.OwnerSuffix)(dir), os.Symlink("o.csv", filepath.Join(dir, "l.csv")))
}
