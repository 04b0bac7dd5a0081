package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStaged: a file is staged unless git itself would pass over it (gitignore(5)): the last line that is about a file
// counts, the nearest .gitignore before others, a slash at the end means folders, one elsewhere the folder of the list.
func TestStaged(t *testing.T) {
	for _, c := range []struct {
		root, data string // text of .gitignore in the work tree, and in its folder data
		staged     bool
	}{
		{"", "", true},
		{"", "*.key\n", false},
		{"*.key\n", "", false},
		{"*.key \r\n", "", false},
		{"data/\n", "!a.key\n", false}, // what lies in a passed over folder stays there
		{"/data/*.key\n", "", false},
		{"**/a.key\n", "", false},
		{"", "*.key\n!*.key\n", true},
		{"", "!*.key\n*.key\n", false},
		{"*.key\n", "!*.k?y\n", true},
		{"*.key\n", "![a]*\n", true}, // such a pattern is not read, and may take it out again
		{"", "[a]*\n", true},
		{"", "*.key/\n", true},
		{"/*.key\n", "", true},
		{"/a.key\n", "", true},
		{"", "# *.key\n", true},
		{"", " *.key\n", true},
	} {
		root := t.TempDir()
		data := filepath.Join(root, "data")
		for _, dir := range []string{filepath.Join(root, ".git"), data} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for dir, text := range map[string]string{root: c.root, data: c.data} {
			if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(data, link); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{data, link} {
			if got := Staged(filepath.Join(dir, "a.key")); got != c.staged {
				t.Errorf("root %q, data %q, by %s: staged is %t", c.root, c.data, filepath.Base(dir), got)
			}
		}
	}
	root := t.TempDir()
	if err := os.Symlink("/dev/null", filepath.Join(root, ".gitignore")); err != nil {
		t.Fatal(err)
	}
	if Ignored(filepath.Join(root, "a.key")) || Staged(filepath.Join(root, "a.key")) {
		t.Error("no work tree, and a .gitignore that is a link")
	}
	for _, dir := range []string{".git", "data/.git/info"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "data/.git/info/exclude"), []byte("*.key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !Staged(filepath.Join(root, "data/a.key")) {
		t.Error("an empty .git below a work tree: its list was taken for that of a repository")
	}
	if err := os.WriteFile(filepath.Join(root, "data/.git/HEAD"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if Staged(filepath.Join(root, "data/a.key")) {
		t.Error("a repository in a work tree: its own list was not asked")
	}
}
