package main

import (
	"fmt"
	"slices"

	"weir/pipeline/domain"
	"weir/privacy"
)

// pair is two tables that differ in one privacy unit.
type pair struct {
	one, other [][]string
	what       string // of the change
	sameUnit   bool   // no unit has another name: draws by the hash of a unit fall alike
	declared   bool   // the row count is said to be public
}

// neighbours draws a table and changes one unit of it, more often than not at its
// end: there all others keep their place, and with it the coins of a sample.
func (c chance) neighbours(w *world) pair {
	common := c.table(w, pick(c, 0, 1, c.within(0, 12), c.within(5, 60), c.within(50, 300)))
	name := "one more"
	if w.unit >= 0 {
		name = c.unitName(w.columns[w.unit], -1)
	}
	mine := c.unitRows(w, name)
	p := pair{sameUnit: true, declared: c.yes(0.6)}
	place, pos := pick(c, "at the end", "at the end", "at the end", "first", "in the middle", "scattered"), 0
	switch place {
	case "at the end":
		pos = len(common)
	case "in the middle":
		pos = c.IntN(len(common) + 1)
	}
	p.one = insert(common, mine, pos, place == "scattered")
	if w.adjacency == privacy.AddRemove {
		p.other, p.what = common, fmt.Sprintf("a unit of %s %s is added or removed", count(len(mine), "rows"), place)
		return c.turned(p)
	}
	theirs := c.replacement(w, &p, name, len(mine))
	p.other = insert(common, theirs, pos, place == "scattered")
	p.what = fmt.Sprintf("a unit of %s %s is replaced by one of %s, its name kept: %t", count(len(mine), "rows"), place,
		count(len(theirs), "rows"), p.sameUnit)
	return c.turned(p)
}

func (c chance) turned(p pair) pair {
	if c.yes(0.5) {
		p.one, p.other = p.other, p.one
	}
	return p
}

// insert puts rows into others, all at one place or every second row.
func insert(rows, more [][]string, pos int, scattered bool) [][]string {
	if !scattered {
		return slices.Insert(slices.Clone(rows), pos, more...)
	}
	out := slices.Clone(rows)
	for i, r := range more {
		out = slices.Insert(out, min(len(out), pos+2*i), r)
	}
	return out
}

// replacement returns the rows of another unit, as many where the row count is public.
func (c chance) replacement(w *world, p *pair, name string, n int) [][]string {
	if w.unit < 0 {
		return [][]string{c.row(w.columns, pick(c, styles()...))}
	}
	if c.yes(0.4) {
		name, p.sameUnit = c.unitName(w.columns[w.unit], -2), false
	}
	rows := c.unitRows(w, name)
	for p.declared && name != "" && len(rows) < n {
		rows = append(rows, rows[len(rows)-1])
	}
	if p.declared && name != "" {
		rows = rows[:n]
	}
	return rows
}

// unitRows returns the rows of one unit, at times more than max_rows of them. A row
// without a unit is a unit of its own.
func (c chance) unitRows(w *world, name string) [][]string {
	n := 1
	if w.unit >= 0 && name != "" {
		n = c.within(1, w.maxRows+2)
	}
	dest := pick(c, styles()...)
	var rows [][]string
	for range n {
		r := c.row(w.columns, dest)
		if w.unit >= 0 {
			r[w.unit] = name
		}
		rows = append(rows, r)
		if c.yes(0.3) {
			dest = pick(c, styles()...)
		}
	}
	return rows
}

// unitName returns the name of unit i; -1 and -2 are the ones that change.
func (c chance) unitName(col domain.Column, i int) string {
	switch {
	case col.Nullable && c.yes(0.15):
		return ""
	case col.Type == domain.Integer:
		return fmt.Sprint(50 + i)
	case col.Type == domain.Categorical:
		return fmt.Sprint("u", (i+90)%90)
	}
	return fmt.Sprint("person ", i)
}

// table draws about n rows, of units that may have more than max_rows of them.
func (c chance) table(w *world, n int) [][]string {
	var rows [][]string
	for i := 0; len(rows) < n; i++ {
		if w.unit < 0 {
			rows = append(rows, c.row(w.columns, pick(c, typical, typical, typical, typical, low, high, absent)))
			continue
		}
		name := c.unitName(w.columns[w.unit], i%60)
		rows = append(rows, c.unitRows(w, name)...)
	}
	if c.yes(0.5) {
		c.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	}
	return rows
}
