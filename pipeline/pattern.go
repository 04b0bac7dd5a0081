package pipeline

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// IsPattern reports whether a path names several files: in its last part * stands for any characters, ? for one.
func IsPattern(name string) bool { return strings.ContainsAny(filepath.Base(name), patternSigns) }

const patternSigns = "*?"

// Matches reports whether the last part of a pattern matches the name of a file in its folder. As in a shell, a leading
// point has to be written; files that weir keeps beside tables (.weir- in the name) are never parts of one.
func Matches(pattern, name string) bool {
	pattern = filepath.Base(pattern)
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") || strings.Contains(name, ".weir-") {
		return false
	}
	// path.Match knows classes and escapes too, which a pattern has none of.
	is, err := path.Match(strings.NewReplacer(`\`, `\\`, `[`, `\[`).Replace(pattern), name)
	return is && err == nil
}

// Stem returns the path by whose name the owner file and the ledger of a table are called: the file itself, and of a
// pattern its text with _ for each run of * and ?. It depends on no file, so that one which arrives moves no ledger.
func Stem(name string) string {
	if !IsPattern(name) {
		return name
	}
	dir, base := filepath.Split(name)
	return dir + regexp.MustCompile(`[*?]+`).ReplaceAllString(base, "_")
}
