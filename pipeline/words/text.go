package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"weir/internal/plaintext"
	"weir/privacy"
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

// Text returns the report for a terminal with that many columns; 0 means none. paint colours a line, which holds no
// control characters.
func (r Differences) Text(paint func(Tone, string) string, columns int) string {
	t := texter{paint: paint, columns: columns}
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
	b       strings.Builder
	paint   func(Tone, string) string
	columns int // of the terminal; 0: none
}

func (t *texter) line(tone Tone, text string) {
	if t.columns > 0 {
		text = WrapTo(text, t.columns)
	}
	for _, l := range strings.Split(strings.TrimRight(plaintext.Text(text), "\n"), "\n") {
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
func (t *texter) bill(r Differences) {
	if r.Totals == nil {
		return
	}
	t.b.WriteString("\n")
	if len(r.Bill) == 0 && r.Totals.A.Experiment.words() == r.Totals.B.Experiment.words() {
		a := r.Totals.A
		t.line(Heading, fmt.Sprintf("BILL  the same: epsilon (proven) %s%s, at delta %s, %s, %s", bound(a.Proven),
			publishedWords(a.Published), spelled(string(a.Delta)), a.Adjacency, a.Accountant))
		return
	}
	t.table([]string{"BILL", "", "A", "B"}, billRows(r))
}

// billRows returns the lines of the bill that moved, below the totals.
func billRows(r Differences) (rows [][]string) {
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

// publishedWords returns the epsilon of a paper's accounting behind the proven one; "" where there is none.
func publishedWords(x *float64) string {
	if x == nil {
		return ""
	}
	return ", (published) " + bound(x)
}

// narrow cuts a cell of a bill to 44 characters, so that its columns stay aligned.
func narrow(s string) string {
	if r := []rune(s); len(r) > 44 {
		return string(r[:41]) + "..."
	}
	return s
}

// table writes a heading and rows in columns. On a terminal without room for them each row is a sentence, which begins
// with the cells in front of A and B.
func (t *texter) table(head []string, rows [][]string) {
	all := [][]string{head}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.ReplaceAll(oneLine(cell), "\t", `\t`)
		}
		cells[0] = "  " + cells[0]
		all = append(all, cells)
	}
	if a := slices.Index(head, "A"); !Readable(all, t.columns) {
		t.line(Heading, strings.TrimSpace(strings.Join(head[:a], " "))+": A -> B")
		for _, cells := range all[1:] {
			t.line(Other, strings.Join(cells[:a], " ")+": "+cells[a]+" -> "+strings.Join(cells[a+1:], "  "))
		}
		return
	}
	first, rest, _ := strings.Cut(Table(all, t.columns), "\n")
	t.line(Heading, first)
	t.line(Other, rest)
}

func (t *texter) results(all []Figure) {
	if all == nil {
		return
	}
	t.b.WriteString("\n")
	t.line(Heading, "RESULTS  "+private)
	listed, rest := listing(all)
	rows, open := make([][]string, len(listed)), 0
	for i, f := range listed {
		rows[i] = []string{f.Name, shown(f.Before, f.BeforeI), shown(f.After, f.AfterI), f.moved(), f.verdict()}
		if f.Verdict == NoSpread {
			open++
		}
	}
	t.table([]string{"  FIGURE", "A", "B", "MOVED", "VERDICT"}, rows)
	if open > 0 {
		t.line(Other, "  "+openWords)
	}
	if open < len(listed) {
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
	s := fmt.Sprintf("epsilon %s at delta %g for one %s (%s), %d charges, if all were fixed in advance (%s)",
		bound(l.Epsilon), l.Delta, l.Unit, l.Adjacency, l.Charges, l.Accountant)
	if l.Left != nil {
		s += fmt.Sprintf("; %s of the budget left", roomOf(*l.Left))
	}
	return s
}

// oneLine keeps names that others chose in their line.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

// longest is how many characters of a value are shown; --json has all of it.
const longest = 72

// word returns a value in one line.
func word(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case number:
		return string(v)
	case string:
		return quoted(v)
	case []any:
		return inBrackets(v)
	case *mapping:
		parts := make([]string, len(v.keys))
		for i, k := range v.keys {
			parts[i] = quoted(k) + ": " + word(v.values[k])
		}
		return cut("{" + strings.Join(parts, ", ") + "}")
	}
	return fmt.Sprint(v)
}

// quoted returns a text as it is where it can be taken for nothing else.
func quoted(s string) string {
	if s == "" || s == "none" || !plaintext.Printable(s) || strings.TrimSpace(s) != s {
		return cut(strconv.Quote(s))
	}
	return cut(s)
}

func cut(s string) string {
	if r := []rune(s); len(r) > longest {
		return string(r[:longest-3]) + "..."
	}
	return s
}

func inBrackets(list []any) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = word(v)
	}
	if text := "[" + strings.Join(parts, ", ") + "]"; len(text) <= longest {
		return text
	}
	return cut(fmt.Sprintf("%d values: %s", len(list), strings.Join(parts, ", ")))
}

