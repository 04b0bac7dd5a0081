// Package weir_test holds the policy of imports: which room may use which.
package weir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// allowed is the table of docs/design.md section 1: a room and the rooms of ours that
// it may import. Every room may import its own sub-folders, tests may import
// internal/ and the helpers beside an interface.
func allowed() map[string][]string {
	return map[string][]string{
		"schema":   {},
		"privacy":  {},
		"train":    {"privacy"},
		"pipeline": {"schema", "privacy"},
		"record":   {"privacy"},
		"stages":   {"pipeline", "train", "privacy", "schema", "record"},
		"runtime":  {"pipeline", "privacy", "record", "schema"},
		"specs":    {},
		"examples": {},
		"internal": {"schema", "privacy", "train", "pipeline", "record"},
		"cmd":      {"schema", "privacy", "train", "pipeline", "record", "stages", "runtime", "specs"},
	}
}

// forbidden lists standard packages that a room must not touch: files, clock
// and randomness have rooms of their own.
func forbidden() map[string][]string {
	return map[string][]string{
		"schema":   {"os", "math/rand", "math/rand/v2", "crypto/rand"},
		"pipeline": {"os", "crypto/rand"},
		"record":   {"os", "math/rand", "math/rand/v2", "crypto/rand"},
		"train":    {"os", "math/rand", "crypto/rand"},
		"stages":   {"os", "math/rand", "crypto/rand"},
		"privacy":  {"math/rand", "crypto/rand"},
	}
}

func TestImportsKeepToTheirRooms(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "runs") {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && strings.Contains(path, string(filepath.Separator)) {
			files++
			checkFile(t, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("only %d files were checked; is the test run from the root?", files)
	}
}

func checkFile(t *testing.T, path string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	test := strings.HasSuffix(path, "_test.go")
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		if why := violation(path, name, test); why != "" {
			t.Errorf("%s imports %s: %s", path, name, why)
		}
	}
}

// violation says why a file may not import a package, or "".
func violation(path, name string, test bool) string {
	room, _, _ := strings.Cut(path, "/")
	rooms, known := allowed()[room]
	if !known {
		return "the room " + room + " is not in the policy; a new room needs a reason in docs/design"
	}
	ours, inside := strings.CutPrefix(name, "weir/")
	if !inside {
		if !test && !exempt(path) && contains(forbidden()[room], name) {
			return "files, clock and randomness have rooms of their own"
		}
		return ""
	}
	target, _, _ := strings.Cut(ours, "/")
	if target == room || contains(rooms, target) || test && target == "internal" {
		return ""
	}
	return room + " may import " + strings.Join(rooms, ", ")
}

// exempt are the files that need what their room must not have, each with its
// reason in docs/design: programs that generate code, test helpers.
func exempt(path string) bool {
	return strings.Contains(path, "/gen/") || strings.HasSuffix(path, "test/check.go")
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// TestPolicyRejects shows that the check can fail.
func TestPolicyRejects(t *testing.T) {
	for _, c := range [][2]string{
		{"runtime/run.go", "weir/stages/prep"},
		{"pipeline/compile.go", "weir/runtime"},
		{"privacy/event.go", "weir/pipeline"},
		{"train/loop.go", "weir/pipeline"},
		{"stages/prep/encode.go", "os"},
		{"attic/old.go", "weir/schema"},
	} {
		if violation(c[0], c[1], false) == "" {
			t.Errorf("%s may import %s, must be refused", c[0], c[1])
		}
	}
}

// TestNoForeignData: no data of others is committed.
func TestNoForeignData(t *testing.T) {
	for _, pattern := range []string{"*.csv.gz", "*/*.csv.gz", "*/*/*.csv.gz", "*/*/*.data", "*/*/*.parquet"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if info, err := os.Stat(f); err == nil && info.Size() > 64<<10 {
				t.Errorf("%s: is a data file of %d bytes, must not be in the project", f, info.Size())
			}
		}
	}
}

// guarded says who may hand out noise: payers make sources and handles, which
// are those of a run and of tests; mechanisms say that they have released.
// Everyone else opens a planned mechanism.
func guarded() map[string][]string {
	payers, mechanisms := []string{"runtime/", "pipeline/pipelinetest/", "privacy/"}, []string{"privacy/", "train/"}
	return map[string][]string{"noise.NewSource": payers, "noise.NewKey": payers, "noise.ParseKey": payers,
		"privacy.Open": payers, "privacy.Release": mechanisms}
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
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar s = noise.NewSource(k, \"mine\")", 0)
	if err != nil || len(guardedCalls(f)) != 1 {
		t.Error("the check is blind")
	}
}

func guardedCalls(f *ast.File) []string {
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && guarded()[x.Name+"."+s.Sel.Name] != nil {
				found = append(found, x.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return found
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
