package dataset

import (
	"fmt"
	"path/filepath"
)

// tellFirst says what the first run leaves, and what to do with it.
func (f *finding) tellFirst() {
	name, owner := filepath.Base(f.place.path), filepath.Base(f.place.owner)
	where := fmt.Sprintf("a ledger and %s now lie beside it. Commit the ledger. Back up the owner file with the data", owner)
	switch {
	case f.place.readOnly():
		where = fmt.Sprintf("its folder is read-only, so the owner file %s lies with the runs, and under another folder of runs (--out) the dataset is not known. Back it up with the data", f.place.owner)
	case f.Uncharged:
		where = fmt.Sprintf("%s now lies beside it. Back it up with the data", owner)
	case f.Ledger != "":
		where = fmt.Sprintf("%s now lies beside it, and its ledger is %s. Commit the ledger. Back up the owner file with the data", owner, f.Ledger)
	}
	f.notes = append(f.notes, fmt.Sprintf("First run on %s: %s and never commit it: with it copies and corrections are recognised and share one budget.", name, where))
	f.tellGit()
	f.tellOrphans()
}

// tellGit says which keys a commit would publish.
func (f *finding) tellGit() {
	if inGit(f.place.owner) {
		f.notes = append(f.notes, fmt.Sprintf("%s lies in a git work tree and no .gitignore names it: add the line *%s* to %s before you commit.",
			f.place.owner, OwnerSuffix, filepath.Join(filepath.Dir(f.place.owner), ".gitignore")))
	}
	if inGit(f.index.keyPath()) {
		f.notes = append(f.notes, fmt.Sprintf("%s holds keys, lies in a git work tree, and no .gitignore names it: write the line * to %s before you commit.",
			f.Out, filepath.Join(f.Out, ".gitignore")))
	}
}
