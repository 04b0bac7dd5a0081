package disk

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Staged reports whether "git add -A" would stage the file at path: a folder above it is a work tree, and no .gitignore
// up to there, nor the work tree's own list of what is excluded, names it or a folder above it. Links are followed, and
// of lines that disagree the last of the nearest file counts, as git has it. Of patterns that it cannot read, those
// that name files are passed over and those that take files out again hold, so that it may take a file for staged that
// is not, and never the other way round. Where GIT_DIR is set, the work tree that it says is asked too.
func Staged(path string) bool {
	dir, name, err := located(path)
	if err != nil {
		return true
	}
	staged := false
	eachTree(dir, []string{name}, func(t workTree, below []string) bool {
		staged = !t.excluded(below)
		return !staged
	})
	return staged
}

// located returns the folder of a file, behind links, and its name.
func located(path string) (dir, name string, err error) {
	path, err = filepath.Abs(path)
	dir = filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, filepath.Base(path), err
}

// workTree is a folder whose files git keeps, and where it keeps them.
type workTree struct{ root, git string }

// eachTree calls f, until it returns false, for the work trees that git can take dir to lie in, with the segments below
// each: the one that GIT_DIR says, and the one of each folder above, up to the first repository.
func eachTree(dir string, lower []string, f func(t workTree, lower []string) bool) {
	if t, ok := saidTree(); ok {
		if rel, err := filepath.Rel(t.root, dir); err == nil && filepath.IsLocal(rel) &&
			!f(t, append(segments(rel), lower...)) {
			return
		}
	}
	for {
		dot := filepath.Join(dir, ".git")
		if _, err := os.Lstat(dot); err == nil && (!f(workTree{dir, gitDir(dot)}, lower) || whole(dir)) {
			return
		}
		if filepath.Dir(dir) == dir {
			return
		}
		lower = slices.Insert(slices.Clone(lower), 0, filepath.Base(dir))
		dir = filepath.Dir(dir)
	}
}

// saidTree returns the work tree that the environment says (git(1), GIT_DIR and GIT_WORK_TREE).
func saidTree() (t workTree, ok bool) {
	git := os.Getenv("GIT_DIR")
	if git == "" {
		return t, false
	}
	tree := cmp.Or(os.Getenv("GIT_WORK_TREE"), ".")
	git, err1 := filepath.Abs(git)
	tree, err2 := filepath.Abs(tree)
	if real, err := filepath.EvalSymlinks(tree); err == nil {
		tree = real
	}
	return workTree{tree, git}, err1 == nil && err2 == nil
}

// segments cuts a path below a folder; "." has none.
func segments(rel string) []string {
	if rel == "." {
		return nil
	}
	return strings.Split(filepath.ToSlash(rel), "/")
}

// whole reports whether the .git of a folder is a repository: of an empty one git takes no notice, and asks the folders
// above.
func whole(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ".git"))
	if err != nil || !info.IsDir() {
		return err == nil
	}
	_, err = os.Lstat(filepath.Join(dir, ".git", "HEAD"))
	return err == nil
}

// Ignored reports whether the .gitignore in the folder of a file names it, in a work tree or not.
func Ignored(path string) bool {
	verdict, _ := ruled(filepath.Join(filepath.Dir(path), ".gitignore"), []string{filepath.Base(path)}, false)
	return verdict
}

// excluded reports whether git passes over the file that is named by these segments below a work tree: what it passes
// over as a folder, no line can take out again.
func (t workTree) excluded(below []string) bool {
	for n := 1; n <= len(below); n++ {
		if t.passedOver(below[:n], n < len(below)) {
			return true
		}
	}
	return false
}

// passedOver asks the nearest .gitignore first, and the list of the work tree last.
func (t workTree) passedOver(lower []string, folder bool) bool {
	for n := len(lower) - 1; n >= 0; n-- {
		at := filepath.Join(t.root, filepath.Join(lower[:n]...), ".gitignore")
		if verdict, said := ruled(at, lower[n:], folder); said {
			return verdict
		}
	}
	verdict, _ := ruled(filepath.Join(t.git, "info", "exclude"), lower, folder)
	return verdict
}

