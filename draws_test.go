package weir_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestEveryDrawIsListed: docs/design/secrets.md argues for each draw of the product that two runs may make
// it. Whatever draws names its purpose there, or its file or folder; each line names a test that is there.
func TestEveryDrawIsListed(t *testing.T) {
	page := read(t, "docs/design/secrets.md")
	table := page[strings.Index(page, "| draw |"):]
	byName := regexp.MustCompile(`\.(?:Rand|Secret|Stream)\("([^"]+)"`)
	created := regexp.MustCompile(`rand\.New\(|rand\.NewPCG\(|NewChaCha8\(|noise\.NewKey\(`)
	tests, purposes, places := map[string]bool{}, 0, 0
	for _, file := range tracked(t) {
		if !strings.HasSuffix(file, ".go") {
			continue
		}
		text := read(t, file)
		if strings.HasSuffix(file, "_test.go") {
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(text, -1) {
				tests[m[1]] = true
			}
			continue
		}
		if strings.HasPrefix(file, "internal/soak") || strings.HasPrefix(file, "pipeline/pipelinetest") ||
			strings.HasPrefix(file, "pipeline/neighbour") {
			continue // what tries the product: it counts draws, or makes its own
		}
		listed := strings.Contains(table, "`"+file+"`") || strings.HasPrefix(file, "stages/evaluate/") ||
			strings.HasPrefix(file, "stages/plots/")
		for _, m := range byName.FindAllStringSubmatch(text, -1) {
			if purposes++; !listed && !strings.Contains(table, "`"+m[1]+"`") {
				t.Errorf("%s: draws %q, which docs/design/secrets.md does not list", file, m[1])
			}
		}
		if created.MatchString(text) && path.Dir(file) != "privacy/noise" {
			if places++; !listed {
				t.Errorf("%s: makes a source of random numbers, which docs/design/secrets.md does not list", file)
			}
		}
	}
	for _, m := range regexp.MustCompile("`(Test\\w+)` \\|").FindAllStringSubmatch(table, -1) {
		if !tests[m[1]] {
			t.Errorf("docs/design/secrets.md: names %s, and there is no such test", m[1])
		}
	}
	if purposes < 30 || places < 8 {
		t.Errorf("%d draws and %d sources were found: the check has gone blind", purposes, places)
	}
}
