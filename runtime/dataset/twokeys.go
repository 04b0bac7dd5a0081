package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// known is a file of the owner's side and what it says.
type known struct {
	path string
	*owner
}

// twoKeys refuses two files that give one dataset two keys, which happens where an
// owner file was lost and another folder of runs (--out) made a new one. Secret draws
// go by the key, so the older one is the dataset's.
func twoKeys(a, b known) error {
	older, newer, why := a, b, ""
	switch c := a.first().Compare(b.first()); {
	case c > 0:
		older, newer = b, a
	case c == 0:
		why = ", as far as can be told"
	}
	return Refusal{fmt.Errorf("%s: has another key for %s than %s, must have the same; the older one%s is in %s (%s), "+
		"the newer in %s (%s): "+
		"move %s away, and the next run writes it again with the older key. Both keys count the same ledger, so no charge "+
		"is lost; splits and shards made with the newer key fall otherwise",
		newer.path, a.ID, older.path, why, older.path, older.history(), newer.path, newer.history(), newer.path)}
}

func (o *owner) history() string {
	if len(o.Contents) == 0 {
		return fmt.Sprintf("never read, %d charges noted", o.LedgerCount)
	}
	return fmt.Sprintf("first seen %s, %d charges noted", o.first().Format("2006-01-02 15:04:05"), o.LedgerCount)
}

// orphans returns ledgers beside the file whose own files and owner files are gone, as a
// renamed table leaves them: one of them may be this dataset's.
func (f *finding) orphans() (names []string) {
	dir := filepath.Dir(f.place.path)
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, file := range files {
		name, is := strings.CutSuffix(file.Name(), LedgerSuffix)
		if !is || strings.HasSuffix(name, ".NOT-PRIVATE") {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, name+OwnerSuffix)); err != nil {
			names = append(names, file.Name())
		}
	}
	return names
}

// tellOrphans says which ledger a new dataset may have forgotten.
func (f *finding) tellOrphans() {
	for _, name := range f.orphans() {
		path := filepath.Join(filepath.Dir(f.place.path), name)
		f.tell("gets a new key, and %s lies in the same folder without its owner file; if that is the ledger of these "+
			"rows: weir ledger continue %s %s --out %s",
			name, quoted(path), quoted(f.place.path), quoted(f.Out))
	}
}