// ruled returns what the last line of a list that is about the file says of it; said is false where none is. Git
// follows no .gitignore that is a link.
func ruled(list string, lower []string, folder bool) (verdict, reported bool) {
	if info, err := os.Lstat(list); err != nil || !info.Mode().IsRegular() {
		return false, false
	}
	text, err := ReadFile(list, 0)
	if err != nil {
		return false, false
	}
	for _, line := range strings.Split(string(text), "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		pattern, again := strings.CutPrefix(line, "!")
		if names(pattern, lower, folder, again) {
			verdict, reported = !again, true
		}
	}
	return verdict, reported
}

// names reports whether a pattern of a .gitignore is about the file, or the folder, of these segments below it; unread
// is the answer for patterns that mean something else than in path.Match.
func names(pattern string, lower []string, folder, unread bool) bool {
	pattern, ofFolders := strings.CutSuffix(pattern, "/")
	if ofFolders && !folder {
		return false
	}
	pattern, anywhere := strings.CutPrefix(pattern, "**/")
	if plain := strings.ReplaceAll(pattern, `\[`, ""); strings.Contains(plain, "**") || strings.Contains(plain, "[") ||
		anywhere && strings.Contains(plain, "/") {
		return unread
	}
	name := lower[len(lower)-1]
	if rest, anchored := strings.CutPrefix(pattern, "/"); anchored || strings.Contains(pattern, "/") {
		pattern, name = rest, strings.Join(lower, "/")
	}
	is, err := path.Match(pattern, name)
	return is && err == nil
}

// Tracked reports whether a work tree above path has the file in its index: git takes its changes along whatever a
// .gitignore says. An index that cannot be read tracks nothing.
func Tracked(path string) bool {
	dir, name, err := located(path)
	if err != nil {
		return false
	}
	found := false
	eachTree(dir, []string{name}, func(t workTree, below []string) bool {
		found = found || t.lists(strings.Join(below, "/"))
		return !found
	})
	return found
}

// lists reports whether the index of a work tree, or the one that it shares with others, has a name.
func (t workTree) lists(name string) bool {
	shared, _ := filepath.Glob(filepath.Join(t.git, "sharedindex.*"))
	for _, file := range append(shared, filepath.Join(t.git, "index")) {
		data, err := ReadFile(file, 0)
		if err != nil {
			continue
		}
		for _, hash := range []int{20, 32} { // SHA-1 and SHA-256
			if names, ok := indexed(data, hash); ok && slices.Contains(names, name) {
				return true
			}
		}
	}
	return false
}

// indexed reads the names of an index (gitformat-index(5)) whose objects have hashes of the given number of bytes; ok
// is false where it has another form.
func indexed(data []byte, hash int) (names []string, ok bool) {
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	rest, name := data[12:], ""
	for range count {
		fixed := 40 + hash + 2
		if len(rest) < fixed {
			return nil, false
		}
		if binary.BigEndian.Uint16(rest[fixed-2:])&0x4000 != 0 { // flags that version 3 added
			fixed += 2
		}
		count, pos := 0, min(fixed, len(rest))
		if version == 4 {
			strip, n := stripped(rest[pos:])
			if n == 0 || strip > len(name) {
				return nil, false
			}
			count, pos = len(name)-strip, pos+n
		}
		end := bytes.IndexByte(rest[pos:], 0)
		if end < 0 {
			return nil, false
		}
		name = name[:count] + string(rest[pos:pos+end])
		names = append(names, name)
		size := pos + end + 1
		if version < 4 {
			size = (pos + end + 8) &^ 7 // padded to a multiple of eight by one to eight zeros
		}
		rest = rest[min(size, len(rest)):]
	}
	return names, version >= 2 && version <= 4
}

// stripped reads how many bytes of the name before the next one drops, and in how many bytes that is said.
func stripped(b []byte) (value, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		value = value<<7 | int(c&0x7f)
		if n++; c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}

// gitDir returns the folder in which git keeps a work tree, where .git is that folder or a file that names it.
func gitDir(dot string) string {
	info, err := os.Stat(dot)
	if err != nil || info.IsDir() {
		return dot
	}
	text, err := ReadFile(dot, 1<<12)
	newName, is := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !is {
		return dot
	}
	if !filepath.IsAbs(newName) {
		newName = filepath.Join(filepath.Dir(dot), newName)
	}
	return newName
}
