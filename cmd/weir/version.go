package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"weir/runtime/store"
)

// version is what `weir version` prints. Every record keeps Weir and, in its plan,
// the versions of the kinds that ran.
type version struct {
	Weir     string         `json:"weir"`
	Revision string         `json:"revision"` // the commit, marked where files had been changed; "unknown" where nobody knows
	Go       string         `json:"go"`
	OS       string         `json:"os"`
	Arch     string         `json:"arch"`
	Kinds    map[string]int `json:"kinds"` // raised when results change for equal settings
}

func versionCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of weir, of the compiler and of every kind",
		Long:    "Print the versions of weir, of the compiler and of every kind.\n\nExit codes: 0 done; 2 usage.",
		Example: "  weir version\n  weir version --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			v, err := versionOfKinds()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, v)
			}
			_, err = fmt.Fprintf(s.out, "weir %s (%s, %s/%s)\nrevision %s\nkinds%s\n", v.Weir, v.Go, v.OS, v.Arch, v.Revision,
				v.kinds())
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func versionOfKinds() (version, error) {
	v := thisVersion()
	reg, err := registry()
	if err != nil {
		return v, err
	}
	v.Kinds = map[string]int{}
	for _, name := range reg.Names() {
		v.Kinds[name] = reg.Kind(name).Version
	}
	return v, nil
}

// kinds lists kinds and their versions, four to a line.
func (v version) kinds() string {
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(v.Kinds)) {
		b.WriteString([]string{"\n  ", ", ", ", ", ", "}[i%4])
		fmt.Fprintf(&b, "%s %d", name, v.Kinds[name])
	}
	return b.String()
}

func thisVersion() version {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return version{Weir: versionOf(info), Revision: commit(info), Go: runtime.Version(), OS: runtime.GOOS,
		Arch: runtime.GOARCH}
}

// commit returns the commit that the program was built from, and whether files had
// been changed since.
func commit(info *debug.BuildInfo) string {
	path := cmp.Or(settingsOf(info)["vcs.revision"], "unknown")
	if path != "unknown" && cleanCommit(info) == "" {
		path += " with changes"
	}
	return path
}

func settingsOf(info *debug.BuildInfo) map[string]string {
	byName := map[string]string{}
	for _, s := range info.Settings {
		byName[s.Key] = s.Value
	}
	return byName
}

// build tells builds of the program apart: an interrupted run is continued by the
// same one only, since another may compute other values with the same noise. It is
// the commit and the compiler of a clean checkout, else the digest of the program
// itself; "" where it cannot read itself, and then nothing is continued.
func build() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if at := cleanCommit(info); at != "" {
			return at + " " + info.GoVersion
		}
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	digest, _, err := store.DigestFile(path)
	if err != nil {
		return ""
	}
	return digest
}

// cleanCommit returns the commit that the program was built from, "" where files had
// been changed or nobody knows.
func cleanCommit(info *debug.BuildInfo) string {
	byName := settingsOf(info)
	if byName["vcs.modified"] != "false" {
		return ""
	}
	return byName["vcs.revision"]
}

// nextVersion is the version that the tree is on its way to: the head of CHANGELOG.md.
const nextVersion = "0.1.0"

// versionOf returns the version of a build: its tag without the v, which the go command
// stamps into a build of a tagged commit, else the version that comes next and the commit.
// A part "dirty" says that files had been changed.
func versionOf(info *debug.BuildInfo) string {
	tag := info.Main.Version
	if semver.IsValid(tag) && !module.IsPseudoVersion(tag) {
		return strings.TrimPrefix(tag, "v")
	}
	next, revision := nextVersion+"-next", settingsOf(info)["vcs.revision"]
	if revision == "" {
		return next
	}
	next += "+" + revision[:min(12, len(revision))]
	if cleanCommit(info) == "" {
		next += ".dirty"
	}
	return next
}

// printJSON writes v as one indented JSON object.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
