package dataset

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/disk"
)

// tellFirst says what the first run leaves, and what to do with it.
func (f *finding) tellFirst() {
	name, place, owner := filepath.Base(f.place.path), "beside it", filepath.Base(f.place.owner)
	if f.Where != "" {
		name, place = f.Where, "beside the spec"
	}
	where := fmt.Sprintf("%s now lies %s, and its ledger will once something is charged. Commit the ledger. "+
		"Back up the owner file with the data, and never commit it: with it", owner, place)
	switch {
	case f.Uncharged:
		where = fmt.Sprintf("nothing is charged, so its owner file %s lies with the runs. Back it up with the data, and "+
			"never commit it: with it", f.place.owner)
	case f.place.readOnly():
		where = fmt.Sprintf("its folder is read-only, so the owner file %s lies with the runs, and under another folder "+
			"of runs (--out) the dataset is not known. Back it up with the data, and never commit it: with it", f.place.owner)
	case f.Ledger != "":
		where = fmt.Sprintf("%s now lies %s, and its ledger will be %s once something is charged, with another "+
			"one, %s, beside that. Commit the ledger. Back up the owner files with the data, and never commit them: with "+
			"them", owner, place, f.Ledger, filepath.Base(homeOf(f.Ledger)))
	}
	f.notes = append(f.notes, fmt.Sprintf("First run on %s: %s copies and corrections are recognised and share one "+
		"budget.", name, where))
	if f.Where != "" && f.Ledger == "" {
		f.notes = append(f.notes, "Specs in other folders that read "+f.Where+" must name that ledger (dataset.ledger): "+
			"weir cannot see from there that its people have spent a budget here.")
	}
	f.tellGit()
	f.tellOrphans()
}

// tellGit says which keys a commit would publish, of runs that draw no noise; exposed refuses the others.
func (f *finding) tellGit() {
	f.notes = append(f.notes, f.staged()...)
}

// exposed refuses a first charge whose keys the next commit may publish: whoever has them can test guesses of the rows.
func (f *finding) exposed() error {
	if staged := f.staged(); len(staged) > 0 && !f.Uncharged {
		return Refusal{errors.New("refused: " + strings.Join(staged, "\n") + "\nNothing was charged. (weir init writes " +
			"such a file where none is.)")}
	}
	return nil
}

// CheckTracked refuses a charge to a ledger while git tracks a key: it goes along with the next commit, whatever a
// .gitignore says.
func (id *Identity) CheckTracked(ledger string) error {
	lines := trackedKeys(id.out, id.ID, id.place.owner, homeOf(ledger))
	if lines == nil {
		return nil
	}
	return Refusal{errors.New("refused: " + strings.Join(lines, "\n") + "\nNothing was charged.")}
}

// trackedKeys says which keys of a dataset git tracks, and what to do.
func trackedKeys(out, id string, owners ...string) (lines []string) {
	x := index{dir: indexDir(out)}
	for _, file := range append(owners, x.keyPath(), x.recordPath(id)) {
		line := fmt.Sprintf(
			"%s holds a key and git tracks it: git rm --cached %s, and commit that; with a commit of it that "+
				"was published, guesses of the rows can be tested.", file, quoted(file))
		if file != "" && disk.Tracked(file) && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// staged says which keys "git add -A" would stage, and what to do.
func (f *finding) staged() (list []string) {
	for _, owner := range f.owners() {
		if disk.Staged(owner) {
			list = append(list, fmt.Sprintf("%s holds a key, lies in a git work tree and no .gitignore names it: add the "+
				"line *%s* to %s before you commit.",
				owner, OwnerSuffix, filepath.Join(filepath.Dir(owner), ".gitignore")))
		}
	}
	if disk.Staged(f.index.keyPath()) {
		list = append(list, fmt.Sprintf("%s holds keys, lies in a git work tree, and no .gitignore names it: write the "+
			"line * to %s before you commit.",
			f.Out, filepath.Join(f.Out, ".gitignore")))
	}
	return list
}

// owners lists the owner files that a run makes: the one of the data, and the one beside a ledger elsewhere.
func (f *finding) owners() []string {
	owners := []string{f.place.owner}
	if home := (&owner{Ledger: f.Ledger}).home(f.place.owner); home != "" && !f.Uncharged {
		owners = append(owners, home)
	}
	return owners
}
