package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/internal/plaintext"
	"weir/pipeline/words"
	"weir/record"
	"weir/record/listing"
	"weir/runtime"
	"weir/runtime/store"
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

// runsFlags are the flags of `weir runs`.
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
			return noArgsBut("--out FOLDER for another folder of runs, --name NAME for the runs of one spec, --html FILE for "+
				"a page")(c, args)
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
	return f.print(s, runs, len(all), page, now)
}

// differing says of each run in which settings the listed runs of its name differ.
func differing(runs []listing.Run) []listing.Run {
	byName := map[string][]int{}
	for i, r := range runs {
		byName[r.Name] = append(byName[r.Name], i)
	}
	for _, list := range byName {
		texts, place := [][]byte{}, map[string]int{} // each spec is read once
		for _, i := range list {
			if _, known := place[runs[i].Spec]; !known {
				place[runs[i].Spec] = len(texts)
				texts = append(texts, []byte(runs[i].Spec))
			}
		}
		varying := words.Varying(texts)
		for _, i := range list {
			for _, s := range varying[place[runs[i].Spec]] {
				runs[i].Differs = append(runs[i].Differs, listing.Setting(s))
			}
		}
	}
	return runs
}

func (f *runsFlags) print(s streams, runs []listing.Run, all int, page string, now time.Time) (err error) {
	w := s.out
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
		_, err = io.WriteString(w, listing.Text(runs, now, s.columns, s.folded))
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
		return filter, fmt.Errorf("--since: is %s, must be a number of hours, days or weeks such as 12h, 7d or 4w, or a "+
			"date such as 2026-11-21", f.since)
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
	source, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return err
	}
	text, err := listing.Page(runs, now, func(r listing.Run) string {
		target, err := filepath.Abs(r.Path)
		if err != nil {
			return ""
		}
		target, err = filepath.Rel(source, target)
		if err != nil {
			return ""
		}
		return filepath.ToSlash(target)
	})
	if err != nil {
		return err
	}
	return disk.Disk{}.WriteBytes(file, 0o600, text)
}

const noteLong = `Write a note on a run, which the list of runs shows below it; another one replaces it,
and an empty one ('') removes it. It stays in the run's internal folder.

` + namesRun + `

Exit codes: 0 done; 2 usage, or no such run.`

const tagLong = `Give a run tags, which the list of runs shows below it and weir runs --tag selects by;
--remove takes them away. They stay in the run's internal folder.

` + namesRun + `

Exit codes: 0 done; 2 usage, or no such run.`

// Lengths that keep a list of runs a list.
const (
	mostOfNote = 1000
	mostOfTag  = 40
)

func runsNoteCommand(s streams) *cobra.Command {
	var place runPlace
	c := &cobra.Command{
		Use:     "note RUN TEXT",
		Short:   "Write a note on a run",
		Long:    noteLong,
		Example: "  weir runs note latest 'tails are right, pairs are not'\n  weir runs note 20261121-052215-74fe39 ''",
		Args:    exactly(2, "RUN TEXT"),
		RunE: func(c *cobra.Command, args []string) error {
			if text := args[1]; !plaintext.Printable(text) || len(text) > mostOfNote {
				return usage(c, fmt.Errorf("TEXT: is %d bytes, must be one line of at most %d, %s", len(text), mostOfNote,
					plaintext.Accepted))
			}
			return place.write(c, s, args[0], func(n *store.Notes) { n.Note = strings.TrimSpace(args[1]) })
		},
	}
	place.add(c, "out")
	return c
}

func runsTagCommand(s streams) *cobra.Command {
	var place runPlace
	var remove bool
	c := &cobra.Command{
		Use:     "tag RUN WORD...",
		Short:   "Give a run tags",
		Long:    tagLong,
		Example: "  weir runs tag latest paper\n  weir runs tag latest paper --remove",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exactly(2, "RUN WORD")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			for _, word := range args[1:] {
				if !isTag(word) {
					return usage(c, fmt.Errorf("WORD: is %q, must be one word of at most %d bytes, %s", word, mostOfTag,
						plaintext.Accepted))
				}
			}
			return place.write(c, s, args[0], func(n *store.Notes) { n.Tags = tagged(n.Tags, args[1:], remove) })
		},
	}
	place.add(c, "out")
	c.Flags().BoolVar(&remove, "remove", false, "take the tags away")
	return c
}

func isTag(word string) bool {
	return word != "" && len(word) <= mostOfTag && plaintext.Printable(word) && !strings.ContainsFunc(word,
		unicode.IsSpace)
}

