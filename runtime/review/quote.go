package review

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/payment"
)

// QuoteText says what runs would charge to each ledger, what they would not charge again,
// and how the ledger would stand.
func QuoteText(quotes []payment.Quote, why map[string]Because) string {
	var b strings.Builder
	for _, q := range quotes {
		fmt.Fprintf(&b, "LEDGER  %s\n", q.Ledger)
		b.WriteString(DueText(q.Dues, why))
		b.WriteString(balanceLine(q))
		if q.Note != "" {
			b.WriteString("  note             " + q.Note + "\n")
		}
	}
	return plaintext.Text(b.String())
}

// unproven tells whether a charge is about to be made of which nothing is proven.
func unproven(q payment.Quote) bool {
	return slices.ContainsFunc(q.Dues, func(d payment.Due) bool { return d.From == "" && d.Epsilon == nil })
}

// balanceLine returns how the ledger stands now and after the charges.
func balanceLine(q payment.Quote) string {
	terms := fmt.Sprintf(" at delta %g (%s)\n", q.Spent.Delta, q.Spent.Accountant)
	if q.Spent.Unmeasured {
		terms = " (" + q.Spent.Accountant + ")\n"
	}
	s := "  spent so far     " + totalWords(q.Spent.Total) + terms
	if q.Fixed != nil {
		s += fmt.Sprintf("                   %s at delta %g (%s), if all charges were fixed in advance\n",
			totalWords(*q.Fixed), q.Fixed.Delta, q.Fixed.Accountant)
	}
	if q.Charges() {
		s += fmt.Sprintf("  then             %s, after %s\n", totalWords(q.After.Total), words.Plural(q.Bill, "new charge"))
	}
	if unproven(q) {
		s += "  afterwards       no run with a budget of the dataset (dataset.budget) is admitted: nothing bounds what all " +
			"runs tell together\n"
	}
	switch {
	case q.Uncapped:
		return s + "  budget           none, and none can be set: no filter has a measure for all charges of this ledger\n"
	case q.UncappedAfter:
		s += "  afterwards       no budget (dataset.budget) can be set on this dataset, for good: no filter has a measure " +
			"for all its charges\n"
	}
	if q.Cap == nil {
		return s + "  budget           none: nothing bounds what all runs spend together (dataset.budget)\n"
	}
	s += fmt.Sprintf("  budget           epsilon %.6g", *q.Cap)
	switch left := *q.Cap - q.After.Epsilon; {
	case left >= 0:
		s += fmt.Sprintf("; %s remains%s\n", privacy.Room(left), RoomText(q))
	case math.IsInf(left, -1):
		s += ": refused, " + q.After.Reason + "\n"
	default:
		s += ": exceeded\n"
	}
	if q.After.Epsilon > 0 && !q.After.Unmeasured {
		s += "  A budget holds for runs chosen after looking at earlier ones: its numbers are not sums of the runs' own " +
			"epsilons.\n"
	}
	return s
}

// RoomText says how often what is charged fits once more, which epsilons that remain do not tell.
func RoomText(q payment.Quote) string {
	switch {
	case q.Room == nil:
		return ""
	case *q.Room >= ledger.MostAlike:
		return fmt.Sprintf(", room for %d more such charges and beyond", *q.Room)
	case q.Bill > 1:
		return ", room for " + words.Plural(*q.Room, "more such bill")
	}
	return ", room for " + words.Plural(*q.Room, "more such charge")
}

func totalWords(t ledger.Total) string {
	switch {
	case t.Unmeasured:
		return "no sum, since the filter has no measure for a charge"
	case math.IsInf(t.Epsilon, 1):
		return "without a proven bound"
	}
	return "epsilon " + record.Bound(t.Epsilon)
}

// HasHistory reports whether there is anything to say of a ledger: a new one without a budget has no history, unless
// the first charges would rule out a budget for good.
func HasHistory(quotes []payment.Quote) bool {
	for _, q := range quotes {
		if q.Before > 0 || q.Cap != nil || q.UncappedAfter {
			return true
		}
	}
	return false
}

// DueText lists paid stages; what one line says of many runs stands once. Of an experiment
// it counts what is reused, and where that would be more lines than a screen has, it sums up
// by stage: each charge, and which run has made it, stands in --json. why has what makes a stage a new charge, below
// it.
func DueText(dues []payment.Due, why map[string]Because) string {
	const screen = 24
	text := dueLines(dues, why)
	if strings.Count(text, "\n") > screen && dues[0].Run > 0 {
		return dueSums(dues)
	}
	return text
}

// dueSums returns a line a stage, in the order in which they come.
func dueSums(dues []payment.Due) string {
	var b strings.Builder
	for len(dues) > 0 {
		stage := dues[0].Stage
		other := func(d payment.Due) bool { return d.Stage != stage }
		stageDues := slices.DeleteFunc(slices.Clone(dues), other)
		dues = slices.DeleteFunc(slices.Clone(dues), func(d payment.Due) bool { return !other(d) })
		var proven []float64
		charged, reused := 0, 0
		for _, d := range stageDues {
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
		if n := len(stageDues) - len(proven); n > 0 {
			fmt.Fprintf(&b, "; %d without a proof", n)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func dueLines(dues []payment.Due, why map[string]Because) string {
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

// newCharges says how many charges a stage makes, where it makes several, so that the list adds up to what the ledger
// gets.
func newCharges(d payment.Due) string {
	if d.Charges > 1 {
		return words.Plural(d.Charges, "new charge")
	}
	return "new charge"
}

// epsilonOr returns the proven epsilon; where there is none, it says so and what the paper has.
func epsilonOr(d payment.Due) string {
	switch {
	case d.Epsilon != nil:
		return record.Bound(*d.Epsilon)
	case d.Published != nil:
		return "none proven, " + record.Bound(*d.Published) + " by the paper's own accounting,"
	}
	return "none proven"
}
