package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"
)

// TestListsWhatGoVersionLists: the document of weir lists the modules that `go version -m` lists, no more and no
// less, and is what SPDX calls valid.
func TestListsWhatGoVersionLists(t *testing.T) {
	weir := filepath.Join(t.TempDir(), "weir")
	run(t, "go", "build", "-C", "../..", "-buildvcs=true", "-o", weir, "./cmd/weir")
	path := weir + ".spdx.json"
	if err := write([]string{weir, path}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found, err := json.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(found); err != nil {
		t.Error(err)
	}
	if got, want := versions(found), listed(run(t, "go", "version", "-m", weir)); !reflect.DeepEqual(got, want) {
		t.Errorf("the document lists %v, must list %v", got, want)
	}
	if main := found.Packages[0]; main.PackageName != "weir" || main.PackageChecksums[0].Value != sum(t, weir) {
		t.Errorf("the first package is %+v, must be weir with the digest of its file", main)
	}
}

// listed returns the versions of modules in what `go version -m` prints, the compiler's as stdlib's.
func listed(text string) map[string]string {
	modules := map[string]string{}
	first, rest, _ := strings.Cut(text, "\n")
	modules["stdlib"] = strings.TrimPrefix(first[strings.LastIndex(first, " ")+1:], "go")
	for _, line := range strings.Split(rest, "\n") {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); fields[0] == "dep" || fields[0] == "mod" {
			modules[fields[1]] = fields[2]
		}
	}
	return modules
}

func versions(doc *v2_3.Document) map[string]string {
	modules := map[string]string{}
	for _, p := range doc.Packages {
		modules[p.PackageName] = p.PackageVersion
	}
	return modules
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

func sum(t *testing.T, path string) string {
	t.Helper()
	p, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	digest, _, _ := strings.Cut(run(t, "sha256sum", path), " ")
	if p.digest != digest {
		t.Errorf("%s: digest %s, must be %s", path, p.digest, digest)
	}
	return digest
}

// TestReplacedAndOddModules: a replaced module is listed as what replaces it, package URLs are escaped as
// https://github.com/package-url/purl-spec says, and elements stand in the relations that SPDX 2.3 has in clause 11.
func TestReplacedAndOddModules(t *testing.T) {
	p := program{name: "weir", digest: "ab", info: &debug.BuildInfo{GoVersion: "go1.26.8 X:arenas",
		Main: debug.Module{Path: "weir", Version: "v0.1.0"},
		Deps: []*debug.Module{
			{Path: "example.org/old", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/new", Version: "v1.1.0"}},
			{Path: "github.com/google/flatbuffers", Version: "v23.5.26+incompatible", Sum: "h1:x="},
		},
		Settings: []debug.BuildSetting{{Key: "vcs.time", Value: "2026-11-28T02:33:51Z"}}}}
	doc, err := p.document()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range doc.Packages {
		got = append(got, m.PackageExternalReferences[0].Locator)
	}
	want := []string{"pkg:golang/weir@v0.1.0", "pkg:golang/example.org/new@v1.1.0",
		"pkg:golang/github.com/google/flatbuffers@v23.5.26%2Bincompatible", "pkg:golang/stdlib@1.26.8"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, must be %v", got, want)
	}
	var related []string
	for _, r := range doc.Relationships {
		related = append(related, fmt.Sprintf("%s %s %s", r.RefA.ElementRefID, r.Relationship, r.RefB.ElementRefID))
	}
	wanted := []string{"DOCUMENT DESCRIBES Package-0", "Package-0 DEPENDS_ON Package-1", "Package-0 DEPENDS_ON Package-2",
		"Package-0 DEPENDS_ON Package-3"}
	if !reflect.DeepEqual(related, wanted) {
		t.Errorf("%q, must be %q", related, wanted)
	}
	if at := doc.CreationInfo.Created; at != "2026-11-28T02:33:51Z" {
		t.Errorf("created %s, must be when the commit was made", at)
	}
}

// TestRefusals: what is not a program, or does not name its commit, has no document.
func TestRefusals(t *testing.T) {
	if err := write(nil); err == nil || !strings.Contains(err.Error(), "must be given the paths") {
		t.Errorf("%v, must ask for a program", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := write([]string{text, text + ".json"})
	if err == nil || !strings.Contains(err.Error(), "not a program that Go built") {
		t.Errorf("%v, must say that this is not a program", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := write([]string{self, text + ".json"}); err == nil || !strings.Contains(err.Error(), "-buildvcs=true") {
		t.Errorf("%v, must say how to build a program that names its commit", err)
	}
}
