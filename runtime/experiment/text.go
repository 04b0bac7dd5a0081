package experiment

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"weir/privacy"
)

// ofIntervals says what the intervals are; every table says it.
const ofIntervals = "± is half the 95 % interval of the mean over repeats (Student's t); of one run there is none.\n" +
	"It covers noise and public randomness, which differ between repeats, not the draw of the real rows."

// pairsNote says what the differences are.
const pairsNote = "Differences pair runs of one repeat, which share the public seed; * marks intervals that leave 0\n" +
	"out, each on its own."

// intervalNote says what the intervals are, and of which repeats where these are a part of the experiment.
func (t *Table) intervalNote() string {
	if part := t.Part(); part != "" {
		return ofIntervals + "\n" + part
	}
	return ofIntervals
}

// Part says which repeats the runs are of an experiment that is run in parts; "" where the first one is there.
func (t *Table) Part() string {
	var repeats []int
	for _, r := range t.Runs {
		repeats = append(repeats, r.Repeat)
	}
	if len(repeats) == 0 || slices.Min(repeats) <= 1 {
		return ""
	}
	first, last := slices.Min(repeats), slices.Max(repeats)
	if first == last {
		return fmt.Sprintf("A part of the experiment: repeat %d alone.", first)
	}
	return fmt.Sprintf("A part of the experiment: repeats %d to %d.", first, last)
}

// Print writes the bill, the headline metrics of each row and their differences, in lines of at
// most width characters where names allow it.
func (t *Table) Print(w io.Writer, width int) error {
	var b strings.Builder
	left, rows := t.leading()
	for _, metrics := range t.fitting(width, left, rows) {
		t.block(&b, left, rows, metrics)
	}
	if len(t.Headline) > 0 {
		b.WriteString(t.intervalNote() + "\n")
	}
	t.printDifferences(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// leading returns the columns that name a row, and their texts.
func (t *Table) leading() (names []string, rows [][]string) {
	if len(t.Cells) > 0 {
		names = append(names, "CELL")
	}
	for _, p := range t.Grid {
		names = append(names, strings.ToUpper(Short(p)))
	}
	name := ""
	if t.StepPath() != "" {
		name = " (ALL STEPS)" // not of the step that is drawn from
	}
	published := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Published != nil })
	if published {
		names = append(names, "PUBLISHED"+name)
	}
	names = append(names, "PROVEN"+name, "RUNS")
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
	axes, parents := make([]string, len(names)), append([]string(nil), names...)
	for _, m := range metrics {
		stage, name, _ := strings.Cut(m, ".")
		axes, parents = append(axes, stage), append(parents, name)
	}
	if len(metrics) > 0 {
		fmt.Fprintln(w, strings.Join(axes, "\t"))
	}
	fmt.Fprintln(w, strings.Join(parents, "\t"))
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

// Words returns the mean with half its interval, and how many have a value where that is not all.
func (s Summary) Words(total int) string {
	if s.Mean == nil {
		return "–"
	}
	text := fmt.Sprintf("%.4f", *s.Mean)
	if s.High != nil {
		text += fmt.Sprintf(" ±%.4f", s.Half())
	}
	if s.N != total {
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", t.Label(Row{Cell: d.Cell, Settings: d.Settings}), d.Against, d.Metric,
			d.words(), d.N)
	}
	w.Flush()
	b.WriteString(pairsNote + "\n")
}

// HeadlineDifferences returns those in the headline metrics.
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