// sides returns the values of a change. Of a long list, the second says what came and went;
// of two numbers, as many digits as tell them apart.
func (c Change) sides() (before, after string) {
	a, one := c.Before.([]any)
	b, other := c.After.([]any)
	if one && other && max(len(word(a)), len(word(b))) >= longest-10 {
		return fmt.Sprintf("%d values", len(a)), fmt.Sprintf("%d values", len(b)) + cameAndWent(a, b)
	}
	x, one := c.Before.(number)
	y, other := c.After.(number)
	if one && other && short(c.Path, x) != short(c.Path, y) {
		return short(c.Path, x), short(c.Path, y)
	}
	before, after = word(c.Before), word(c.After)
	if x, is := c.Before.(number); is && !other {
		before = short(c.Path, x)
	}
	if y, is := c.After.(number); is && !one {
		after = short(c.Path, y)
	}
	return before, after
}

// short returns a number of a bill with five digits: an epsilon rounded up, as bounds are.
// Settings are shown as they were written.
func short(path string, n number) string {
	f, err := strconv.ParseFloat(string(n), 64)
	last := path[strings.LastIndex(path, ".")+1:]
	switch {
	case err != nil || len(n) <= 8:
		return string(n)
	case strings.HasPrefix(last, "epsilon_"):
		return privacy.Bound(f)
	case last == "noise_multiplier" || last == "share":
		return fmt.Sprintf("%.5g", f)
	}
	return string(n)
}

// cameAndWent names what only one of two lists holds, a few of each.
func cameAndWent(a, b []any) string {
	text := ""
	for _, way := range []struct {
		what      string
		of, else_ []any
	}{{"added", b, a}, {"removed", a, b}} {
		if only := onlyIn(way.of, way.else_); len(only) > 0 {
			text += fmt.Sprintf("; %d %s: %s", len(only), way.what, few(only))
		}
	}
	if text == "" {
		return ", in another order"
	}
	return text
}

func onlyIn(values, other []any) (words []string) {
	known := map[string]bool{}
	for _, v := range other {
		known[word(v)] = true
	}
	for _, v := range values {
		if !known[word(v)] {
			words = append(words, word(v))
		}
	}
	return words
}

func few(words []string) string {
	const most = 5
	if len(words) > most {
		return strings.Join(words[:most], ", ") + fmt.Sprintf(" and %d more", len(words)-most)
	}
	return strings.Join(words, ", ")
}

// Line words a change in one line.
func (c Change) Line() string {
	before, after := c.sides()
	switch c.What {
	case Added:
		return c.Path + ": " + after
	case Removed:
		return c.Path + ": " + before
	case Renamed:
		return c.Path + ": is called " + after + " now"
	case Reordered:
		return c.Path + ": in another order"
	}
	return c.Path + ": " + before + " -> " + after
}

// where splits the path of a line of the bill into its stage and its figure.
func (c Change) where() (stage, figure string) {
	stage, figure, _ = strings.Cut(c.Path, ".")
	if figure == "" {
		figure = "bill"
	}
	return stage, figure
}

// moved returns the difference of two figures with its sign.
func (f Figure) moved() string {
	if f.Before == nil || f.After == nil {
		return ""
	}
	return fmt.Sprintf("%+.4f", *f.After-*f.Before)
}

// verdict words a verdict; a figure without one is left open, and what that means stands below the table, once.
func (f Figure) verdict() string {
	if f.Verdict == NoSpread {
		return ""
	}
	if f.Spread != "" {
		return f.Verdict + " (" + f.Spread + ")"
	}
	return f.Verdict
}

func shown(v *float64, i *[2]float64) string {
	switch {
	case v == nil:
		return "-"
	case i != nil:
		return fmt.Sprintf("%.4f (%.4f to %.4f)", *v, i[0], i[1])
	}
	return fmt.Sprintf("%.4f", *v)
}

// bound returns an epsilon, rounded up, or none.
func bound(x *float64) string {
	if x == nil {
		return "none"
	}
	return privacy.Bound(*x)
}

// listing returns the figures that people read first: figures of whole tables that moved. The
// others are counted by their verdict.
func listing(all []Figure) (listed []Figure, rest map[string]int) {
	rest = map[string]int{}
	for _, f := range all {
		if strings.Count(f.Name, ".") < 2 && f.Verdict != Unchanged {
			listed = append(listed, f)
		} else {
			rest[f.Verdict]++
		}
	}
	return listed, rest
}

// counted words the figures that are not listed.
func counted(rest map[string]int) string {
	var parts []string
	for _, verdict := range []string{Beyond, Within, NoSpread, OneSide, Unchanged} {
		words := verdict
		if verdict == NoSpread {
			words = "without a verdict"
		}
		if n := rest[verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words))
		}
	}
	return strings.Join(parts, ", ")
}

// private heads the figures against real rows, wherever they are shown.
const private = "PRIVATE: computed from real rows; for the owner of the data, not for a pull request or a release"

// spreadWords says what the verdicts mean.
const spreadWords = "Beyond: the intervals of 95 % of the two runs (over test rows) do not meet; or, where a figure " +
	"has none, it moved more than 95 % of the moves between repeats; so of twenty that noise alone moved, one is beyond."

// openWords says what a figure without a verdict is.
const openWords = "Without a verdict: no spread known, since the figure has neither an interval nor repeats that " +
	"differ; weir run --fresh or experiment.repeats make some."

// roomOf returns what is left, rounded down.
func roomOf(x float64) string { return privacy.Room(x) }
