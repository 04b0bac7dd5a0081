package compile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/pipeline/spec"
)

// TestBadCorpus: each spec of testdata/bad is refused with exactly the diagnostics
// that its last lines list, in their order. Its first line says whether all are
// refusals of privacy, which have an exit code of their own.
func TestBadCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, want := split(t, file)
			_, err := compile(t, text)
			if err == nil || err.Error() != want {
				t.Fatalf("got\n%v\nmust be\n%s", err, want)
			}
			var ds spec.Diagnostics
			if class, _, _ := strings.Cut(text, "\n"); !errors.As(err, &ds) || ds.Privacy() != (class == "# privacy") {
				t.Errorf("%q, and the refusals are of privacy alone: %v", class, ds.Privacy())
			}
		})
	}
}

// TestGoodCorpus: each spec of testdata/good has exactly the findings listed.
func TestGoodCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, want := split(t, file)
			plan, err := compile(t, text)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, s := range plan.Steps {
				lines = append(lines, strings.TrimSpace(strings.Join([]string{s.ID, string(s.Class), s.Stability}, " ")))
			}
			for _, f := range plan.Findings {
				lines = append(lines, strings.TrimSuffix(f.Rule+" "+f.Stage+" "+f.Message+" because "+f.Acknowledged,
					" because "))
			}
			for _, f := range plan.Public {
				lines = append(lines, "public "+f.Stage+" "+f.Name+" by "+f.By)
			}
			if got := strings.Join(lines, "\n"); got != want {
				t.Errorf("got\n%s\nmust be\n%s", got, want)
			}
		})
	}
}

// split cuts a file into the spec and the lines after "# want".
func split(t *testing.T, file string) (text, want string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text, want, ok := strings.Cut(string(data), "# want\n")
	if !ok {
		t.Fatal("the file has no # want")
	}
	return text, strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(want, "# "), "\n"), "\n# ", "\n")
}

// TestOutlineFindsAllButNoise: what Compile refuses Outline refuses in the same words, but for the specs whose fault is
// in their noise, for which it has a plan without an epsilon.
func TestOutlineFindsAllButNoise(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var ofNoise []string
	for _, file := range files {
		text, want := split(t, file)
		s, err := parse(t, text)
		if err != nil {
			continue
		}
		plan, err := Outline(s)
		switch {
		case err == nil && plan.Epsilon.Proven == nil:
			ofNoise = append(ofNoise, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		case err == nil || err.Error() != want:
			t.Errorf("%s: got\n%v\nmust be\n%s", file, err, want)
		}
	}
	want := []string{"accountant-cannot", "budget-too-small", "budget-used-by-fixed", "published-over-budget"}
	if !slices.Equal(ofNoise, want) {
		t.Errorf("the outline lets %v pass, must let %v", ofNoise, want)
	}
}
