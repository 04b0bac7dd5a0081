package dataset

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// inGit reports whether "git add -A" would stage the file at name: a folder above
// it is a work tree, and no .gitignore up to there names the file. It reads the plain
// patterns only, and is for a note: weir does not edit what the user wrote.
func inGit(name string) bool {
	var below []string
	for at := name; ; {
		dir, base := filepath.Split(at)
		dir = filepath.Clean(dir)
		below = append([]string{base}, below...)
		if ignores(filepath.Join(dir, ".gitignore"), below) {
			return false
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if filepath.Dir(dir) == dir {
			return false
		}
		at = dir
	}
}

// ignores reports whether a line of a .gitignore names one of the segments below
// its folder, or their whole.
func ignores(file string, below []string) bool {
	text, err := os.ReadFile(file)
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
