package stages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"weir/pipeline"
)

// TestEveryKindConforms: the folder of each kind that a program knows runs the
// conformance suite over its list, pipelinetest.CheckKinds(t, Kinds(), ...), which
// fails where a kind has no case. So a new kind adds a line to the cases of its
// folder, and a new folder adds one test, or the build is red here.
func TestEveryKindConforms(t *testing.T) {
	r, err := pipeline.NewRegistry(Kinds())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range r.Names() {
		folder := folderOf(r.Kind(name))
		if !suiteIn(t, folder) {
			t.Errorf("kind %s: no test in %s calls pipelinetest.CheckKinds with Kinds()", name, folder)
		}
	}
}

// folderOf returns where the settings of a kind are declared, seen from here.
func folderOf(k *pipeline.Kind) string {
	path := reflect.TypeOf(k.New()).Elem().PkgPath()
	return strings.TrimPrefix(path, "weir/stages/")
}

// suiteIn reports whether a test of a folder runs the suite over all of its kinds.
func suiteIn(t *testing.T, folder string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if runsSuite(t, string(source)) {
			return true
		}
	}
	return false
}

// runsSuite looks for the call in a test of a file.
func runsSuite(t *testing.T, source string) (found bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "source_test.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if test, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(test.Name.Name, "Test") {
			ast.Inspect(test, func(n ast.Node) bool {
				found = found || isSuite(n)
				return !found
			})
		}
	}
	return found
}

func isSuite(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 3 {
		return false
	}
	called, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || called.Sel.Name != "CheckKinds" {
		return false
	}
	list, ok := call.Args[1].(*ast.CallExpr)
	if !ok {
		return false
	}
	kinds, ok := list.Fun.(*ast.Ident)
	return ok && kinds.Name == "Kinds"
}

// TestMissingSuiteIsFound: a call with fewer kinds, one that no test makes, or none
// does not count.
func TestMissingSuiteIsFound(t *testing.T) {
	const head = "package p\n"
	for source, want := range map[string]bool{
		"func TestConformance(t *testing.T) { pipelinetest.CheckKinds(t, Kinds(), cases(t)) }":     true,
		"func TestConformance(t *testing.T) { pipelinetest.CheckKinds(t, Kinds()[:1], cases(t)) }": false,
		"func TestConformance(t *testing.T) { pipelinetest.Check(t, Kinds(), cases(t)) }":          false,
		"func conformance(t *testing.T) { pipelinetest.CheckKinds(t, Kinds(), cases(t)) }":         false,
		"": false,
	} {
		if got := runsSuite(t, head+source); got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
	if suiteIn(t, "nowhere") {
		t.Error("a folder without tests counts")
	}
}
