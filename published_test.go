package weir_test

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestNothingPublishedIsProven: the arithmetic of papers is in privacy/published,
// and only stages, which show a paper's number beside the proven one, and the program that
// lists them in docs/claims.md may import it (W21).
func TestNothingPublishedIsProven(t *testing.T) {
	seen := 0
	for _, path := range sources(t) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for _, spec := range f.Imports {
			if spec.Path.Value == `"weir/privacy/published"` && !mayPublish(path) {
				t.Errorf("%s imports privacy/published: a paper's number must not enter a proven one", path)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d files were read", seen)
	}
	if mayPublish("pipeline/bill/bill.go") || mayPublish("privacy/account/rdp.go") ||
		!mayPublish("stages/model/gan/gan.go") {
		t.Error("the rule is not the one of W21")
	}
}

func mayPublish(path string) bool {
	return strings.HasPrefix(path, "stages/") || strings.HasPrefix(path, "cmd/weir/docgen/")
}