// Points returns the combinations of the grid and of levels, in words without the cell, in order.
func (t *Table) Points() []string {
	var list []string
	for _, r := range t.Rows {
		if p := t.point(r); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func (t *Table) point(r Row) string { return t.label(Row{Settings: r.Settings}, t.Grid) }

// printedKey returns how a spec names a combination beside what a paper prints for it: its values.
func (t *Table) printedKey(r Row) string {
	values := make([]string, len(t.Grid))
	for i, p := range t.Grid {
		values[i] = r.Settings[p]
	}
	return strings.Join(values, " ")
}

// Matrix has a line for each cell and a column for each combination, with the figures that the experiment
// is about: mean and deviation, and what a paper prints. It is empty where the experiment names none.
func (t *Table) Matrix() (head []string, lines [][]string) {
	if len(t.Figures) == 0 {
		return nil, nil
	}
	points := t.Points()
	for _, cell := range t.cellsOrOne() {
		line := []string{cell}
		for _, p := range points {
			line = append(line, t.entry(cell, p))
		}
		lines = append(lines, line)
	}
	head = append([]string{"cell"}, points...)
	if len(t.Grid) == 0 {
		head[1] = "all runs"
	}
	return head, lines
}

// MatrixNote says what stands in the matrix.
func (t *Table) MatrixNote() string {
	note := "Mean ± standard deviation over repeats (not the half interval of the tables below), of " +
		strings.Join(t.Figures, " / ")
	if len(t.Printed) > 0 {
		note += "; in brackets what the paper prints"
	}
	if absent := t.absent(); len(absent) > 0 {
		note += "; no run has " + strings.Join(absent, ", ") + ": table.csv has the names of all metrics"
	}
	if why := t.notes(); len(why) > 0 {
		note += "; †2 is of two runs with a note: " + strings.Join(why, "; ")
	}
	return note + "."
}

// noted returns how many runs have a note on a figure, and the notes, each once.
func (r Row) noted() (runs int, notes []string) {
	for _, run := range r.of {
		for _, name := range slices.Sorted(maps.Keys(run.Notes)) {
			if why := run.Notes[name]; !slices.Contains(notes, why) {
				notes = append(notes, why)
			}
		}
		if len(run.Notes) > 0 {
			runs++
		}
	}
	return runs, notes
}

// notes returns the notes of all rows, each once.
func (t *Table) notes() (all []string) {
	for _, r := range t.Rows {
		_, notes := r.noted()
		for _, why := range notes {
			if !slices.Contains(all, why) {
				all = append(all, why)
			}
		}
	}
	return all
}

func (t *Table) matrix(b *strings.Builder) {
	head, lines := t.Matrix()
	pipes(b, head, lines)
	b.WriteString("\n" + inert(t.MatrixNote()) + "\n")
}

// absent returns the figures that no run has, as those whose names are misspelt.
func (t *Table) absent() (list []string) {
	for _, m := range t.Figures {
		if !slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Metrics[m].Mean != nil }) {
			list = append(list, m)
		}
	}
	return list
}

func (t *Table) cellsOrOne() []string {
	if len(t.Cells) == 0 {
		return []string{""}
	}
	return t.Cells
}

// entry returns one field of the matrix.
func (t *Table) entry(cell, point string) string {
	i := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Cell == cell && t.point(r) == point })
	if i < 0 {
		return "–"
	}
	var words []string
	for _, m := range t.Figures {
		words = append(words, spread(t.Rows[i].Metrics[m]))
	}
	text := strings.Join(words, " / ")
	if noted, _ := t.Rows[i].noted(); noted > 0 {
		text += fmt.Sprintf(" †%d", noted)
	}
	if printed := t.Printed[cell][t.printedKey(t.Rows[i])]; len(printed) > 0 {
		words = words[:0]
		for _, x := range printed {
			words = append(words, fmt.Sprintf("%.3f", x))
		}
		text += " (" + strings.Join(words, " / ") + ")"
	}
	return text
}

// spread returns the mean with the deviation of the sample; of one run there is none.
func spread(s Summary) string {
	switch {
	case s.Mean == nil:
		return "–"
	case s.SD == nil:
		return fmt.Sprintf("%.3f", *s.Mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", *s.Mean, *s.SD)
}

// Label names a row: its cell and its values of the grid.
func (t *Table) Label(r Row) string { return t.label(r, t.Grid) }

// StepPath returns the setting of the grid that draws from models as they were at some step of a
// training; "" where there is none. Their epsilons are the epsilons of all steps.
func (t *Table) StepPath() string {
	for _, p := range t.Grid {
		if strings.HasPrefix(p, "stages.") && Short(p) == "step" {
			return p
		}
	}
	return ""
}

// NumberPath returns the setting of the grid, beside epsilon, that curves can be drawn over: the first that
// has two numbers, the setting of steps before others; "" where there is none.
func (t *Table) NumberPath() string {
	for _, p := range append([]string{t.StepPath()}, t.Grid...) {
		found := map[float64]bool{}
		for _, r := range t.Rows {
			if x, is := NumberOf(r, p); is && p != epsilonPath {
				found[x] = true
			}
		}
		if len(found) > 1 {
			return p
		}
	}
	return ""
}

// NumberOf returns the value of a setting of a row, if it is a number.
func NumberOf(r Row, path string) (float64, bool) {
	x, err := strconv.ParseFloat(r.Settings[path], 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// Line names what a row has in common with those that differ from it alone in the setting at
// over; "" is epsilon.
func (t *Table) Line(r Row, axis string) string {
	if axis == "" {
		axis = epsilonPath
	}
	var paths []string
	for _, p := range t.Grid {
		if p != axis {
			paths = append(paths, p)
		}
	}
	if text := t.label(r, paths); text != "" {
		return text
	}
	return t.Name
}

func (t *Table) label(r Row, paths []string) string {
	var words []string
	if r.Cell != "" {
		words = append(words, r.Cell)
	}
	for _, p := range paths {
		words = append(words, Short(p)+" "+oneLine(r.Settings[p]))
	}
	return strings.Join(words, ", ")
}

// oneLine keeps a text that a spec chose in its cell.
func oneLine(s string) string { return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s) }

// Short returns the last part of a path.
func Short(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
