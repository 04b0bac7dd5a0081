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

// elsewhere ends the name by which a table that lies in no file is known on this machine.
const elsewhere = ".database"

// Elsewhere returns the path that stands for a table which lies in no file, such as one of a database.
func Elsewhere(name string) string { return name + elsewhere }

// IsElsewhere reports whether a path stands for a table that lies in no file.
func IsElsewhere(name string) bool { return strings.HasSuffix(name, elsewhere) }

// Stem returns the path by whose name the owner file and the ledger of a table are called: the file itself, of a
// pattern its text with _ for each run of * and ?, and the bare name of a table that lies in no file. It depends on no
// file, so that one which arrives moves no ledger.
func Stem(name string) string {
	name = strings.TrimSuffix(name, elsewhere)
	if !IsPattern(name) {
		return name
	}
	dir, base := filepath.Split(name)
	return dir + regexp.MustCompile(`[*?]+`).ReplaceAllString(base, "_")
}
