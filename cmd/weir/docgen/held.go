package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weir/pipeline/spec"
)

// heldIn names what holds a rule, with the files where its number is reported and
// the files of its tests: looked up, so that the page follows code that moves.
func heldIn(r spec.AuditRule) (string, error) {
	var where []string
	add := func(what string, found []string) {
		if len(found) > 0 {
			where = append(where, what+"`"+strings.Join(found, "`, `")+"`")
		}
	}
	reported, err := filesWith(`"`+r.ID+`"`, false)
	if err != nil {
		return "", err
	}
	add("", reported)
	for _, name := range r.Tests {
		found, err := filesWith("\nfunc "+name+"(", true)
		if err != nil {
			return "", err
		}
		add(name+" in ", found)
	}
	if len(where) == 0 {
		return "", fmt.Errorf("audit rule %s: no file and no test holds it", r.ID)
	}
	held := string(r.Held)
	return held[:strings.IndexAny(held, ",:")] + ": " + strings.Join(where, "; "), nil
}

// filesWith lists the Go files of the project, tests or others, that hold a text;
// the table of rules itself, the record, which repeats what was reported, and the soak do not
// count.
func filesWith(text string, tests bool) (found []string, err error) {
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") != tests {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if strings.HasPrefix(name, "pipeline/spec/audit.go") || !tests && strings.HasPrefix(name, "record/") ||
			strings.HasPrefix(name, "internal/soak/") {
			return nil
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			found = append(found, name)
		}
		return err
	})
	slices.Sort(found)
	return found, err
}
