package weir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	pathpkg "path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// guarded says who may hand out noise: payers make sources and handles, which
// belong to a run (runtime/payment, and no other part of runtime) and to tests;
// mechanisms say that they have released. Everyone else opens a planned mechanism.
// A dataset has a key of its own (runtime/dataset), from which only a payer makes a source.
// Only runtime/payment opens a ledger for charges; runtime/dataset opens those that it joins on the owner's word.
func guarded() map[string][]string {
	payers := []string{"runtime/payment/", "pipeline/pipelinetest/", "privacy/"}
	mechanisms := []string{"privacy/", "train/"}
	keys := append([]string{"runtime/dataset/"}, payers...)
	calls := map[string][]string{"noise.NewSource": payers, "noise.NewKey": keys, "noise.ParseKey": keys,
		"privacy.Open": payers, "privacy.Release": mechanisms,
		"ledger.Open": {"runtime/payment/", "runtime/dataset/"}, "ledger.View": {"runtime/payment/"},
		"payment.LoadKey": {"runtime/payment/", "cmd/"}, "payment.EarlierOf": {"runtime/payment/", "cmd/"}}
	// runtime/collect sees notes on payments, and no key
	for _, call := range []string{"Create", "CreateTemp", "OpenFile", "WriteFile", "Mkdir", "MkdirAll", "MkdirTemp",
		"Rename", "Remove",
		"RemoveAll", "Truncate", "Chmod", "Chtimes", "Link", "Symlink", "Open", "ReadFile"} {
		calls["os."+call] = writers()
	}
	return calls
}

// writers returns the rooms that may touch files by themselves. Runs and ledgers change them
// through internal/disk alone, so that what is torn, lost or doubled when a change fails is
// seen in a test, and open through it what may be a pipe. What makes releases of weir is not part of it.
func writers() []string {
	return []string{"internal/", "cmd/", "train/internal/kernel/gen/", "packaging/"}
}

// TestNoiseIsOpenedByPayersOnly: a stage that could make a source of its own
// could draw noise that nobody pays for, or the same twice.
func TestNoiseIsOpenedByPayersOnly(t *testing.T) {
	seen := 0
	for _, path := range sources(t) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for _, call := range guardedCalls(f) {
			if rooms := guarded()[call]; !within(path, rooms) {
				t.Errorf("%s uses %s, which only %s may", path, call, strings.Join(rooms, ", "))
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d files were read", seen)
	}
}

// TestGuardedCallsAreSeen in every form in which they can be written.
func TestGuardedCallsAreSeen(t *testing.T) {
	for _, source := range []string{
		"import \"weir/privacy/noise\"; var s = noise.NewSource(k, 1)",
		"import n \"weir/privacy/noise\"; var s = n.NewSource(k, 1)",
		"import . \"weir/privacy/noise\"; var s = NewSource(k, 1)",
		"import p \"weir/privacy\"; var h = p.Open(nil)",
		"import \"weir/privacy/noise\"; var s = (noise).NewSource",
		"import files \"os\"; var e = files.Rename(a, b)",
		"import \"weir/privacy/ledger\"; var l = ledger.Open(d, p, i, c)",
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+source, 0)
		if err != nil || len(guardedCalls(f)) == 0 {
			t.Errorf("%s: the check is blind (%v)", source, err)
		}
	}
}

// guardedCalls lists the guarded names that a file uses, whatever it calls their package.
func guardedCalls(f *ast.File) (found []string) {
	packages := map[string]string{}
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if base := pathpkg.Base(path); guardedPackage(path) {
			local := base
			if spec.Name != nil {
				local = spec.Name.Name
			}
			if local == "." {
				found = append(found, "a dot import of "+base)
			}
			packages[local] = base
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := ast.Unparen(s.X).(*ast.Ident); ok && guarded()[packages[x.Name]+"."+s.Sel.Name] != nil {
				found = append(found, packages[x.Name]+"."+s.Sel.Name)
			}
		}
		return true
	})
	return found
}

func guardedPackage(path string) bool {
	return path == "os" || path == "weir/privacy" || path == "weir/privacy/noise" || path == "weir/privacy/ledger" ||
		path == "weir/runtime/payment"
}

func within(path string, rooms []string) bool {
	for _, r := range rooms {
		if strings.HasPrefix(path, r) {
			return true
		}
	}
	return false
}

// sources lists the Go files of the project that are no tests.
func sources(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "runs") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			list = append(list, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
