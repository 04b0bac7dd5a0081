package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// minDistinct is the least number of distinct rows of tables that are compared:
	// two tables of a few short columns share rows without sharing people.
	minDistinct = 200

	// minShare is half of the 1 % that must not be missed. Of two tables of like
	// size, s = 4096 rows are compared; at 1 % in common the equal ones among them
	// are Poisson of mean 41, and fewer than the 20.5 that are asked for with
	// probability 2e-4. A table r times as large leaves s = 4096/r rows of the
	// smaller one: at r = 10, 1 % is missed one time in five and 3 % one in 2500;
	// at r = 100, 1 % is missed two times in three, 10 % one time in sixty, a whole
	// copy never. Beyond r = 4096/5 a subset may pass.
	minShare = 0.005
)

// overlap estimates which share of the rows of the smaller table is in the other
// one too, and whether that is enough to tell.
func overlap(a, b sketch) (share float64, is bool) {
	if a.distinct() < minDistinct || b.distinct() < minDistinct {
		return 0, false
	}
	// Up to the lesser of both ends each sketch has all of its rows: two samples by
	// the same coin.
	end := min(a.last(), b.last())
	a, b = a.cutAt(end), b.cutAt(end)
	equal := common(a, b)
	if equal == 0 {
		return 0, false
	}
	share = float64(equal) / float64(min(len(a), len(b)))
	return share, share >= minShare
}

func (s sketch) cutAt(end uint64) sketch {
	n, found := slices.BinarySearch(s, end)
	if found {
		n++
	}
	return s[:n]
}

func common(a, b sketch) (n int) {
	for _, h := range a {
		if _, found := slices.BinarySearch(b, h); found {
			n++
		}
	}
	return n
}

// overlaps lists the other datasets that share rows with r.
func (x *index) overlaps(r *record) (names []string) {
	for _, other := range x.sharing(r) {
		names = append(names, other.name())
	}
	return names
}

func (x *index) sharing(r *record) (others []*record) {
	for _, other := range x.records {
		_, read := overlap(r.Rows, other.Rows)
		_, counted := overlap(r.Counted, other.Counted)
		if (read || counted) && other.ID != r.ID {
			others = append(others, other)
		}
	}
	return others
}

// joins returns the commands that give rec and the datasets that share rows with it one
// ledger: the ledger of the one seen first, whose filter was fixed first.
func (f *finding) joins(rec *record) (commands []string) {
	all := append(f.index.sharing(rec), rec)
	slices.SortStableFunc(all, func(a, b *record) int { return a.first().Compare(b.first()) })
	for _, newer := range all[1:] {
		commands = append(commands, "weir ledger continue "+quoted(all[0].place())+" "+quoted(newer.place())+outFlag(f.Out))
	}
	return commands
}

// outFlag names a folder of runs that is not the default.
func outFlag(out string) string {
	if byDefault, err := filepath.Abs("runs"); err == nil && byDefault == out {
		return ""
	}
	return " --out " + quoted(out)
}

// place returns the latest path of the dataset.
func (r *record) place() string {
	if len(r.Places) == 0 {
		return r.Ledger
	}
	return r.Places[len(r.Places)-1].Path
}

// first returns when a run first saw the dataset.
func (o *owner) first() (first time.Time) {
	for i, c := range o.Contents {
		if i == 0 || c.Seen.Before(first) {
			first = c.Seen
		}
	}
	return first
}

// quoted returns a path as a shell takes it.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
