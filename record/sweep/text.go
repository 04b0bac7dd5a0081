package sweep

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"weir/privacy"
)

// intervalNote says what the intervals are; every table says it.
const intervalNote = "± is half the 95 % interval of the mean over repeats (Student's t); of one run there is none.\n" +
	"It covers noise and public randomness, which differ between repeats, not the draw of the real rows."

// pairsNote says what the differences are.
const pairsNote = "Differences pair runs of one repeat, which share the public seed; * marks intervals that leave 0\n" +
	"out, each on its own."

// Print writes the bill, the headline metrics of each row and their differences, in lines of at
// most width characters where names allow it.
func (t *Table) Print(w io.Writer, width int) error {
	var b strings.Builder
	left, rows := t.leading()
	for _, metrics := range t.fitting(width, left, rows) {
		t.block(&b, left, rows, metrics)
	}
	if len(t.Headline) > 0 {
		b.WriteString(intervalNote + "\n")
	}
	t.printDifferences(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// leading are the columns that name a row, and their texts.
func (t *Table) leading() (names []string, rows [][]string) {
	if len(t.Cells) > 0 {
		names = append(names, "CELL")
	}
	for _, p := range t.Grid {
		names = append(names, strings.ToUpper(Short(p)))
	}
	of := ""
	if t.StepPath() != "" {
		of = " (ALL STEPS)" // not of the step that is drawn from
	}
	published := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Published != nil })
	if published {
		names = append(names, "PUBLISHED"+of)
	}
	names = append(names, "PROVEN"+of, "RUNS")
	for _, r := range t.Rows {
		var row []string
		if len(t.Cells) > 0 {
			row = append(row, r.Cell)
		}
		for _, p := range t.Grid {
			row = append(row, oneLine(r.Settings[p]))
		}
		if published {
			row = append(row, bound(r.Published))
		}
		rows = append(rows, append(row, bound(r.Proven), fmt.Sprint(r.Runs)))
	}
	return names, rows
}

// fitting cuts the headline metrics into as few blocks as fit the width.
func (t *Table) fitting(width int, names []string, rows [][]string) [][]string {
	room := width
	for i, name := range names {
		widest := utf8.RuneCountInString(name)
		for _, r := range rows {
			widest = max(widest, utf8.RuneCountInString(r[i]))
		}
		room -= widest + 2
	}
	blocks, used := [][]string{nil}, 0
	for _, m := range t.Headline {
		stage, name, _ := strings.Cut(m, ".")
		need := max(utf8.RuneCountInString(stage), utf8.RuneCountInString(name), len("-0.0000 ±0.0000 (99)")) + 2
		last := len(blocks) - 1
		if used+need > room && len(blocks[last]) > 0 {
			blocks, used, last = append(blocks, nil), 0, last+1
		}
		blocks[last], used = append(blocks[last], m), used+need
	}
	return blocks
}

func (t *Table) block(b *strings.Builder, names []string, rows [][]string, metrics []string) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	over, under := make([]string, len(names)), append([]string(nil), names...)
	for _, m := range metrics {
		stage, name, _ := strings.Cut(m, ".")
		over, under = append(over, stage), append(under, name)
	}
	if len(metrics) > 0 {
		fmt.Fprintln(w, strings.Join(over, "\t"))
	}
	fmt.Fprintln(w, strings.Join(under, "\t"))
	for i, r := range rows {
		line := append([]string(nil), r...)
		for _, m := range metrics {
			line = append(line, t.Rows[i].Metrics[m].Words(t.Rows[i].Runs))
		}
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	w.Flush()
	if len(metrics) > 0 {
		b.WriteString("\n")
	}
}

// Words is the mean with half its interval, and how many have a value where that is not all.
func (s Summary) Words(of int) string {
	if s.Mean == nil {
		return "–"
	}
	text := fmt.Sprintf("%.4f", *s.Mean)
	if s.High != nil {
		text += fmt.Sprintf(" ±%.4f", s.Half())
	}
	if s.N != of {
		text += fmt.Sprintf(" (%d)", s.N)
	}
	return text
}

func (t *Table) printDifferences(b *strings.Builder) {
	list := t.HeadlineDifferences()
	if len(list) == 0 {
		return
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUNS OF\tAGAINST\tMETRIC\tDIFFERENCE\tPAIRS")
	for _, d := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", t.Label(Row{Cell: d.Cell, Settings: d.Settings}), d.Against, d.Metric, d.words(), d.N)
	}
	w.Flush()
	b.WriteString(pairsNote + "\n")
}

// HeadlineDifferences are those in the headline metrics.
func (t *Table) HeadlineDifferences() []Difference {
	var list []Difference
	for _, d := range t.Differences {
		for _, m := range t.Headline {
			if d.Metric == m {
				list = append(list, d)
			}
		}
	}
	return list
}

func (d Difference) words() string {
	text := d.Words(d.N)
	if *d.Mean > 0 {
		text = "+" + text
	}
	if d.Clear() {
		text += " *"
	}
	return text
}

func bound(x *float64) string {
	if x == nil {
		return "none"
	}
	return privacy.Bound(*x)
}
