package compare

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"weir/internal/plain"
)

// Tone is what a line of text is painted for.
type Tone int

// Tones of lines.
const (
	Heading Tone = iota
	Plus
	Minus
	Other
)

// Text is the report for a terminal. paint colours a line, which holds nothing that a
// terminal obeys.
func Text(r Report, paint func(Tone, string) string) string {
	t := texter{paint: paint}
	t.line(Heading, fmt.Sprintf("A  %s (%s)\nB  %s (%s)", oneLine(r.A.Name), r.A.Kind, oneLine(r.B.Name), r.B.Kind))
	if r.Ledger != nil {
		t.ledger(*r.Ledger)
		return t.b.String()
	}
	t.changes("SETTINGS", r.Settings, "the same")
	if len(r.Follows) > 0 {
		t.changes("PLAN  what follows from the settings and the kinds", r.Follows, "")
	}
	t.bill(r)
	t.results(r.Results)
	for _, note := range r.Notes {
		t.line(Other, "note: "+note)
	}
	return t.b.String()
}

type texter struct {
	b     strings.Builder
	paint func(Tone, string) string
}

func (t *texter) line(tone Tone, text string) {
	for _, l := range strings.Split(strings.TrimRight(plain.Text(text), "\n"), "\n") {
		t.b.WriteString(t.paint(tone, strings.TrimRight(l, " ")) + "\n")
	}
}

func (t *texter) changes(head string, all []Change, none string) {
	t.b.WriteString("\n")
	if len(all) == 0 {
		t.line(Heading, head+"  "+none)
		return
	}
	t.line(Heading, head)
	for _, c := range all {
		tone, mark := c.mark()
		t.line(tone, "  "+mark+" "+oneLine(c.Line()))
	}
}

func (c Change) mark() (Tone, string) {
	switch c.What {
	case Added:
		return Plus, "+"
	case Removed:
		return Minus, "-"
	}
	return Other, "~"
}

// bill always says the totals; of the stages, what moved.
func (t *texter) bill(r Report) {
	if r.Totals == nil {
		return
	}
	t.b.WriteString("\n")
	if len(r.Bill) == 0 && r.Totals.A.Experiment.words() == r.Totals.B.Experiment.words() {
		a := r.Totals.A
		t.line(Heading, fmt.Sprintf("BILL  the same: epsilon (proven) %s%s, at delta %s, %s, %s", bound(a.Proven), publishedWords(a.Published), spelled(string(a.Delta)), a.Adjacency, a.Accountant))
		return
	}
	t.table([]string{"BILL", "", "A", "B"}, billRows(r))
}

// billRows are the lines of the bill that moved, below the totals.
func billRows(r Report) (rows [][]string) {
	a, b := r.Totals.A, r.Totals.B
	rows = append(rows, []string{"total", "epsilon_proven", bound(a.Proven), bound(b.Proven)})
	if a.Published != nil || b.Published != nil {
		rows = append(rows, []string{"total", "epsilon_published", bound(a.Published), bound(b.Published)})
	}
	if a.Experiment != nil || b.Experiment != nil {
		rows = append(rows, []string{"experiment", "epsilon_proven", a.Experiment.words(), b.Experiment.words()})
	}
	for _, c := range r.Bill {
		stage, figure := c.where()
		if stage == "total" && strings.HasPrefix(figure, "epsilon_") {
			continue
		}
		before, after := c.sides()
		switch c.What {
		case Added:
			before = "-"
		case Removed:
			after = "-"
		}
		rows = append(rows, []string{stage, figure, narrow(before), narrow(after)})
	}
	return rows
}

// publishedWords is the epsilon of a paper's accounting behind the proven one; "" where there is none.
func publishedWords(x *float64) string {
	if x == nil {
		return ""
	}
	return ", (published) " + bound(x)
}

// narrow keeps the columns of a bill side by side.
func narrow(s string) string {
	if r := []rune(s); len(r) > 44 {
		return string(r[:41]) + "..."
	}
	return s
}

// table is a heading and rows in columns.
func (t *texter) table(head []string, rows [][]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.ReplaceAll(oneLine(cell), "\t", `\t`)
		}
		fmt.Fprintln(w, "  "+strings.Join(cells, "\t"))
	}
	w.Flush()
	first, rest, _ := strings.Cut(b.String(), "\n")
	t.line(Heading, first)
	t.line(Other, rest)
}

func (t *texter) results(all []Figure) {
	if all == nil {
		return
	}
	t.b.WriteString("\n")
	t.line(Heading, "RESULTS  "+private)
	told, rest := listing(all)
	rows, open := make([][]string, len(told)), 0
	for i, f := range told {
		rows[i] = []string{f.Name, shown(f.Before, f.BeforeI), shown(f.After, f.AfterI), f.moved(), f.verdict()}
		if f.Verdict == NoSpread {
			open++
		}
	}
	t.table([]string{"  FIGURE", "A", "B", "MOVED", "VERDICT"}, rows)
	if open > 0 {
		t.line(Other, "  "+openWords)
	}
	if open < len(told) {
		t.line(Other, "  "+spreadWords)
	}
	if more := counted(rest); more != "" {
		t.line(Other, "  not listed (of single columns or learners, or equal): "+more+"; --json has them.")
	}
}

func (t *texter) ledger(m LedgerMoves) {
	t.b.WriteString("\n")
	t.line(Heading, "LEDGER  "+oneLine(m.Relation))
	t.line(Other, fmt.Sprintf("  charges in both: %d; in A alone: %d; in B alone: %d", m.Both, len(m.OnlyA), len(m.OnlyB)))
	for _, c := range m.OnlyA {
		t.line(Minus, "  - "+oneLine(c.words()))
	}
	for _, c := range m.OnlyB {
		t.line(Plus, "  + "+oneLine(c.words()))
	}
	t.line(Other, "  A: "+m.A.words()+"\n  B: "+m.B.words())
}

func (c Charge) words() string {
	return fmt.Sprintf("line %d  %s  %s  %s.%s  %s", c.Line, c.Time, c.Run, c.Stage, c.Name, c.Event)
}

func (l LedgerTotal) words() string {
	s := fmt.Sprintf("epsilon %s at delta %g for one %s (%s), %d charges, if all were fixed in advance (%s)", bound(l.Epsilon), l.Delta, l.Unit, l.Adjacency, l.Charges, l.Accountant)
	if l.Left != nil {
		s += fmt.Sprintf("; %s of the budget left", roomOf(*l.Left))
	}
	return s
}

// oneLine keeps names that others chose in their line.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }
