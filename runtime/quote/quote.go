// Package quote words what runs would charge to the ledgers of their datasets, and what makes a stage a new charge.
package quote

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
	"weir/runtime/book"
)

// Text says what runs would charge to each ledger, what they would not charge again,
// and how the ledger would stand.
func Text(quotes []book.Quote, why map[string]Because) string {
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
func unproven(q book.Quote) bool {
	return slices.ContainsFunc(q.Dues, func(d book.Due) bool { return d.From == "" && d.Epsilon == nil })
}

// balanceLine is how the ledger stands now and after the charges.
func balanceLine(q book.Quote) string {
	at := fmt.Sprintf(" at delta %g (%s)\n", q.Spent.Delta, q.Spent.Accountant)
	s := "  spent so far     " + totalWords(q.Spent.Total) + at
	if q.Charges() {
		s += fmt.Sprintf("  then             %s, after %s\n", totalWords(q.After.Total), words.Plural(q.Bill, "new charge"))
	}
	if unproven(q) {
		s += "  afterwards       no run with a budget of the dataset (dataset.budget) is admitted: nothing bounds what all runs tell together\n"
	}
	if q.Cap == nil {
		return s + "  budget           none: nothing bounds what all runs spend together (dataset.budget)\n"
	}
	s += fmt.Sprintf("  budget           epsilon %.6g", *q.Cap)
	switch left := *q.Cap - q.After.Epsilon; {
	case left >= 0:
		s += fmt.Sprintf("; %s remains%s\n", privacy.Room(left), Room(q))
	case math.IsInf(left, -1):
		s += ": refused, " + q.After.Reason + "\n"
	default:
		s += ": exceeded\n"
	}
	if q.After.Epsilon > 0 {
		s += "  A budget holds for runs chosen after looking at earlier ones: its numbers are not sums of the runs' own epsilons.\n"
	}
	return s
}

// Room says how often what is charged fits once more, which epsilons that remain do not tell.
func Room(q book.Quote) string {
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
	if math.IsInf(t.Epsilon, 1) {
		return "without a proven bound"
	}
	return "epsilon " + record.Bound(t.Epsilon)
}

// HasHistory reports whether there is anything to say of a ledger: a new one without a budget has
// no history.
func HasHistory(quotes []book.Quote) bool {
	for _, q := range quotes {
		if q.Before > 0 || q.Cap != nil {
			return true
		}
	}
	return false
}
