package listing

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"weir/internal/plain"
	"weir/record"
)

// Text is a table of runs for a terminal, a line each, as of now.
func Text(runs []Run, now time.Time) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SPEC\tRUN\tSTATUS\tEPSILON\tAGE\tSIZE\tMAIN FIGURES (PRIVATE)")
	for _, r := range runs {
		cells := []string{r.Name, ShortID(r.ID), status(r), epsilons(r), Age(now.Sub(r.Started)), Size(r.Bytes), mainFigures(r)}
		for i, c := range cells {
			cells[i] = plain.Text(strings.NewReplacer("\n", " ", "\t", " ").Replace(c))
		}
		fmt.Fprintln(t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	t.Flush()
	return b.String()
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

// epsilons are the proven one and, in brackets, that of a paper's accounting.
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
