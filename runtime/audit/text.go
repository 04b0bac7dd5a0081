package audit

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"weir/pipeline/words"
)

// Sound reports whether nothing was found.
func (r *Report) Sound() bool { return len(r.Faults) == 0 }

// Text words a report: each mechanism, what was found, and what that is worth. No row is in it.
func (r *Report) Text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "stage\tkind\tmechanism\tcompared on\tgreatest move\tverdict")
	for _, line := range r.Stages {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", line.Stage, line.Kind, orDash(line.Mechanism), r.compared(line),
			line.reached(), line.verdict())
	}
	w.Flush()
	known := map[string]bool{}
	for _, line := range r.Stages {
		if why := line.Stage + ": " + line.NoClaim; line.NoClaim != "" && !known[why] {
			known[why] = true
			fmt.Fprintf(&b, "\n%s", words.Wrap("no claim on "+why+"\n"))
		}
	}
	fmt.Fprintf(&b, "\n%s", words.Wrap(r.summary()))
	for _, f := range r.Faults {
		where := f.Stage
		if where == "" {
			where = "the run"
		}
		fmt.Fprintf(&b, "\n%s", words.Wrap(fmt.Sprintf("FOUND  %s: %s\n       %s\n", where, f.Text,
			strings.Join(f.Seen, "; "))))
	}
	return b.String()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (r *Report) compared(l Line) string {
	if l.Mechanism == "" {
		return "-"
	}
	return fmt.Sprintf("%d of %d", l.Compared, r.Neighbours)
}

func (l Line) reached() string {
	if l.Reached == nil {
		return "-"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", *l.Reached), "0") + " of 1"
}

func (l Line) verdict() string {
	switch {
	case l.Faults > 0:
		return words.Plural(l.Faults, "fault")
	case l.NoClaim != "":
		return "nothing is claimed here"
	case l.Mechanism != "" && l.Compared == 0:
		return "not compared: draws fell to other rows"
	case l.Reached != nil && *l.Reached == 0:
		return "no neighbour moved its inputs"
	}
	return "no fault found"
}

func (r *Report) summary() string {
	pairs := ""
	if len(r.Pairs) > 0 {
		pairs = fmt.Sprintf(" and %s of runs (%s)", words.Plural(len(r.Pairs), "pair"), strings.Join(r.Pairs, "; "))
	}
	head := fmt.Sprintf("Tried: %s%s, in %s.", words.Plural(r.Neighbours, "neighbour"), pairs, words.Plural(r.Runs, "run"))
	if r.Asked != r.Neighbours {
		head += fmt.Sprintf(" Asked for were %d: it tries more where none moves a mechanism, and fewer where a unit of "+
			"nobody has no name.", r.Asked)
	}
	if len(r.Blind) > 0 {
		head += fmt.Sprintf(" NOT COMPARED was what goes into %s: nothing is said of it.", strings.Join(r.Blind, ", "))
	}
	return head + " This is evidence on these, not a proof: what is proven of a kind, and how, stands beside its code. " +
		"Nothing was charged.\n"
}
