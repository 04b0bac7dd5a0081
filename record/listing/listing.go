// Package listing words lists of runs: lines for a terminal, and one page with a table and
// sparklines. It is pure, and for the owner's side: the figures are computed from real rows.
package listing

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
)

// What a list says of a run beside what its record does.
const (
	Killed     = "killed"     // the record says that it runs, and no process holds it
	Unreadable = "unreadable" // its record cannot be read
)

// Run is one line of a list.
type Run struct {
	Path      string             `json:"run"` // its folder
	Name      string             `json:"name"`
	ID        string             `json:"id"`
	Status    string             `json:"status"`        // done, failed, interrupted, running, Killed or Unreadable
	Why       string             `json:"why,omitempty"` // it is unreadable
	Proven    *float64           `json:"epsilon_proven"`
	Published *float64           `json:"epsilon_published"`
	Delta     float64            `json:"delta"`
	Started   time.Time          `json:"started"`
	Bytes     int64              `json:"bytes"` // on disk
	Test      bool               `json:"not_private,omitempty"`
	Metrics   map[string]float64 `json:"metrics"`          // the main figures
	Main      []string           `json:"-"`                // their names, those that people look at first in front
	Report    string             `json:"report,omitempty"` // file of its page, below its folder
	Spec      string             `json:"-"`                // canonical
	Differs   []Setting          `json:"differs,omitempty"`
	Note      string             `json:"note,omitempty"` // its owner's words
	Tags      []string           `json:"tags,omitempty"`
}

// Setting is what the spec of a run says where the listed runs of its name differ.
type Setting struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Filter says which runs are listed; its zero value lists all.
type Filter struct {
	Name   string    // of the spec, or a pattern with * and ?
	Status string    // as in Run
	Since  time.Time // started then or later
	Tag    string    // that a run has
}

// Select keeps the runs that pass, newest first.
func (f Filter) Select(runs []Run) []Run {
	chosen := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool {
		named, err := path.Match(f.Name, r.Name)
		return f.Name != "" && (err != nil || !named) || f.Status != "" && f.Status != r.Status ||
			r.Started.Before(f.Since) ||
			f.Tag != "" && !slices.Contains(r.Tags, f.Tag)
	})
	slices.SortFunc(chosen, func(a, b Run) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.Path, b.Path))
	})
	return chosen
}

// figures returns the names of the main figures of some runs, the figures of most runs first and then
// as people look at them.
func figures(runs []Run) []string {
	counts := map[string]int{}
	var names []string
	for _, r := range runs {
		for _, name := range firsts(r.Main) {
			if counts[name]++; counts[name] == 1 {
				names = append(names, name)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	return names
}

// firsts puts the first figure of each stage in front of all others.
func firsts(names []string) []string {
	var front, rest []string
	seen := map[string]bool{}
	for _, name := range names {
		stage, _, _ := strings.Cut(name, ".")
		if seen[stage] {
			rest = append(rest, name)
		} else {
			front = append(front, name)
		}
		seen[stage] = true
	}
	return append(front, rest...)
}
