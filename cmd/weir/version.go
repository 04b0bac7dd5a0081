package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"weir/runtime/store"
	"weir/train"
)

// version is what `weir version` prints and every record keeps.
type version struct {
	Weir string `json:"weir"`
	Go   string `json:"go"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
}

func versionCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of weir",
		Example: "  weir version\n  weir version --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			if asJSON {
				return printJSON(s.out, v)
			}
			_, err := fmt.Fprintf(s.out, "weir %s (%s, %s/%s)\n", v.Weir, v.Go, v.OS, v.Arch)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func thisVersion() version {
	v := version{Weir: "unversioned", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Weir = revision(info)
	}
	return v
}

// build tells builds of the program apart: an interrupted run is continued by the
// same one only, since another may compute other values with the same noise. It is
// the commit and the compiler of a clean checkout, else the digest of the program
// itself, and the arithmetic of the processor; "" where it cannot read itself, and then nothing is continued.
func build() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if at := cleanCommit(info); at != "" {
			return at + " " + info.GoVersion + " " + train.Arithmetic()
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
	return digest + " " + train.Arithmetic()
}

// cleanCommit is the commit that the program was built from, "" where files had
// been changed or nobody knows.
func cleanCommit(info *debug.BuildInfo) string {
	of := map[string]string{}
	for _, s := range info.Settings {
		of[s.Key] = s.Value
	}
	if of["vcs.modified"] != "false" {
		return ""
	}
	return of["vcs.revision"]
}

// revision is the module version, or the commit that the binary was built from.
func revision(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "devel"
}

// printJSON writes v as one indented JSON object.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
