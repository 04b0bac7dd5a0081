package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Points are the combinations of the grid and of levels, in words without the cell, in order.
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

// printedKey is how a spec names a combination beside what a paper prints for it: its values.
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
	note := "Mean ± standard deviation over repeats (not the half interval of the tables below), of " + strings.Join(t.Figures, " / ")
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

// noted is how many runs have a note on a figure, and the notes, each once.
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

// notes are those of all rows, each once.
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

// absent are the figures that no run has, as those whose names are misspelt.
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

// entry is one field of the matrix.
func (t *Table) entry(cell, point string) string {
	at := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Cell == cell && t.point(r) == point })
	if at < 0 {
		return "–"
	}
	var words []string
	for _, m := range t.Figures {
		words = append(words, spread(t.Rows[at].Metrics[m]))
	}
	text := strings.Join(words, " / ")
	if noted, _ := t.Rows[at].noted(); noted > 0 {
		text += fmt.Sprintf(" †%d", noted)
	}
	if printed := t.Printed[cell][t.printedKey(t.Rows[at])]; len(printed) > 0 {
		words = words[:0]
		for _, x := range printed {
			words = append(words, fmt.Sprintf("%.3f", x))
		}
		text += " (" + strings.Join(words, " / ") + ")"
	}
	return text
}

// spread is the mean with the deviation of the sample; of one run there is none.
func spread(s Summary) string {
	switch {
	case s.Mean == nil:
		return "–"
	case s.SD == nil:
		return fmt.Sprintf("%.3f", *s.Mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", *s.Mean, *s.SD)
}
