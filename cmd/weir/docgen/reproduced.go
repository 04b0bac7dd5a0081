package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
)

const reproducedHead = `<!-- Written by go generate ./stages from specs/results; edit those files, not this page. -->

# What papers print and what comes out

Each table and figure of the papers of [papers.md](papers.md), beside what its spec gives: mean ± standard
deviation of the runs, their number in brackets. *Reproduced* is within two standard errors of the difference,
where the spread of the paper's runs is the printed one (the thesis of GANAD prints variances to a thousandth; .000 is
taken as .00025), ours if none is printed, and a paper that does not say how many runs it has is taken to have one. It
is no proof that two are equal: the wider runs spread, the more they hide. Fewer than five runs of ours have no verdict,
nor have runs that all give one value where the paper prints no spread, such as figures of the real rows.
Runs of one experiment share the split of the rows: the deviation is of noise and training alone, and no verdict
counts what another split would change. A printed value may be of other learners or of a chosen run: the note says
so. What was learnt on the way is in [results.md](results.md).

A spec is run, and its figures are taken into ` + "`specs/results/NAME.csv`" + `, by

    weir run specs:NAME --set dataset.file=FILE --set experiment.repeats=10 --out runs
    go run ./cmd/weir/docgen reproduce -commit "$(git rev-parse --short HEAD)" runs
    go generate ./stages

where the head of the spec names its files. The run goes on where it was stopped; fewer repeats, or more, are
taken alike. So is a part of the experiment, one cell at one point of its grid (` + "`weir render specs:NAME`" + ` prints
both; levels are set as the grid is):

    weir run specs:NAME --set dataset.file=FILE --set 'experiment.cells={CELL: {...}}' \
      --set experiment.baseline=CELL --set 'experiment.printed={}' --set 'experiment.grid={PATH: [VALUE]}'

Some of the repeats are a part too: the last five of ten, on another machine or where the folders of the first five are
gone, have by

    weir run specs:NAME --set dataset.file=FILE --set experiment.repeats=10 --set experiment.first_repeat=6 --out runs

the public seeds that they have among the ten. Of a folder of runs the newest sweep of a spec is taken, so each part is
taken before the next is run there, or has a folder of its own; runs that were taken before stay. A repeat that two
parts hold is two runs with one public seed; a spec of which the best point of each repeat is taken refuses it.

Where a stage whose figures stand on no line here, or are not to be taken, needs most of the time, it can be left out
(` + "`--set stages.prediction=off`" + `).
`

// reproducedPage compares what papers print with what their specs gave.
func reproducedPage(*pipeline.Registry) ([]byte, error) {
	lines, err := Lines()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(reproducedHead)
	b.WriteString("\n" + counted(lines))
	for _, source := range runs(lines, func(l Line) string { return l.Source }) {
		fmt.Fprintf(&b, "\n## %s\n", source[0].Source)
		for _, place := range runs(source, func(l Line) string { return l.Place }) {
			fmt.Fprintf(&b, "\n### %s\n\n", upper(place[0].Place))
			writePlace(&b, place)
		}
	}
	return []byte(b.String()), nil
}

// counted says how many lines with a printed value have each verdict.
func counted(lines []Line) string {
	var words []string
	all := 0
	for _, verdict := range []string{Reproduced, BetterThan, WorseThan, Differs} {
		n := 0
		for _, l := range lines {
			if l.Verdict() == verdict {
				n++
			}
		}
		words = append(words, fmt.Sprintf("%d %s", n, verdict))
	}
	none, few, same, coarse := 0, 0, 0, 0
	for _, l := range lines {
		if math.IsNaN(l.Printed) {
			continue
		}
		all++
		switch {
		case l.Runs == 0:
			none++
		case l.Runs < Enough:
			few++
		case l.Verdict() == NoVerdict:
			same++
		case l.Coarse():
			coarse++
		}
	}
	return fmt.Sprintf("Of %d lines with a printed value (one that two specs run, or that is printed twice, has two): "+
		"%s, %d with fewer runs than a verdict needs, %d whose runs all give one value, %d not run with the present "+
		"specs. For %d of those reproduced two standard errors are more than half of the printed value.\n",
		all, strings.Join(words, ", "), few, same, none, coarse)
}

// runs cuts lines where a key changes.
func runs(lines []Line, key func(Line) string) (parts [][]Line) {
	for start := 0; start < len(lines); {
		end := start
		for end < len(lines) && key(lines[end]) == key(lines[start]) {
			end++
		}
		parts, start = append(parts, lines[start:end]), end
	}
	return parts
}

// writePlace writes single values as one table, and values of the experiment of a spec as a matrix for each.
func writePlace(b *strings.Builder, lines []Line) {
	var single []Line
	for _, same := range runs(lines, func(l Line) string { return l.Spec + "\x00" + l.What }) {
		if len(same) > 1 {
			writeMatrix(b, same)
		} else {
			single = append(single, same...)
		}
	}
	if len(single) == 0 {
		return
	}
	b.WriteString("| what | printed | ours | verdict | spec, note |\n| --- | --- | --- | --- | --- |\n")
	for _, l := range single {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", l.What, figure(l.Printed), ours(l), l.Verdict(), noted(l))
	}
}

// writeMatrix has a line for each cell, and a column for each figure and point of the grid.
func writeMatrix(b *strings.Builder, lines []Line) {
	fmt.Fprintf(b, "%s, `specs:%s`: ours (printed) verdict.", upper(lines[0].What), lines[0].Spec)
	if note := lines[0].Note; note != "" {
		b.WriteString(" " + upper(note) + ".")
	}
	b.WriteString("\n\n| |")
	var columns, cells []string
	for _, l := range lines {
		if c := column(l); !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
		if !slices.Contains(cells, l.Cell) {
			cells = append(cells, l.Cell)
		}
	}
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(columns)) + "\n")
	for _, cell := range cells {
		fmt.Fprintf(b, "| %s |", cell)
		for _, c := range columns {
			i := slices.IndexFunc(lines, func(l Line) bool { return l.Cell == cell && column(l) == c })
			if i < 0 {
				b.WriteString(" |")
				continue
			}
			l := lines[i]
			fmt.Fprintf(b, " %s (%s) %s |", ours(l), figure(l.Printed), strings.TrimPrefix(l.Verdict(), NoVerdict))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

func column(l Line) string {
	name := l.Figure[strings.LastIndexByte(l.Figure, '.')+1:]
	return strings.TrimSpace(strings.ReplaceAll(name, "_", " ") + ", " + cmp.Or(l.At, "all"))
}

func ours(l Line) string {
	switch {
	case l.Runs == 0:
		return NoVerdict
	case l.Runs == 1:
		return figure(l.Mean) + " [1]"
	}
	return fmt.Sprintf("%s ± %s [%d]", figure(l.Mean), figure(l.Spread), l.Runs)
}

func noted(l Line) string {
	spec := ""
	if l.Spec != "" {
		spec = "`" + l.Spec + "`"
	}
	return strings.Trim(spec+"; "+l.Note, "; ")
}

// figure returns a number to three digits behind the point, of great ones fewer.
func figure(x float64) string {
	switch {
	case math.IsNaN(x):
		return NoVerdict
	case math.Abs(x) >= 1000:
		return fmt.Sprintf("%.0f", x)
	case math.Abs(x) >= 10:
		return fmt.Sprintf("%.1f", x)
	case math.Abs(x) < .01 && x != 0:
		return fmt.Sprintf("%.5f", x)
	}
	return fmt.Sprintf("%.3f", x)
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
