package disk

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Staged reports whether "git add -A" would stage the file at path: a folder above it is a work tree, and no .gitignore
// up to there, nor the work tree's own list of what is excluded, names the file. It reads plain patterns only, so that
// it may take a file for staged that is not.
func Staged(path string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return true
	}
	var below []string
	for at := path; ; {
		dir, base := filepath.Split(at)
		dir = filepath.Clean(dir)
		below = append([]string{base}, below...)
		if ignores(filepath.Join(dir, ".gitignore"), below) {
			return false
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return !ignores(filepath.Join(dir, ".git", "info", "exclude"), below)
		}
		if filepath.Dir(dir) == dir {
			return false
		}
		at = dir
	}
}

// Ignored reports whether the .gitignore in the folder of a file names it, in a work tree or not.
func Ignored(path string) bool {
	return ignores(filepath.Join(filepath.Dir(path), ".gitignore"), []string{filepath.Base(path)})
}

// ignores reports whether a line of a .gitignore names one of the segments below its folder, or their whole.
func ignores(file string, below []string) bool {
	text, err := ReadFile(file, 0)
	if err != nil {
		return false
	}
	for _, line := range strings.Split(string(text), "\n") {
		pattern := strings.Trim(strings.TrimSpace(line), "/")
		if pattern == "" || pattern[0] == '#' || pattern[0] == '!' {
			continue
		}
		for _, name := range append(below[:len(below):len(below)], strings.Join(below, "/")) {
			if is, err := path.Match(pattern, name); err == nil && is {
				return true
			}
		}
	}
	return false
}
