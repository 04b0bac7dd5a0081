package graphical

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// Labels are how cells of a column are written for people, and read: a category by its
// name, several as a JSON list, null for missing; a number, [18, 24] with the least and
// the greatest value, or [0.25, 0.5) where values have no step; dates alike, as
// 2019-04-30; (missing).

// missingLabel stands for missing values alone.
const missingLabel = "(missing)"

// group is the cells that a label names: of a number a range of neighbours, or missing
// values; of a category any.
type group struct {
	lo, hi int   // of a number: hi is the first beyond
	point  int   // of a number: only this point of the one cell, counted from 1; 0: all
	list   []int // of a category: ascending
}

func (g group) key() string { return fmt.Sprint(g.lo, g.hi, g.point, g.list) }

// size is how many cells there are.
func (g group) size() int { return max(g.hi-g.lo, len(g.list)) }

// first is the least cell.
func (g group) first() int {
	if g.list != nil {
		return g.list[0]
	}
	return g.lo
}

// order is the place of a group along its axis: by cells, then by points.
func (g group) order() int { return g.first()<<40 + g.point }

// labels writes and reads those of a column.
type labels struct {
	column domain.Column
	grid   columns.Grid
}

// of is the label of a group.
func (l labels) of(g group) string {
	switch {
	case g.size() == 1 && g.first() == l.grid.Values():
		return missingLabel
	case l.grid.Coded():
		return l.categories(g.list)
	case g.point > 0:
		return l.number(l.grid.Point(g.lo, g.point-1))
	}
	least, _ := l.grid.Interval(g.lo)
	_, greatest := l.grid.Interval(g.hi - 1)
	switch {
	case least == greatest:
		return l.number(least)
	case l.open() && g.hi < l.grid.Values():
		return "[" + l.number(least) + ", " + l.number(greatest) + ")"
	}
	return "[" + l.number(least) + ", " + l.number(greatest) + "]"
}

// open reports whether cells are stretches of a line, which end where the next begins.
func (l labels) open() bool {
	if l.grid.Values() < 2 {
		return false
	}
	_, greatest := l.grid.Interval(0)
	least, _ := l.grid.Interval(1)
	return greatest == least
}

func (l labels) categories(cells []int) string {
	if name := l.name(cells[0]); len(cells) == 1 && name != nil && plainLabel(*name) {
		return *name
	}
	list := make([]*string, len(cells))
	for i, cell := range cells {
		list[i] = l.name(cell)
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // text is always JSON
	}
	return string(text)
}

// name is a category's; nil is missing.
func (l labels) name(cell int) *string {
	if cell >= l.grid.Values() {
		return nil
	}
	if cell >= len(l.column.Categories) {
		return &[]string{"no", "yes"}[cell] // a boolean by default
	}
	return &l.column.Categories[cell]
}

// plainLabel reports whether a category's name can stand alone.
func plainLabel(name string) bool {
	return name != "" && name != missingLabel && !strings.HasPrefix(name, "[") && strings.TrimSpace(name) == name
}

func (l labels) number(x float64) string {
	if l.column.Type.Calendar() {
		return l.column.Show(x)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// read is the inverse of of.
func (l labels) read(text string) (group, error) {
	switch {
	case text == missingLabel && l.grid.Cells() == l.grid.Values():
		return group{}, l.wrong(text, "a value: the column has no missing ones")
	case text == missingLabel && l.grid.Coded():
		return group{list: []int{l.grid.Values()}}, nil
	case text == missingLabel:
		return group{lo: l.grid.Values(), hi: l.grid.Cells()}, nil
	case l.grid.Coded() && strings.HasPrefix(text, "["):
		list, err := l.readList(text)
		return group{list: list}, err
	case l.grid.Coded():
		cell, err := l.readName(text)
		return group{list: []int{cell}}, err
	}
	return l.readRange(text)
}

func (l labels) wrong(text, accepted string) error {
	return fmt.Errorf("column %s: is %.60q, must be %s", l.column.Name, text, accepted)
}

func (l labels) readName(name string) (int, error) {
	for cell := range l.grid.Values() {
		if *l.name(cell) == name {
			return cell, nil
		}
	}
	return 0, l.wrong(name, "a category of the column, a JSON list of them, or "+missingLabel)
}

func (l labels) readList(text string) ([]int, error) {
	var list []*string
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) == 0 {
		return nil, l.wrong(text, `a JSON list of categories, such as ["a", null] with null for missing`)
	}
	var cells []int
	for _, name := range list {
		cell, err := l.grid.Values(), error(nil)
		if name != nil {
			cell, err = l.readName(*name)
		}
		if err != nil {
			return nil, err
		}
		if cell >= l.grid.Cells() || slices.Contains(cells, cell) {
			return nil, l.wrong(text, "categories of the column, none twice; null where values may be missing")
		}
		cells = append(cells, cell)
	}
	slices.Sort(cells)
	return cells, nil
}

// readRange reads one number or a range of them, which begins and ends where cells do.
func (l labels) readRange(text string) (group, error) {
	lo, hi, upTo, ok := l.split(text)
	if !ok || !(lo <= hi) {
		return group{}, l.wrong(text, "a value, [least, greatest], or [least, end) of a column without step")
	}
	from, to := l.grid.Cell(lo), l.grid.Cell(hi)
	if at := l.grid.PointOf(lo); lo == hi && from < l.grid.Values() && l.grid.Told() && l.grid.Point(from, at) == lo {
		return group{lo: from, hi: from + 1, point: at + 1}, nil
	}
	least, _ := l.grid.Interval(from)
	begins, ends := l.grid.Interval(to)
	if upTo && begins == hi {
		to, ends = to-1, hi
	}
	if least != lo || ends != hi || to < from || upTo && !l.open() {
		return group{}, l.wrong(text, "cells of the column's public grid, such as "+l.of(group{lo: from, hi: max(from, to) + 1}))
	}
	return group{lo: from, hi: to + 1}, nil
}

// split reads the ends of a range. upTo says that the second is outside.
func (l labels) split(text string) (lo, hi float64, upTo, ok bool) {
	inner, whole := strings.CutPrefix(text, "[")
	if !whole {
		x, ok := l.parse(text)
		return x, x, false, ok
	}
	inner, upTo = strings.CutSuffix(inner, ")")
	if !upTo {
		if inner, ok = strings.CutSuffix(inner, "]"); !ok {
			return 0, 0, false, false
		}
	}
	a, b, two := strings.Cut(inner, ",")
	lo, first := l.parse(a)
	hi, second := l.parse(b)
	return lo, hi, upTo, two && first && second
}

func (l labels) parse(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if l.column.Type.Calendar() {
		return l.column.ReadValue(text)
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}
