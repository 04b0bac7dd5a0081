package stattest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestEveryFileIsThere: the files that METRICS.md and README.md name are in the
// repository, so that a clone with no neighbour folder tests against all of them.
func TestEveryFileIsThere(t *testing.T) {
	t.Setenv("WEIR_GOLDEN", "")
	seen := 0
	for _, index := range []string{"METRICS.md", "README.md"} {
		text, err := os.ReadFile(filepath.Join(GoldenDir(t), index))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`(?:tables/)?[a-zA-Z0-9_]+\.(?:json|csv)`).FindAllString(string(text), -1) {
			seen++
			if !exists(GoldenDir(t), name) && !exists(GoldenDir(t), filepath.Join("tables", name)) {
				t.Errorf("%s names %s, which is not there", index, name)
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d names were read", seen)
	}
}

func exists(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// TestAbsentFails: a folder that is not there is an error, which GoldenDir makes fatal.
func TestAbsentFails(t *testing.T) {
	t.Setenv("WEIR_GOLDEN", filepath.Join(t.TempDir(), "absent"))
	if dir, err := findGolden(); err == nil {
		t.Errorf("found %s, must be an error", dir)
	}
}
