package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"weir/pipeline/words"
	"weir/record/listing"
	"weir/runtime/collect"
)

const gcLong = `Remove from a folder of runs what has served its purpose, and say what that frees: item
by item, with sizes, and in all. Looked at is what was not used for --older (30d):

  cached outputs    computed again when a run needs them, at no charge
  unfinished runs   interrupted, failed or killed ones that have paid nothing

and only where it is asked for:

  --release  releases of finished runs. The record, the figures and the noise key stay:
             running the spec again makes the release again at no charge, with the same
             build of weir
  --paid     what costs a new charge to have again: cached outputs that were paid, which
             runs of other specs could reuse; unfinished runs that have paid, which
             running their spec again would continue; with --release, releases that
             this build of weir or a run without its key cannot make again

Never removed are ledgers, owner files, the index of datasets, records of finished runs,
keys of runs that stay, what a process works on, and what weir did not name. Links are not
followed.

In a terminal it asks before it removes; elsewhere, and with --json, it removes nothing
without --yes, and says so. It can be stopped at any moment: what is left is whole, and
the next gc takes the rest.

Exit codes: 0 done, or nothing was asked to be removed; 1 something could not be removed;
2 usage; 130 interrupted.`

// gcFlags are the flags of `weir gc`.
type gcFlags struct {
	out, older                         string
	dryRun, release, paid, yes, asJSON bool
}

func gcCommand(s streams) *cobra.Command {
	var f gcFlags
	c := &cobra.Command{
		Use:     "gc",
		Short:   "Remove old caches and unfinished runs, and say what that frees",
		Long:    gcLong,
		Example: "  weir gc --dry-run\n  weir gc --older 7d --yes\n  weir gc --out /secure/runs --older 90d --release",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c, s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "runs", "folder of runs")
	flags.StringVar(&f.older, "older", "30d", "how long it was not used: 12h, 30d or 4w")
	flags.BoolVar(&f.dryRun, "dry-run", false, "remove nothing, only say what would be")
	flags.BoolVar(&f.release, "release", false, "remove releases of finished runs too")
	flags.BoolVar(&f.paid, "paid", false, "remove also what costs a new charge to have again")
	flags.BoolVar(&f.yes, "yes", false, "do not ask")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

func (f *gcFlags) run(c *cobra.Command, s streams) error {
	age, err := parseAge(f.older)
	if err != nil {
		return usage(c, fmt.Errorf("--older: is %s, must be a number of hours, days or weeks, such as 12h, 30d or 4w",
			f.older))
	}
	now := time.Now()
	found, err := collect.Find(collect.Rules{Disk: diskOf(c, s), Out: f.out, Before: now.Add(-age), Release: f.release,
		Paid: f.paid, Build: s.build()})
	if err != nil {
		return err
	}
	if !f.asJSON {
		if err := printGarbage(plainly(s.out), found, now, f.older); err != nil {
			return err
		}
	}
	var removed []collect.Item
	sure, why := f.sure(s, found)
	if sure {
		err = found.Remove(c.Context(), func(i collect.Item) { removed = append(removed, i) })
	}
	return errorOr(err, f.done(s.out, found, removed, sure, why))
}

// errorOr returns the first of two errors that is one.
func errorOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// sure reports whether to remove, and else why not.
func (f *gcFlags) sure(s streams, found *collect.Found) (bool, string) {
	n := len(found.Removable())
	switch {
	case n == 0:
		return false, ""
	case f.dryRun:
		return false, "nothing was removed (--dry-run)"
	case f.yes:
		return true, ""
	case f.asJSON || !terminal(s.in):
		return false, "nothing was removed: there is no terminal to ask; --yes removes"
	}
	fmt.Fprintf(s.err, "Remove %s? [y/N] ", words.Plural(n, "item"))
	if !agreed(s.in) {
		return false, "nothing was removed"
	}
	return true, ""
}

func terminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// agreed reads a line, and takes y and yes for consent.
func agreed(r io.Reader) bool {
	line, _ := bufio.NewReader(r).ReadString('\n')
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}

// printGarbage lists what can be removed, then what stays though it is as old.
func printGarbage(w io.Writer, found *collect.Found, now time.Time, older string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	items := found.Removable()
	for _, i := range items {
		note := ""
		if i.Costs {
			note = "\tto have it again is a new charge"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s%s\n", i.What, listing.Size(i.Bytes), listing.Age(now.Sub(i.Used)), i.Path, note)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if kept := len(found.Items) - len(items); kept > 0 {
		fmt.Fprintf(w, "%s not used for %s either, but kept:\n", words.Plural(kept, "item"), older)
	}
	printKept(w, found.Items)
	_, err := fmt.Fprintf(w, "in all %s to remove, which frees %s\n", words.Plural(len(items), "item"),
		listing.Size(collect.Bytes(items)))
	return err
}

// printKept lists what stays; items of one sort that stay for one reason are a line
// together, so that the question below is still seen.
func printKept(w io.Writer, items []collect.Item) {
	same := map[string][]collect.Item{}
	var order []string
	for _, i := range items {
		if key := i.What + ": " + i.Kept; i.Kept != "" {
			if same[key] == nil {
				order = append(order, key)
			}
			same[key] = append(same[key], i)
		}
	}
	for _, key := range order {
		items, more := same[key], ""
		if n := len(items) - 1; n > 0 {
			more = fmt.Sprintf(" and %d more (--json lists them)", n)
		}
		fmt.Fprintf(w, "  %s, %s, %s%s: %s\n", items[0].What, listing.Size(collect.Bytes(items)), items[0].Path, more,
			items[0].Kept)
	}
}

func (f *gcFlags) done(w io.Writer, found *collect.Found, removed []collect.Item, sure bool, why string) error {
	if f.asJSON {
		return printJSON(w, map[string]any{"out": f.out, "items": append([]collect.Item{}, found.Items...),
			"removable_bytes": collect.Bytes(found.Removable()),
			"removed":         append([]collect.Item{}, removed...), "removed_bytes": collect.Bytes(removed), "note": why})
	}
	if sure {
		why = fmt.Sprintf("removed %s, %s freed", words.Plural(len(removed), "item"), listing.Size(collect.Bytes(removed)))
	}
	if why == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, why)
	return err
}
