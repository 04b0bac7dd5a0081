package main

import (
	"fmt"
	"strings"

	"weir/record"
)

// text is the report for a terminal or the log of a CI.
func (r budgetReport) text() string {
	var b strings.Builder
	if len(r.Datasets) == 0 {
		fmt.Fprintf(&b, "no spec, now or in %s\n", r.Against)
	}
	for _, d := range r.Datasets {
		d.write(&b, r.Against)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

func (d budgetDataset) write(b *strings.Builder, against string) {
	fmt.Fprintf(b, "%s\n", d.Dataset)
	for _, s := range d.Specs {
		fmt.Fprintf(b, "  %-10s %s: %s in %s, %s now\n", s.Change, s.Spec, plural(s.Before, "run"), against, plural(s.Now, "run"))
	}
	if d.Ledger != "" {
		fmt.Fprintf(b, "  ledger     %s: %s\n", d.Ledger, plural(d.Charges, "charge"))
	}
	if len(d.Budgets) == 0 {
		fmt.Fprintf(b, "  no budget in %s: nothing bounds what is spent\n", against)
	}
	for _, c := range d.Budgets {
		c.write(b, against)
	}
	for _, l := range d.Loosened {
		fmt.Fprintf(b, "  LOOSER     %s; the budget that counts is that of %s\n", l, against)
	}
}

func (c budgetCap) write(b *strings.Builder, against string) {
	fmt.Fprintf(b, "  budget     epsilon %g at delta %g for one %s, %s, filter %s (%s in %s)\n", c.Epsilon, c.Delta, c.Unit, c.Adjacency, c.Filter, c.Spec, against)
	fmt.Fprintf(b, "  spending   %s spent; with all that is planned %s in %s, %s now\n", boundOr(c.Spent), boundOr(c.Before), against, boundOr(c.Now))
	switch {
	case c.Over && c.Grown:
		fmt.Fprintf(b, "  OVER       planned spending grows beyond the budget%s\n", behind(c.Why))
	case c.Over:
		fmt.Fprintf(b, "  over       but no more than in %s%s\n", against, behind(c.Why))
	default:
		fmt.Fprintf(b, "  within\n")
	}
}

func behind(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// boundOr is an epsilon, rounded up, or that there is none.
func boundOr(x *float64) string {
	if x == nil {
		return "no finite bound"
	}
	return record.Bound(*x)
}
