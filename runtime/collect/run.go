package collect

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weir/internal/disk"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// run judges what is named as a run.
func (f *Found) run(path, name string, known ledgers) {
	i := Item{Path: path, What: Run, name: name}
	s, err := store.ReadSummary(path)
	switch {
	case !folder(path):
		i.Kept = err.Error() // a link or a file: weir makes none there
		i.Used, _ = store.Began(filepath.Base(path))
	case errors.Is(err, fs.ErrNotExist):
		i.Used, _ = store.Began(filepath.Base(path)) // killed before it could draw noise, or while it was removed
	case err != nil:
		i.Used, i.Kept = lastUsed(path), err.Error()+", so that nobody can tell whether it has paid"
	case s.Status == record.Done:
		f.release(path, name, s)
		return
	default:
		i.Used = lastUsed(path)
		i.Kept, i.Costs = f.paid(s, known)
	}
	if i.Kept == "" && store.Held(f.rules.Disk, path) {
		i.Kept = "a process works on it"
	}
	f.add(i)
}

// paid says why an unfinished run stays that has paid, or may have: its key lets it go on
// without paying again.
func (f *Found) paid(s store.Summary, known ledgers) (kept string, costs bool) {
	n, err := known.charges(s)
	switch {
	case err == nil && n == 0:
		return "", false
	case f.rules.Paid:
		return "", true
	case err != nil:
		return fmt.Sprintf("its ledger %s cannot be read, so that nobody can tell whether it has paid; --paid removes it",
			s.Dataset.Ledger), true
	}
	return fmt.Sprintf(
		"it has paid (charges: %d), and running its spec again continues it at no charge; --paid removes it", n), true
}

// ledgers are the charges of each run, by ledger; nil for one that cannot be read.
type ledgers map[string]map[string]int

// charges counts what a run has paid, by its record and by the ledger, where a killed run
// stands alone.
func (l ledgers) charges(s store.Summary) (int, error) {
	if n := payment.OwnCharges(s); n > 0 || s.Dataset.Ledger == "" {
		return n, nil
	}
	path := s.Dataset.Ledger
	if _, known := l[path]; !known {
		l[path] = chargesIn(path)
	}
	if l[path] == nil {
		return 0, errors.New("unreadable")
	}
	return l[path][s.ID], nil
}

func chargesIn(path string) map[string]int {
	data, err := disk.ReadFile(path, 0)
	if err != nil {
		return nil
	}
	entries, err := ledger.Parse(data)
	if err != nil {
		return nil
	}
	items := map[string]int{}
	for _, e := range entries {
		items[e.Run]++
	}
	return items
}

// release judges what a finished run released. With its key, and by the build that made
// it, the run makes it again at no charge.
func (f *Found) release(path, name string, s store.Summary) {
	dir := store.RunDir{Path: path}
	left := folder(dir.Aside()) && !folder(dir.Release()) // of a removal that was killed
	if !left && (!f.rules.Release || !folder(dir.Release())) {
		return
	}
	i := Item{Path: dir.Release(), What: Release, name: name, Used: finished(path)}
	if left {
		i.Path = dir.Aside()
	}
	i.Costs = !left && !f.again(path, s)
	if store.Held(f.rules.Disk, path) {
		i.Kept = "a process works on it"
	}
	f.add(i)
}

// again reports whether a finished run would make its release again at no charge: with its
// key and by the build that made it, and where it has taken the noise of other runs, with
// theirs or with what is stored of it, which stays where what was paid for does.
func (f *Found) again(path string, s store.Summary) bool {
	if !s.KeyKept || !hasKey(path) || s.Build == "" || s.Build != f.rules.Build {
		return false
	}
	cache := store.CacheOf(f.rules.Disk, f.rules.Out)
	for _, stage := range s.Stages {
		there := func(p payment.Note) bool { return p.Run == stage.From && (cache.Holds(p.Address) || f.keyed(p)) }
		if stage.From != "" && (f.rules.Paid || !slices.ContainsFunc(payment.Notes{Cache: cache}.Of(stage.Recipe), there)) {
			return false
		}
	}
	return true
}

// finished returns when the record of a run was written for the last time.
func finished(path string) (place time.Time) {
	if info, err := os.Lstat(filepath.Join(path, "run.json")); err == nil {
		place = info.ModTime()
	}
	return place
}
