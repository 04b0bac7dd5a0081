package main

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/words"
	"weir/record/listing"
	"weir/runtime"
)

const runsLong = `List the runs in a folder of runs, newest first: spec, status, epsilon (proven, and in
brackets that of a paper's own accounting), age, size on disk and the main figures,
which are computed from real rows: the list is for the owner. The folder of a run is
OUT/SPEC/RUN; RUN is cut short in the table and whole in --json.

Where runs of one spec differ in settings, each says in which (DIFFERS IN); notes and
tags stand below a run, as weir runs note and weir runs tag wrote them.

Status is done, failed, interrupted, running, killed (the record says that it runs,
and no process does) or unreadable (why stands beside it).

--html writes one page instead, for the owner too (mode 0600), with a table that sorts,
the course of the main figures over the runs of each spec, and links to the reports:
FILE, or OUT/index.html.

Exit codes: 0 done; 2 usage.`

// runsFlags are those of `weir runs`.
type runsFlags struct {
	out, name, status, since string
	tag                      string
	html, asJSON             bool
}

func runsCommand(s streams) *cobra.Command {
	var f runsFlags
	c := &cobra.Command{
		Use:     "runs [--html [FILE]]",
		Short:   "List runs: epsilon, main figures, age and size",
		Long:    runsLong,
		Example: "  weir runs\n  weir runs --name 'adult*' --status done --since 7d\n  weir runs --html",
		Args: func(c *cobra.Command, args []string) error {
			if f.html {
				return optional("FILE")(c, args)
			}
			return noArgsBut("--out FOLDER for another folder of runs, --name NAME for the runs of one spec, --html FILE for a page")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, s, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "runs", "folder of runs")
	flags.StringVar(&f.name, "name", "", "only runs of specs of this name, or pattern with * and ?")
	flags.StringVar(&f.status, "status", "", "only runs of this status")
	flags.StringVar(&f.since, "since", "", "only runs that began since: 12h, 7d, 4w or a date such as 2026-11-21")
	flags.StringVar(&f.tag, "tag", "", "only runs with this tag")
	flags.BoolVar(&f.html, "html", false, "write a page to FILE, or to OUT/index.html")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object")
	c.AddCommand(runsNoteCommand(s), runsTagCommand(s))
	return c
}

func (f *runsFlags) run(c *cobra.Command, s streams, args []string) error {
	now := time.Now()
	filter, err := f.filter(now)
	if err != nil {
		return usage(c, err)
	}
	reg, err := registry()
	if err != nil {
		return err
	}
	headlines := func(kinds map[string]string, metrics map[string]float64) []string {
		return reg.Figures(kinds).Headlines(metrics)
	}
	all, err := runtime.List(c.Context(), diskOf(c, s), f.out, goruntime.GOMAXPROCS(0), headlines)
	if err != nil {
		return err
	}
	runs := differing(filter.Select(all))
	page := ""
	if f.html {
		page = filepath.Join(f.out, "index.html")
		if len(args) > 0 {
			page = args[0]
		}
		if err := pageFits(page); err != nil {
			return err
		}
		if err := writeRunsPage(page, runs, now); err != nil {
			return err
		}
	}
	return f.print(s.out, runs, len(all), page, now)
}

// differing says of each run in which settings the listed runs of its name differ.
func differing(runs []listing.Run) []listing.Run {
	byName := map[string][]int{}
	for i, r := range runs {
		byName[r.Name] = append(byName[r.Name], i)
	}
	for _, of := range byName {
		texts, place := [][]byte{}, map[string]int{} // each spec is read once
		for _, i := range of {
			if _, known := place[runs[i].Spec]; !known {
				place[runs[i].Spec] = len(texts)
				texts = append(texts, []byte(runs[i].Spec))
			}
		}
		varying := words.Varying(texts)
		for _, i := range of {
			for _, s := range varying[place[runs[i].Spec]] {
				runs[i].Differs = append(runs[i].Differs, listing.Setting(s))
			}
		}
	}
	return runs
}

func (f *runsFlags) print(w io.Writer, runs []listing.Run, all int, page string, now time.Time) (err error) {
	switch {
	case f.asJSON:
		return printJSON(w, map[string]any{"out": f.out, "page": page, "runs": runs})
	case f.html:
		_, err = fmt.Fprintln(plainly(w), page)
	case len(runs) == 0 && all == 0:
		_, err = fmt.Fprintf(plainly(w), "no runs in %s\n", f.out)
	case len(runs) == 0:
		_, err = fmt.Fprintf(plainly(w), "none of the %s in %s\n", words.Plural(all, "run"), f.out)
	default:
		_, err = io.WriteString(w, listing.Text(runs, now))
	}
	return err
}

func (f *runsFlags) filter(now time.Time) (listing.Filter, error) {
	states := []string{"done", "failed", "interrupted", "running", listing.Killed, listing.Unreadable}
	if f.status != "" && !slices.Contains(states, f.status) {
		return listing.Filter{}, fmt.Errorf("--status: is %s, must be one of %s", f.status, strings.Join(states, ", "))
	}
	if _, err := path.Match(f.name, ""); err != nil {
		return listing.Filter{}, fmt.Errorf("--name: is %s, must be a name or a pattern with * and ?", f.name)
	}
	filter := listing.Filter{Name: f.name, Status: f.status, Tag: f.tag}
	if f.since == "" {
		return filter, nil
	}
	if at, err := time.ParseInLocation(time.DateOnly, f.since, time.Local); err == nil {
		filter.Since = at
		return filter, nil
	}
	age, err := parseAge(f.since)
	if err != nil {
		return filter, fmt.Errorf("--since: is %s, must be a number of hours, days or weeks such as 12h, 7d or 4w, or a date such as 2026-11-21", f.since)
	}
	filter.Since = now.Add(-age)
	return filter, nil
}

// parseAge reads 12h, 30d or 4w.
func parseAge(text string) (time.Duration, error) {
	units := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	if len(text) < 2 {
		return 0, strconv.ErrSyntax
	}
	unit, known := units[text[len(text)-1:]]
	n, err := strconv.ParseUint(text[:len(text)-1], 10, 16)
	if err != nil || !known {
		return 0, cmp.Or(err, strconv.ErrSyntax)
	}
	return time.Duration(n) * unit, nil
}

// writeRunsPage writes the page for its owner alone; its links start at its folder.
func writeRunsPage(file string, runs []listing.Run, now time.Time) error {
	from, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return err
	}
	text, err := listing.Page(runs, now, func(r listing.Run) string {
		to, err := filepath.Abs(r.Path)
		if err != nil {
			return ""
		}
		to, err = filepath.Rel(from, to)
		if err != nil {
			return ""
		}
		return filepath.ToSlash(to)
	})
	if err != nil {
		return err
	}
	return disk.Disk{}.WriteBytes(file, 0o600, text)
}
