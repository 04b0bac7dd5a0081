package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rebase turns a path that --set gives from the current folder, as the shell
// completes it, into one from the spec's folder, where paths of a spec start. A
// path that does not lead to a file from the current folder stays as it is. places are the settings of sources that
// name files.
func rebase(set, dir string, places []string) string {
	path, value, ok := strings.Cut(set, "=")
	if !ok || !namesFile(path, places) || filepath.IsAbs(value) {
		return set
	}
	if info, err := os.Stat(value); err != nil || info.IsDir() {
		return set
	}
	from, err1 := filepath.Abs(dir)
	to, err2 := filepath.Abs(value)
	if err1 != nil || err2 != nil {
		return set
	}
	relative, err := filepath.Rel(from, to)
	if err != nil {
		return path + "=" + to
	}
	return path + "=" + relative
}

// namesFile reports whether a setting is the name of a file.
func namesFile(path string, places []string) bool {
	return slices.Contains(places, path) || path == "dataset.domain" || strings.HasPrefix(path, "stages.") && strings.HasSuffix(path, ".file")
}
