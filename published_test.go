package weir_test

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestNothingPublishedIsProven: the arithmetic of papers is in privacy/published,
// and no room that makes proven numbers, charges or noise may import it (W21). The
// stages may: they show a paper's number beside the proven one.
func TestNothingPublishedIsProven(t *testing.T) {
	seen := 0
	for _, path := range sources(t) {
		if !strings.HasPrefix(path, "privacy/") && !strings.HasPrefix(path, "train/") && !strings.HasPrefix(path, "runtime/") ||
			strings.HasPrefix(path, "privacy/published/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for _, spec := range f.Imports {
			if spec.Path.Value == `"weir/privacy/published"` {
				t.Errorf("%s imports privacy/published: a paper's number must not enter a proven one", path)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d files were read", seen)
	}
}
