package weir_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentsPointAtWhatIsThere: nothing in the project points outside it or at
// a file that has moved. Links of pages, docs/ pages that code or pages cite, and
// the files that the pages about the code name must exist.
func TestDocumentsPointAtWhatIsThere(t *testing.T) {
	files := tracked(t)
	there := paths(files)
	links, cited, byName := 0, 0, 0
	for _, file := range files {
		if !strings.HasSuffix(file, ".md") && !strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, ".yaml") ||
			file == "docs_test.go" {
			continue
		}
		text := read(t, file)
		if strings.HasSuffix(file, ".md") {
			links += report(t, file, "links to", deadLinks(file, text, there))
			byName += report(t, file, "names", deadFiles(text, there))
		}
		cited += report(t, file, "cites", deadPages(text, there))
		report(t, file, "points outside the project:", outside(text))
	}
	if links < 40 || cited < 40 || byName < 40 {
		t.Errorf("%d links, %d cited pages and %d named files were read: the check has gone blind", links, cited, byName)
	}
}

// found is how many things a check looked at, and which of them are not there.
type found struct {
	seen int
	dead []string
}

func report(t *testing.T, file, how string, f found) int {
	t.Helper()
	for _, name := range f.dead {
		t.Errorf("%s: %s %s, which is not there", file, how, name)
	}
	return f.seen
}

// deadLinks checks the targets of [text](target): files, and headings of pages.
func deadLinks(file, text string, there map[string]bool) (f found) {
	for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(withoutCode(text), -1) {
		target, heading, _ := strings.Cut(m[1], "#")
		if strings.Contains(target, "://") {
			continue
		}
		f.seen++
		newName := file
		if target != "" {
			newName = path.Join(path.Dir(file), target)
		}
		if !there[newName] || heading != "" && !headings(newName)[heading] {
			f.dead = append(f.dead, m[1])
		}
	}
	return f
}

// headings lists the anchors of a page as GitHub makes them; none where it cannot be read.
func headings(page string) map[string]bool {
	all := map[string]bool{}
	text, _ := os.ReadFile(page)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		words := regexp.MustCompile("[^a-z0-9_ -]").ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(words, " ", "-")] = true
	}
	return all
}

// deadPages checks paths under docs/ and testdata/golden/, in comments and in prose.
func deadPages(text string, there map[string]bool) (f found) {
	for _, m := range regexp.MustCompile(`(^|[^\w/.-])((?:docs|testdata/golden)/[\w./-]*\w)`).FindAllStringSubmatch(text,
		-1) {
		f.seen++
		if !there[m[2]] {
			f.dead = append(f.dead, m[2])
		}
	}
	return f
}

// deadFiles checks the Go files and folders that a page names: `runtime/run.go`,
// or `run.go` where some file is called so, or `stages/model/`. A folder outside
// the rooms, such as `release/`, is one of a run.
func deadFiles(text string, there map[string]bool) (f found) {
	for _, m := range regexp.MustCompile("`([\\w./-]+(?:\\.go|\\.s|/))`").FindAllStringSubmatch(withoutFences(text), -1) {
		room, _, _ := strings.Cut(m[1], "/")
		if strings.HasSuffix(m[1], "/") && !there[room] {
			continue
		}
		f.seen++
		if !there[strings.TrimSuffix(m[1], "/")] && !there["*/"+m[1]] {
			f.dead = append(f.dead, m[1])
		}
	}
	return f
}

// outside finds the folder that once lay beside the project.
func outside(text string) found {
	return found{dead: regexp.MustCompile(`\.\./shared|\bshared/(?:golden|data|[A-Z]+)`).FindAllString(text, -1)}
}

func withoutFences(text string) string {
	return regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
}

func withoutCode(text string) string {
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(withoutFences(text), "")
}

// paths returns the files, their folders, and "*/name" for each name of a file.
func paths(files []string) map[string]bool {
	all := map[string]bool{".": true}
	for _, f := range files {
		all["*/"+path.Base(f)] = true
		for ; f != "."; f = path.Dir(f) {
			all[f] = true
		}
	}
	return all
}

// tracked lists the files of the project: the files that git tracks, or all files of the folder where
// there is no git (a module cache, an archive).
func tracked(t *testing.T) []string {
	t.Helper()
	if out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output(); err == nil {
		var there []string
		for _, f := range strings.Fields(string(out)) {
			if _, err := os.Stat(f); err == nil {
				there = append(there, f)
			}
		}
		return there
	}
	var all []string
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentCheckSees shows that each check can fail.
func TestDocumentCheckSees(t *testing.T) {
	there := paths([]string{"docs/spec.md", "runtime/run.go"})
	for name, f := range map[string]found{
		"a dead link":           deadLinks("docs/spec.md", "[a](gone.md)", there),
		"a link to no heading":  deadLinks("docs/spec.md", "[a](#no-such-heading)", there),
		"a page that has moved": deadPages("// see docs/gone.md section 1", there),
		"a file that has moved": deadFiles("`runtime/gone.go` does it", there),
		"a name of no file":     deadFiles("`gone.go` does it", there),
		"a folder that is gone": deadFiles("`runtime/gone/` does it", there),
		"the folder beside":     outside("see ../shared/golden"),
		"a page of that folder": outside("see shared/KERNELS.md"),
	} {
		if len(f.dead) != 1 {
			t.Errorf("%s: %v found, must be one", name, f.dead)
		}
	}
	if f := deadFiles("`runtime/run.go`, `run.go`, `runtime/`", there); f.seen != 3 || len(f.dead) > 0 {
		t.Errorf("%v are there, must not be reported", f)
	}
}
