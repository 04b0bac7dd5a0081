package quote

import (
	"fmt"
	"slices"
	"strings"

	"weir/pipeline/words"
	"weir/record"
	"weir/runtime/book"
)

// DueText lists paid stages; what one line says of many runs stands once. Of an experiment
// it counts what is reused, and where that would be more lines than a screen has, it sums up
// by stage: each charge, and which run has made it, stands in --json. why has what makes a stage a new charge, below it.
func DueText(dues []book.Due, why map[string]Because) string {
	const screen = 24
	text := dueLines(dues, why)
	if strings.Count(text, "\n") > screen && dues[0].Run > 0 {
		return dueSums(dues)
	}
	return text
}

// dueSums is a line a stage, in the order in which they come.
func dueSums(dues []book.Due) string {
	var b strings.Builder
	for len(dues) > 0 {
		stage := dues[0].Stage
		other := func(d book.Due) bool { return d.Stage != stage }
		of := slices.DeleteFunc(slices.Clone(dues), other)
		dues = slices.DeleteFunc(slices.Clone(dues), func(d book.Due) bool { return !other(d) })
		var proven []float64
		charged, reused := 0, 0
		for _, d := range of {
			if d.Epsilon != nil {
				proven = append(proven, *d.Epsilon)
			}
			if d.From == "" {
				charged += max(1, d.Charges)
			} else {
				reused++
			}
		}
		fmt.Fprintf(&b, "  %-16s %s, %d reused or continued", stage, words.Plural(charged, "new charge"), reused)
		if len(proven) > 0 {
			fmt.Fprintf(&b, "; epsilon %s to %s alone", record.Bound(slices.Min(proven)), record.Bound(slices.Max(proven)))
		}
		if n := len(of) - len(proven); n > 0 {
			fmt.Fprintf(&b, "; %d without a proof", n)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func dueLines(dues []book.Due, why map[string]Because) string {
	var b strings.Builder
	times, order := map[string]int{}, []string{}
	for _, d := range dues {
		line := fmt.Sprintf("  %-16s %s, epsilon %s alone", d.Stage, newCharges(d), epsilonOr(d))
		switch {
		case d.Unfinished && d.Run > 0:
			line = fmt.Sprintf("  %-16s paid in another run, epsilon %s alone, to be continued", d.Stage, epsilonOr(d))
		case d.Unfinished:
			line = fmt.Sprintf("  %-16s paid in run %s, to be continued", d.Stage, d.From)
		case d.From != "" && d.Run > 0:
			line = fmt.Sprintf("  %-16s reused, epsilon %s alone, charged in another run", d.Stage, epsilonOr(d))
		case d.From != "":
			line = fmt.Sprintf("  %-16s reused, charged in run %s", d.Stage, d.From)
		}
		if b, known := why[d.Stage]; known && d.From == "" {
			line += "\n" + strings.TrimRight(words.Wrap(strings.Repeat(" ", 19)+b.Line()+"\n"), "\n")
		}
		if times[line]++; times[line] == 1 {
			order = append(order, line)
		}
	}
	for _, line := range order {
		if n := times[line]; n > 1 {
			line += fmt.Sprintf(" (%d times)", n)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// newCharges says how many charges a stage makes, where it makes several, so that the list adds up to what the ledger gets.
func newCharges(d book.Due) string {
	if d.Charges > 1 {
		return words.Plural(d.Charges, "new charge")
	}
	return "new charge"
}

// epsilonOr is the proven epsilon; where there is none, it says so and what the paper has.
func epsilonOr(d book.Due) string {
	switch {
	case d.Epsilon != nil:
		return record.Bound(*d.Epsilon)
	case d.Published != nil:
		return "none proven, " + record.Bound(*d.Published) + " by the paper's own accounting,"
	}
	return "none proven"
}
