package dataset

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"weir/internal/disk"
)

// tellFirst says what the first run leaves, and what to do with it.
func (f *finding) tellFirst() {
	name, owner := filepath.Base(f.place.path), filepath.Base(f.place.owner)
	where := fmt.Sprintf("%s now lies beside it, and its ledger will once something is charged. Commit the ledger. Back up the owner file with the data, and never commit it: with it", owner)
	switch {
	case f.Uncharged:
		where = fmt.Sprintf("nothing is charged, so its owner file %s lies with the runs. Back it up with the data, and never commit it: with it", f.place.owner)
	case f.place.readOnly():
		where = fmt.Sprintf("its folder is read-only, so the owner file %s lies with the runs, and under another folder of runs (--out) the dataset is not known. Back it up with the data, and never commit it: with it", f.place.owner)
	case f.Ledger != "":
		where = fmt.Sprintf("%s now lies beside it, and its ledger will be %s once something is charged, with another one, %s, beside that. Commit the ledger. Back up the owner files with the data, and never commit them: with them", owner, f.Ledger, filepath.Base(homeOf(f.Ledger)))
	}
	f.notes = append(f.notes, fmt.Sprintf("First run on %s: %s copies and corrections are recognised and share one budget.", name, where))
	f.tellGit()
	f.tellOrphans()
}

// tellGit says which keys a commit would publish.
func (f *finding) tellGit() {
	for _, owner := range f.owners() {
		if inGit(owner) {
			f.notes = append(f.notes, fmt.Sprintf("%s lies in a git work tree and no .gitignore names it: add the line *%s* to %s before you commit.",
				owner, OwnerSuffix, filepath.Join(filepath.Dir(owner), ".gitignore")))
		}
	}
	if inGit(f.index.keyPath()) {
		f.notes = append(f.notes, fmt.Sprintf("%s holds keys, lies in a git work tree, and no .gitignore names it: write the line * to %s before you commit.",
			f.Out, filepath.Join(f.Out, ".gitignore")))
	}
}

// owners lists the owner files that a run makes: the one of the data, and the one beside a ledger elsewhere.
func (f *finding) owners() []string {
	owners := []string{f.place.owner}
	if home := (&owner{Ledger: f.Ledger}).home(f.place.owner); home != "" && !f.Uncharged {
		owners = append(owners, home)
	}
	return owners
}

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
	text, err := disk.ReadFile(file, 0)
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
