package disk

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Staged reports whether "git add -A" would stage the file at path: a folder above it is a work tree, and no .gitignore
// up to there, nor the work tree's own list of what is excluded, names it or a folder above it. Links are followed, and
// of lines that disagree the last of the nearest file counts, as git has it. Of patterns that it cannot read, those that
// name files are passed over and those that take files out again hold, so that it may take a file for staged that is
// not, and never the other way round.
func Staged(path string) bool {
	path, err := filepath.Abs(path)
	if err != nil {
		return true
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(path)
	}
	below := []string{filepath.Base(path)}
	for {
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil && !excluded(dir, below) {
			return true
		}
		if err == nil && whole(dir) || filepath.Dir(dir) == dir {
			return false
		}
		below = slices.Insert(below, 0, filepath.Base(dir))
		dir = filepath.Dir(dir)
	}
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
func excluded(root string, below []string) bool {
	for n := 1; n <= len(below); n++ {
		if passedOver(root, below[:n], n < len(below)) {
			return true
		}
	}
	return false
}

// passedOver asks the nearest .gitignore first, and the list of the work tree last.
func passedOver(root string, below []string, folder bool) bool {
	for n := len(below) - 1; n >= 0; n-- {
		at := filepath.Join(root, filepath.Join(below[:n]...), ".gitignore")
		if verdict, said := ruled(at, below[n:], folder); said {
			return verdict
		}
	}
	verdict, _ := ruled(filepath.Join(root, ".git", "info", "exclude"), below, folder)
	return verdict
}

// ruled is what the last line of a list that is about the file says of it; said is false where none is. Git follows no
// .gitignore that is a link.
func ruled(list string, below []string, folder bool) (verdict, said bool) {
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
		if names(pattern, below, folder, again) {
			verdict, said = !again, true
		}
	}
	return verdict, said
}

// names reports whether a pattern of a .gitignore is about the file, or the folder, of these segments below it; unread is
// the answer for patterns that mean something else than in path.Match.
func names(pattern string, below []string, folder, unread bool) bool {
	pattern, ofFolders := strings.CutSuffix(pattern, "/")
	if ofFolders && !folder {
		return false
	}
	pattern, anywhere := strings.CutPrefix(pattern, "**/")
	if plain := strings.ReplaceAll(pattern, `\[`, ""); strings.Contains(plain, "**") || strings.Contains(plain, "[") ||
		anywhere && strings.Contains(plain, "/") {
		return unread
	}
	name := below[len(below)-1]
	if rest, anchored := strings.CutPrefix(pattern, "/"); anchored || strings.Contains(pattern, "/") {
		pattern, name = rest, strings.Join(below, "/")
	}
	is, err := path.Match(pattern, name)
	return is && err == nil
}
