package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// joins are the commands that give rec and the datasets that share rows with it one
// ledger: that of the one seen first, whose filter was fixed first.
func (f *finding) joins(rec *record) (commands []string) {
	all := append(f.index.sharing(rec), rec)
	slices.SortStableFunc(all, func(a, b *record) int { return a.first().Compare(b.first()) })
	flag := ""
	if byDefault, err := filepath.Abs("runs"); err != nil || byDefault != f.Out {
		flag = " --out " + quoted(f.Out)
	}
	for _, newer := range all[1:] {
		commands = append(commands, "weir ledger continue "+quoted(all[0].place())+" "+quoted(newer.place())+flag)
	}
	return commands
}

// place is the latest path of the dataset.
func (r *record) place() string {
	if len(r.Places) == 0 {
		return r.Ledger
	}
	return r.Places[len(r.Places)-1].Path
}

// first is when a run first saw the dataset.
func (o *owner) first() (first time.Time) {
	for i, c := range o.Contents {
		if i == 0 || c.Seen.Before(first) {
			first = c.Seen
		}
	}
	return first
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
