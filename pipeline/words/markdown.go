package words

import (
	"fmt"
	"strings"

	"weir/internal/plaintext"
)

// Markdown returns the report for a pull request on GitHub. Figures against real rows are left
// out: what is posted there leaves the owner's hands.
func (r Differences) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### weir diff: %s → %s\n", code(r.A.Name), code(r.B.Name))
	switch {
	case r.Ledger != nil:
		markdownLedger(&b, *r.Ledger)
	case !r.Differ:
		b.WriteString("\nNo setting and no line of the bill differs.\n")
	default:
		markdownChanges(&b, "Settings", r.Settings)
		markdownChanges(&b, "Plan: what follows from the settings and the kinds", r.Follows)
	}
	if r.Totals != nil {
		markdownBill(&b, r)
	}
	if r.Results != nil {
		b.WriteString("\nFigures against real rows are private and left out; weir diff shows them to the owner as text.\n")
	}
	for _, note := range r.Notes {
		b.WriteString("\nNote: " + code(strings.TrimSpace(note)) + "\n")
	}
	return b.String()
}

func markdownChanges(b *strings.Builder, head string, all []Change) {
	if len(all) == 0 {
		return
	}
	rows := make([][]string, len(all))
	for i, c := range all {
		before, after := c.sides()
		switch c.What {
		case Added:
			before = ""
		case Removed:
			after = ""
		case Reordered:
			before, after = "", ""
		}
		rows[i] = []string{c.What, c.Path, before, after}
	}
	markdownTable(b, head, []string{"", "setting", "before", "after"}, rows)
}

func markdownBill(b *strings.Builder, r Differences) {
	head := "Bill"
	if len(r.Bill) == 0 {
		head = "Bill: the same"
	}
	markdownTable(b, head, []string{"stage", "figure", "before", "after"}, billRows(r))
	fmt.Fprintf(b, "\nAt delta %s, %s, %s before; at delta %s, %s, %s after.\n",
		code(string(spelled(string(r.Totals.A.Delta)))), code(r.Totals.A.Adjacency), code(r.Totals.A.Accountant),
		code(string(spelled(string(r.Totals.B.Delta)))), code(r.Totals.B.Adjacency), code(r.Totals.B.Accountant))
}

func markdownLedger(b *strings.Builder, m LedgerMoves) {
	fmt.Fprintf(b, "\nLedger: %s. %d charges in both.\n", code(m.Relation), m.Both)
	var rows [][]string
	for _, c := range m.OnlyA {
		rows = append(rows, []string{"removed", c.words()})
	}
	for _, c := range m.OnlyB {
		rows = append(rows, []string{"added", c.words()})
	}
	if len(rows) > 0 {
		markdownTable(b, "Charges", []string{"", "charge"}, rows)
	}
	fmt.Fprintf(b, "\nBefore: %s\n\nAfter: %s\n", code(m.A.words()), code(m.B.words()))
}

// markdownTable writes cells as code, but for the first word of a change.
func markdownTable(b *strings.Builder, head string, columns []string, rows [][]string) {
	fmt.Fprintf(b, "\n#### %s\n\n| %s |\n|%s\n", head, strings.Join(columns, " | "),
		strings.Repeat(" --- |", len(columns)))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			if cells[i] = code(cell); columns[i] == "" {
				cells[i] = cell
			}
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
}

// code returns text in a <code> element, in which GitHub makes no links and calls nobody. What
// Markdown or HTML would read is spelled as a character reference.
func code(s string) string {
	if s == "" {
		return ""
	}
	var b strings.Builder
	for _, r := range oneLine(plaintext.Text(s)) {
		if strings.ContainsRune("&<>|`*_[]()!#~\\\"'$@/\t", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return "<code>" + strings.ReplaceAll(b.String(), "www.", "www&#46;") + "</code>"
}
