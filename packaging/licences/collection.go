package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// collection holds the texts of licences and who has them, in the order in which they came.
type collection struct {
	texts   []string
	holders map[string][]string // the files with a text, each as MODULE: PATH
}

// add adds the licences of a source; a source without any is an error.
func (c *collection) add(s source) error {
	files := os.DirFS(s.dir)
	paths, err := licencesIn(files)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		if paths = readMe(files); paths == nil {
			return fmt.Errorf("%s: has no file of a licence, and no README.md that names one", s.name)
		}
	}
	for _, p := range paths {
		text, err := fs.ReadFile(files, p)
		if err != nil {
			return err
		}
		c.take(strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")), s.name+": "+p)
	}
	return nil
}

func (c *collection) take(text, whose string) {
	if c.holders == nil {
		c.holders = map[string][]string{}
	}
	if c.holders[text] == nil {
		c.texts = append(c.texts, text)
	}
	c.holders[text] = append(c.holders[text], whose)
}

// text returns the collection as one file.
func (c *collection) text() []byte {
	var b bytes.Buffer
	b.WriteString("This program holds these works of others, each under the licence that follows.\n")
	for _, text := range c.texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 100), strings.Join(c.holders[text], "\n"), text)
	}
	return b.Bytes()
}

// isLicence reports whether a file of this name is a licence or goes with one, or a folder of this name holds such.
func isLicence(name string) bool {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "third_party_"), "un")
	for _, begins := range []string{"licens", "licenc", "copying", "notice", "patents"} {
		if strings.HasPrefix(name, begins) {
			return true
		}
	}
	return false
}

// licencesIn lists the licence files of a source, also below folders that it took from others. Of Go itself it leaves
// out tests and tools, which programs do not link.
func licencesIn(files fs.FS) (paths []string, err error) {
	err = fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || p == "test" || p == "pkg" || p == "src/cmd"):
			return fs.SkipDir
		case !d.IsDir() && !strings.HasSuffix(p, ".go") && (isLicence(d.Name()) || isLicence(path.Base(path.Dir(p)))):
			paths = append(paths, p)
		}
		return nil
	})
	return paths, err
}

// readMe returns the page that names a licence, for a source without a file of one.
func readMe(files fs.FS) []string {
	if text, err := fs.ReadFile(files, "README.md"); err == nil && bytes.Contains(bytes.ToLower(text), []byte("license")) {
		return []string{"README.md"}
	}
	return nil
}
