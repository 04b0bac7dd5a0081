package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

// TestVersionNamesEveryKind: weir version names every kind of the registry with its version.
func TestVersionNamesEveryKind(t *testing.T) {
	code, out, errs := command("version", "--json")
	var v version
	if err := json.Unmarshal([]byte(out), &v); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	reg, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Kinds) != len(reg.Names()) || v.Go == "" || v.Weir == "" || v.Revision == "" {
		t.Errorf("%d kinds, must be %d; %s", len(v.Kinds), len(reg.Names()), out)
	}
	_, text, _ := command("version")
	for _, name := range reg.Names() {
		if v.Kinds[name] != reg.Kind(name).Version || !strings.Contains(text, " "+name+" ") {
			t.Errorf("%s: version %d, must be %d and stand in %q", name, v.Kinds[name], reg.Kind(name).Version, text)
		}
	}
}

// command runs a command line in this process.
func command(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = execute(context.Background(), streams{in: strings.NewReader(""), out: &o, err: &e, build: ownBuild}, args)
	return code, o.String(), e.String()
}

// TestExplain: weir explain prints what holds a rule, and refuses what is not one.
func TestExplain(t *testing.T) {
	for line, want := range map[string]string{"explain w22": "by weir check", "explain W27": "TestLatticeAttack",
		"check --explain W27": "TestLatticeAttack", "explain W22 --json": `"held": "by weir check`,
		"explain W25": "advice     no program sees that a row", "explain W18": "error; a warning under claims: published",
		"explain": "W46   note     check", "explain --json": `"id": "W46"`} {
		if code, out, errs := command(strings.Fields(line)...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %s%s, must say %s", line, code, out, errs, want)
		}
	}
	if code, _, errs := command("explain", "W99"); code != exitUsage || !strings.Contains(errs, "W46") {
		t.Errorf("exit %d, %s, must be %d and name the rules", code, errs, exitUsage)
	}
}

// TestVersionOfABuild: builds say their version as the go command stamps them (go help buildvcs; pseudo-versions are
// described at go.dev/ref/mod#pseudo-versions), and a tag alone is a version without "next".
func TestVersionOfABuild(t *testing.T) {
	commit := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: "86ac6591d2c1f0e4a5b6"},
			{Key: "vcs.modified", Value: modified}}
	}
	for _, c := range []struct {
		stamped, want string
		settings      []debug.BuildSetting
	}{
		{"v0.1.0", "0.1.0", commit("false")},
		{"v0.1.0", "0.1.0", nil}, // from the module cache
		{"v0.2.0-rc.1", "0.2.0-rc.1", commit("false")},
		{"v0.1.0+dirty", "0.1.0+dirty", commit("true")},
		{"v0.0.0-20261128030000-86ac6591d2c1", "0.1.0-next+86ac6591d2c1", commit("false")},
		{"v0.1.1-0.20261128030000-86ac6591d2c1+dirty", "0.1.0-next+86ac6591d2c1.dirty", commit("true")},
		{"(devel)", "0.1.0-next", nil},
		{"", "0.1.0-next", nil},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.stamped}, Settings: c.settings}
		got := versionOf(info)
		if got != c.want || !semver.IsValid("v"+got) {
			t.Errorf("%s: version %s, must be %s", c.stamped, got, c.want)
		}
	}
}

// TestNextVersionIsTheHeadOfTheChangelog, which a release dates, and the version of packages that are built between two
// releases, which go by the first 12 digits of the commit as the program does.
func TestNextVersionIsTheHeadOfTheChangelog(t *testing.T) {
	for file, found := range map[string]struct {
		head *regexp.Regexp
		want string
	}{
		"CHANGELOG.md": {regexp.MustCompile(`(?m)^## \[([^]]*)\]`), nextVersion},
		".goreleaser.yaml": {regexp.MustCompile(`(?m)^snapshot:\n  version_template: "(.*)"$`),
			nextVersion + "-next+{{ slice .FullCommit 0 12 }}"},
	} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if m := found.head.FindSubmatch(text); m == nil || string(m[1]) != found.want {
			t.Errorf("%s has the version %q, must have %s", file, m, found.want)
		}
	}
}

// TestCommit: the revision says whether files had been changed since the commit.
func TestCommit(t *testing.T) {
	for want, settings := range map[string][]debug.BuildSetting{
		"unknown":          nil,
		"0a1":              {{Key: "vcs.revision", Value: "0a1"}, {Key: "vcs.modified", Value: "false"}},
		"0a1 with changes": {{Key: "vcs.revision", Value: "0a1"}, {Key: "vcs.modified", Value: "true"}},
	} {
		if got := commit(&debug.BuildInfo{Settings: settings}); got != want {
			t.Errorf("%q, must be %q", got, want)
		}
	}
}
