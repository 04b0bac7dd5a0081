package weir_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributingCompiles: the three kinds, the source and the format of CONTRIBUTING.md compile in the folders
// that it puts them in, so that the page follows the code that it calls.
func TestContributingCompiles(t *testing.T) {
	page := read(t, "CONTRIBUTING.md")
	prep, paid, ok := strings.Cut(page, "## A paid kind, step by step")
	if !ok {
		t.Fatal("CONTRIBUTING.md has no section on a paid kind")
	}
	compiles(t, "stages/prep", blocks(prep, "package prep"))
	compiles(t, "stages/evaluate/missing", blocks(prep, "// Package missing"))
	compiles(t, "runtime/source", blocks(prep, "package source"))
	compiles(t, "runtime/table", formatPrelude+blocks(prep, "// ndjsonFormat"))
	compiles(t, "stages/model/floor", paidPrelude+blocks(paid, "// Independent", "// Plan", "// countCategories", "func independentKind", "const marginalsFormat"))
}

// formatPrelude is what the page leaves out of the format.
const formatPrelude = `package table

import (
	"context"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
)

type ndjsonRows struct {
	recordSource
	schema *arrow.Schema
	layout layout
}

func newRows(*stream, int) *ndjsonRows { return nil }

func (*ndjsonRows) names() ([]string, error) { return nil, nil }

var _ Format = ndjsonFormat{}

`

// paidPrelude is what the page leaves out of the paid kind.
const paidPrelude = `package floor

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/model/artifact"
)

func drawColumn(*rand.Rand, int, []int64, bool) arrow.Array { return nil }

`

// blocks joins the fenced Go blocks of a text that begin with one of these words.
func blocks(text string, words ...string) string {
	var all []string
	for _, m := range regexp.MustCompile("(?s)\n```go\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
		for _, w := range words {
			if strings.HasPrefix(m[1], w) {
				all = append(all, m[1])
			}
		}
	}
	return strings.Join(all, "\n\n")
}

// compiles builds a folder with one file more, which is never written to it.
func compiles(t *testing.T, folder, source string) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	file, overlay := filepath.Join(t.TempDir(), "kind.go"), filepath.Join(t.TempDir(), "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, folder, "kindofcontributing.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{file: []byte(source), overlay: replace} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "./"+folder).CombinedOutput(); err != nil {
		t.Errorf("the kind that CONTRIBUTING.md puts into %s does not compile: %s", folder, out)
	}
}
