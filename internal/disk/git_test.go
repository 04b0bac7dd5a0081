package disk

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// git runs git in a folder, with settings of its own alone.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
	c.Dir, c.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// TestTracked: what git itself has in its index, in every form that it writes one in, from every kind of work tree.
func TestTracked(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	long := strings.Repeat("long/", 20)
	for name, form := range map[string]struct{ init, then []string }{
		"version 2":    {nil, nil},
		"version 3":    {nil, []string{"update-index", "--skip-worktree", "data/b.key"}},
		"version 4":    {nil, []string{"update-index", "--index-version", "4"}},
		"split":        {nil, []string{"update-index", "--split-index"}},
		"split, 4":     {nil, []string{"update-index", "--index-version", "4", "--split-index"}},
		"SHA-256":      {[]string{"--object-format=sha256"}, nil},
		"SHA-256, 4":   {[]string{"--object-format=sha256"}, []string{"update-index", "--index-version", "4"}},
		"sparse":       {nil, []string{"sparse-checkout", "set", "--no-cone", "/*"}},
		"untracked":    {nil, []string{"update-index", "--force-untracked-cache"}},
		"end of index": {nil, []string{"-c", "index.threads=2", "update-index", "--force-write-index"}},
	} {
		root := t.TempDir()
		git(t, root, append([]string{"init", "-q"}, form.init...)...)
		list := []string{"a.key", "data/b.key", "data/bb.key", "data/c\u00e4.key", long + "d.key"}
		for _, file := range append(list, "data/not.key", "other.key") {
			path := filepath.Join(root, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(file), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		git(t, root, append([]string{"add"}, list...)...)
		git(t, root, "commit", "-q", "-m", "keys")
		if form.then != nil {
			git(t, root, form.then...)
		}
		for _, file := range list {
			if !Tracked(filepath.Join(root, file)) {
				t.Errorf("%s: %s is tracked", name, file)
			}
		}
		for _, file := range []string{"data/not.key", "other.key", "b.key", "data/a.key", "absent/x"} {
			if Tracked(filepath.Join(root, file)) {
				t.Errorf("%s: %s is not tracked", name, file)
			}
		}
		data, err := os.ReadFile(filepath.Join(root, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		for end := range data { // must return
			indexed(data[:end], 20)
			indexed(data[:end], 32)
		}
	}
}

// TestOtherTrees: a linked work tree, and the one that the environment says where no folder has a .git.
func TestOtherTrees(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	main, linked, bare, tree := t.TempDir(), filepath.Join(t.TempDir(), "linked"), filepath.Join(t.TempDir(),
		"repository"), t.TempDir()
	git(t, main, "init", "-q")
	for _, dir := range []string{main, tree} {
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "a.key"), nil, 0o600), os.Mkdir(filepath.Join(dir, "data"),
			0o700)); err != nil {
			t.Fatal(err)
		}
	}
	git(t, main, "add", "a.key")
	git(t, main, "commit", "-q", "-m", "a key")
	git(t, main, "worktree", "add", "-q", "--detach", linked)
	if !Tracked(filepath.Join(linked, "a.key")) || Tracked(filepath.Join(linked, "b.key")) {
		t.Error("a linked work tree: a.key is tracked, and b.key is not")
	}
	owner := filepath.Join(tree, "data", "b.key")
	git(t, tree, "--git-dir="+bare, "--work-tree="+tree, "init", "-q")
	git(t, tree, "--git-dir="+bare, "--work-tree="+tree, "add", "a.key")
	if Staged(owner) || Tracked(filepath.Join(tree, "a.key")) {
		t.Error("a folder without .git is a work tree, though the environment does not say so")
	}
	t.Setenv("GIT_DIR", bare)
	for message, work := range map[string]string{"by GIT_WORK_TREE": tree, "by the current folder": ""} {
		t.Setenv("GIT_WORK_TREE", work)
		if work == "" {
			t.Chdir(tree)
		}
		if !Staged(owner) || !Tracked(filepath.Join(tree, "a.key")) || Tracked(owner) ||
			Staged(filepath.Join(t.TempDir(), "c.key")) {
			t.Errorf("%s: the work tree that the environment says is not asked, or holds what lies outside", message)
		}
		if err := os.WriteFile(filepath.Join(bare, "info", "exclude"), []byte("*.key\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if Staged(owner) {
			t.Errorf("%s: its own list of what is excluded is not asked", message)
		}
		if err := os.Remove(filepath.Join(bare, "info", "exclude")); err != nil {
			t.Fatal(err)
		}
	}
}