// tagged returns tags with further ones, or without them; each once, in order.
func tagged(tags, words []string, remove bool) []string {
	tags = slices.DeleteFunc(slices.Clone(tags), func(t string) bool { return slices.Contains(words, t) })
	if !remove {
		tags = append(tags, words...)
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// write changes the notes on the run that an argument names.
func (p runPlace) write(c *cobra.Command, s streams, arg string, change func(*store.Notes)) error {
	dir, err := p.find(arg)
	if err != nil {
		return err
	}
	if _, err := readRun(dir); err != nil {
		return err
	}
	if err := (store.RunDir{Path: dir, Disk: diskOf(c, s)}).ChangeNotes(change); err != nil {
		return err
	}
	n, err := store.ReadNotes(dir)
	if err != nil {
		return err
	}
	words := strings.Join(append(hashed(n.Tags), n.Note), " ")
	_, err = fmt.Fprintln(plainly(s.out), strings.TrimRight(dir+": "+words, " :"))
	return err
}

// hashed marks words as tags.
func hashed(tags []string) (list []string) {
	for _, t := range tags {
		list = append(list, "#"+t)
	}
	return list
}

// runPlace says where runs lie that are named by their ids.
type runPlace struct{ out string }

// add declares the flag that names the folder of runs.
func (p *runPlace) add(c *cobra.Command, flag string) {
	c.Flags().StringVar(&p.out, flag, "runs", "folder of runs, for a run that is named by its id or as latest")
	c.ValidArgsFunction = firstOnly(p.complete)
}

// latestRun is the argument that stands for the newest run that is done.
const latestRun = "latest"

// namesRun is how a run is named, for help texts.
const namesRun = `A run is named by its folder, by its id as weir runs prints it (or its beginning, from the
day on, where that is the beginning of one run alone), or as latest, the newest run that is
done.`

// leastOfID is how many characters of an id name a run at least: its day.
const leastOfID = len("20261121")

// find returns the folder of the run that an argument names: a path, the beginning of an id, or latest. What is none of
// these is returned as it is, for readRun to say so.
func (p runPlace) find(arg string) (string, error) {
	if _, err := os.Lstat(arg); err == nil {
		return arg, nil
	}
	begins := len(arg) >= leastOfID && strings.Trim(arg, "0123456789abcdef-") == ""
	if arg != latestRun && !begins {
		return arg, nil
	}
	runs, err := store.Newest(p.out)
	if err != nil {
		return "", err
	}
	if arg == latestRun {
		return p.latest(runs)
	}
	others := func(dir string) bool { return !strings.HasPrefix(filepath.Base(dir), arg) }
	return p.only(arg, slices.DeleteFunc(runs, others))
}

// all finds the runs that arguments name.
func (p runPlace) all(args []string) ([]string, error) {
	dirs := make([]string, len(args))
	for i, arg := range args {
		dir, err := p.find(arg)
		if err != nil {
			return nil, err
		}
		dirs[i] = dir
	}
	return dirs, nil
}

// model returns the file that an argument names: itself, or the one model that a run has released.
func (p runPlace) model(arg string) (string, error) {
	dir, err := p.find(arg)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: is no such file, must be a released model, or the run that released it: its folder, its "+
			"id, or latest", dir)
	}
	rec, err := store.ReadRecord(dir)
	if err != nil {
		return dir, nil // no run: what it is, the reader of models says
	}
	var models []string
	for _, f := range rec.Release {
		if strings.HasSuffix(f.Path, ".model") {
			models = append(models, filepath.Join(dir, f.Path))
		}
	}
	switch len(models) {
	case 0:
		return "", withCode(exitUsage, fmt.Errorf("%s: the run released no model", dir))
	case 1:
		return models[0], nil
	}
	return "", withCode(exitUsage, fmt.Errorf("%s: the run released %d models, must be named as one of %s", dir,
		len(models),
		strings.Join(models, ", ")))
}

// only returns the one run whose id begins as the argument does.
func (p runPlace) only(arg string, runs []string) (string, error) {
	switch len(runs) {
	case 0:
		return "", withCode(exitUsage, fmt.Errorf("%s: is neither a file nor the beginning of the id of a run in %s, "+
			"must be one that weir runs prints", arg, p.out))
	case 1:
		return runs[0], nil
	}
	return "", withCode(exitUsage, fmt.Errorf("%s: is the beginning of %d ids of runs in %s, must be of one alone, such "+
		"as %s",
		arg, len(runs), p.out, filepath.Base(runs[0])))
}

// latest returns the run that began last of those that are done. Ids count whole seconds, records less.
func (p runPlace) latest(runs []string) (string, error) {
	best, found := "", store.Summary{}
	for _, dir := range runs {
		if best != "" && filepath.Base(dir)[:15] != filepath.Base(best)[:15] {
			break
		}
		s, err := store.ReadSummary(dir)
		if err == nil && s.Status == record.Done && (best == "" || s.Started.After(found.Started)) {
			best, found = dir, s
		}
	}
	if best == "" {
		return "", withCode(exitUsage, fmt.Errorf("%s: no run in %s is done", latestRun, p.out))
	}
	return best, nil
}

// readRun reads the record of the run in a folder. OUT/NAME holds the
// runs of a spec and is named by mistake most often, so one of them is proposed.
func readRun(dir string) (*record.Run, error) {
	rec, err := store.ReadRecord(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			err = withCode(exitUsage, fmt.Errorf("%s: is not a run: %w", dir, err))
		}
		return rec, err
	}
	expected := "the folder of one, which holds run.json: OUT/NAME/ID; or its id, or latest"
	if runs, err := store.Runs(dir); err == nil && len(runs) > 0 {
		expected += ", such as " + runs[len(runs)-1]
	}
	return nil, withCode(exitUsage, fmt.Errorf("%s: is not a run, must be %s", dir, expected))
}
