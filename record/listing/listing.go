// Package listing words lists of runs: lines for a terminal, and one page with a table and
// sparklines. It is pure, and for the owner's side: the figures are computed from real rows.
package listing

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"weir/internal/plaintext"
	"weir/record"
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

// Text returns a table of runs, a line each, at a time. For a terminal of so many columns (0: none) that has no room
// for them settings and figures stand below the line of their run; fold breaks what stands there.
func Text(runs []Run, now time.Time, columns int, fold func(string) string) string {
	text := table(runs, now, true)
	for line := range strings.Lines(text) {
		if columns > 0 && utf8.RuneCountInString(line) > columns+1 {
			return remarked(table(runs, now, false), runs, fold, differs, mainFigures, remark)
		}
	}
	return remarked(text, runs, fold, remark)
}

// table returns a heading and a line for each run, with settings and figures if wide.
func table(runs []Run, moment time.Time, wide bool) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	head := []string{"SPEC", "RUN", "STATUS", "EPSILON", "AGE", "SIZE"}
	differ := slices.ContainsFunc(runs, func(r Run) bool { return len(r.Differs) > 0 })
	if wide {
		head = appendIf(differ, head, "DIFFERS IN", "MAIN FIGURES (PRIVATE)")
	}
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, r := range runs {
		cells := []string{r.Name, ShortID(r.ID), status(r), epsilons(r), Age(moment.Sub(r.Started)), Size(r.Bytes)}
		if wide {
			cells = appendIf(differ, cells, differs(r), mainFigures(r))
		}
		for i, c := range cells {
			cells[i] = plainly(c)
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	t.Flush()
	return b.String()
}

// plainly keeps a text in its line and its cell.
func plainly(s string) string {
	return plaintext.Text(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
}

// appendIf puts a cell before the last one where some run has something in it.
func appendIf(some bool, cells []string, cell, last string) []string {
	if some {
		cells = append(cells, cell)
	}
	return append(cells, last)
}

// mostDiffering is how many differing settings a line shows.
const mostDiffering = 3

// differs lists the settings of a run that others of its name have otherwise.
func differs(r Run) string {
	var list []string
	for _, s := range r.Differs[:min(mostDiffering, len(r.Differs))] {
		list = append(list, s.Path+" "+short(s.Value))
	}
	if more := len(r.Differs) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("+%d", more))
	}
	return strings.Join(list, "  ")
}

// short keeps the value of a setting in its column.
func short(value string) string {
	const most = 24
	if r := []rune(value); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return value
}

// remarked puts further lines of each run below its line, where there is something to say.
func remarked(table string, runs []Run, fold func(string) string, further ...func(Run) string) string {
	var b strings.Builder
	i := -1 // the heading
	for line := range strings.Lines(table) {
		b.WriteString(line)
		for _, words := range further {
			if i < 0 {
				break
			}
			if text := plainly(words(runs[i])); text != "" {
				b.WriteString(fold("      " + text + "\n"))
			}
		}
		i++
	}
	return b.String()
}

// remark words the tags and the note of a run.
func remark(r Run) string {
	var list []string
	for _, tag := range r.Tags {
		list = append(list, "#"+tag)
	}
	if r.Note != "" {
		list = append(list, r.Note)
	}
	return strings.Join(list, " ")
}

// ShortID returns the time of an id and some of its digits, which name a run on the command line.
func ShortID(id string) string {
	if r := []rune(id); len(r) > 22 {
		return string(r[:22])
	}
	return id
}

func status(r Run) string {
	if r.Test {
		return r.Status + ", NOT PRIVATE"
	}
	return r.Status
}

// epsilons returns the proven epsilon and, in brackets, the epsilon of a paper's accounting.
func epsilons(r Run) string {
	switch {
	case r.Status == Unreadable:
		return ""
	case r.Published != nil && r.Proven != nil:
		return record.Bound(*r.Proven) + " (" + record.Bound(*r.Published) + ")"
	case r.Published != nil:
		return "none (" + record.Bound(*r.Published) + ")"
	case r.Proven != nil:
		return record.Bound(*r.Proven)
	}
	return "none"
}

// mostInLine is how many figures a line of the terminal shows.
const mostInLine = 2

func mainFigures(r Run) string {
	if r.Status == Unreadable {
		return r.Why
	}
	var list []string
	for _, name := range firsts(r.Main)[:min(mostInLine, len(r.Main))] {
		list = append(list, name+" "+figure(r.Metrics[name]))
	}
	if more := len(r.Metrics) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("+%d", more))
	}
	return strings.Join(list, "  ")
}

// Age words how long ago something was, in the largest unit that counts at least 2.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	for _, u := range []struct {
		unit time.Duration
		word string
	}{{365 * day, "y"}, {day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= 2*u.unit {
			return fmt.Sprintf("%d%s", d/u.unit, u.word)
		}
	}
	return fmt.Sprintf("%ds", max(0, d/time.Second))
}

// Size words a number of bytes, in powers of 1000 and two digits at least.
func Size(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	x, units := float64(bytes)/1000, "kMGTPE"
	for x >= 999.5 {
		x, units = x/1000, units[1:]
	}
	if x < 9.95 {
		return fmt.Sprintf("%.1f %cB", x, units[0])
	}
	return fmt.Sprintf("%.0f %cB", x, units[0])
}
