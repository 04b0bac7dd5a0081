package graphical

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// The listing is every measured marginal as a CSV table beside the model: a row a cell,
// with the marginal's number, the label of its cell in each column that the marginal is
// over (listing.go; none in columns that follow from others), the released count, the standard deviation of its noise,
// and the exact interval that holds the table's own count in 95 of 100 releases.

// heads are the names of the listing's own columns.
type heads struct{ marginal, count, sigma, low, high, below, basis, fixed string }

// headsFor returns names that no column of the domain has.
func headsFor(d *domain.Domain) heads {
	free := func(name string) string {
		for d.Index(name) >= 0 {
			name += "_"
		}
		return name
	}
	return heads{free("marginal"), free("count"), free("sigma"), free("low"), free("high"), free("below_noise"),
		free("basis"), free("fixed")}
}

func (h heads) list(d *domain.Domain) []string {
	return slices.Concat([]string{h.marginal}, d.Names(), []string{h.count, h.sigma, h.low, h.high, h.below})
}

// marginalsOut returns the socket of the listing, and marginalsHeader its header.
func marginalsOut() pipeline.Port {
	return pipeline.Port{Name: "marginals", Form: pipeline.FormFiles,
		Doc:   "Every noisy marginal as a CSV table, with its noise and exact 95 % intervals.",
		Files: []string{marginalsFile, pairsFile}}
}

// marginalsFile and the others name the files of a listing and of intervals, behind the id of the stage and a dot.
const marginalsFile, pairsFile, intervalsFile = "marginals.csv", "pairs.csv", "intervals.csv"

func marginalsHeader(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormFiles, Class: pipeline.Released,
		Terms: h.Terms}
}

// listed returns the listing of a model that was just packed.
func listed(ctx context.Context, env *pipeline.Env, h pipeline.Header, model pipeline.Table) (pipeline.Table, error) {
	m, err := unfitted(ctx, model)
	if err != nil {
		return pipeline.Table{}, err
	}
	files := []pipeline.File{{Name: fileName(env, marginalsFile), Data: m.listing()}}
	if m.Scored != nil {
		files = append(files, pipeline.File{Name: fileName(env, pairsFile), Data: m.pairsList()})
	}
	return pipeline.WriteFiles(h, files), nil
}

// unfitted reads a model that was just packed, without what rows are drawn by.
func unfitted(ctx context.Context, model pipeline.Table) (*released, error) {
	files, err := pipeline.ReadFiles(ctx, model)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(files, func(f pipeline.File) bool { return f.Name == modelPart })
	m := &released{}
	if err := json.Unmarshal(files[at].Data, m); err != nil {
		return nil, err
	}
	if err := m.arrange(); err != nil {
		return nil, err
	}
	m.grids, err = gridsOf(m.core)
	return m, err
}

// fileName returns what a CSV table that a stage releases is called.
func fileName(env *pipeline.Env, what string) string { return env.Stage + "." + what }

func (m *released) listing() []byte {
	cells := 0
	for _, x := range m.Measured {
		cells += len(x.Y)
	}
	row := make([]string, len(m.Domain.Columns)+6)
	h := headsFor(m.Domain)
	names, marked := h.list(m.Domain), slices.ContainsFunc(m.Measured, func(x measured) bool { return x.Fixed })
	if marked {
		names = append(names, h.fixed)
	}
	sheet := newSheet(names)
	sheet.to.Grow(cells * (len(row) + filled)) // at once: in a wide table it is the largest thing there is
	for i, x := range m.Measured {
		half, more := x.half(), []string(nil)
		if marked {
			more = []string{yes(x.Fixed)}
		}
		eachCell(m.texts(x.Columns, m.axes(x)), func(k int, cell []string) {
			sheet.row(m.line(row, i+1, x.Columns, cell, x.Y[k], x.Sigma, x.Y[k]-half, x.Y[k]+half), more...)
		})
	}
	return sheet.bytes()
}

// filled is about as many bytes as labels and figures of a row have.
const filled = 48

// line fills a row of a listing: a marginal's number, the labels of a cell, and figures.
func (m *released) line(row []string, number int, columns []int, cell []string, count, sigma, low,
	high float64) []string {
	wide := len(m.Domain.Columns)
	clear(row)
	row[0] = strconv.Itoa(number)
	for at, j := range columns {
		row[1+m.places[j]] = cell[at]
	}
	copy(row[1+wide:], []string{text(count), text(sigma), text(low), text(high), yes(sigma > count)})
	return row
}

// sheet is a CSV table while it is written.
type sheet struct {
	to *bytes.Buffer
	w  *csv.Writer
}

func newSheet(heads []string) sheet {
	s := sheet{to: &bytes.Buffer{}}
	s.w = csv.NewWriter(s.to)
	s.row(heads)
	return s
}

func (s sheet) row(cells []string, more ...string) {
	if err := s.w.Write(append(cells, more...)); err != nil {
		panic(err) // to memory
	}
}

func (s sheet) bytes() []byte {
	s.w.Flush()
	return s.to.Bytes()
}

func text(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func (m *released) labels(j int) labels { return labels{m.core.Columns[j], m.grids[j]} }

// texts returns the labels of groups along columns.
func (m *released) texts(columns []int, axes [][]group) [][]string {
	list := make([][]string, len(axes))
	for a, j := range columns {
		l := m.labels(j)
		for _, g := range axes[a] {
			list[a] = append(list[a], l.label(g))
		}
	}
	return list
}

// eachCell goes through the cells of a table in the order of its counts.
func eachCell[T any](axes [][]T, use func(k int, cell []T)) {
	places, cell, cells := make([]int, len(axes)), make([]T, len(axes)), 1
	for _, axis := range axes {
		cells *= len(axis)
	}
	for k := range cells {
		for a := range axes {
			cell[a] = axes[a][places[a]]
		}
		use(k, cell)
		for a := len(axes) - 1; a >= 0; a-- {
			if places[a]++; places[a] < len(axes[a]) {
				break
			}
			places[a] = 0
		}
	}
}

// axes returns the groups along each column of a marginal.
func (m *released) axes(x measured) [][]group {
	if len(x.Columns) == 1 {
		return [][]group{m.axis(x)}
	}
	return m.byCode(x.Columns)
}

// byCode returns the groups along columns whose codes are counted.
func (m *released) byCode(columns []int) [][]group {
	axes := make([][]group, len(columns))
	for a, j := range columns {
		axes[a] = m.Columns[j].groups(m.grids[j])
	}
	return axes
}

// axis returns the axis of a marginal of one column: ranges of cells, single cells, the points
// of some, or codes.
func (m *released) axis(x measured) (list []group) {
	j := x.Columns[0]
	g := m.grids[j]
	switch {
	case x.Within != nil:
		for _, cell := range x.Within {
			for i := range g.PointsIn(cell) {
				list = append(list, group{lo: cell, hi: cell + 1, point: i + 1})
			}
		}
	case x.Cells != nil:
		for _, r := range x.Cells {
			list = append(list, group{lo: r[0], hi: r[1]})
		}
	case len(x.Y) == m.Columns[j].Cells:
		for cell := range x.Y {
			list = append(list, single(g, cell))
		}
	default:
		list = m.Columns[j].groups(g)
	}
	return list
}

func single(g columns.Grid, cell int) group {
	if g.Coded() {
		return group{list: []int{cell}}
	}
	return group{lo: cell, hi: cell + 1}
}

// groups returns the cells of each code.
func (c *coded) groups(g columns.Grid) []group {
	list := make([]group, c.codes())
	if !g.Coded() {
		for code := range list {
			list[code].lo, list[code].hi = c.cells(code)
		}
		return list
	}
	for cell, code := range c.codeOf() {
		list[code].list = append(list[code].list, cell)
	}
	return list
}

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

// size returns the number of cells of the group.
func (g group) size() int { return max(g.hi-g.lo, len(g.list)) }

// first returns the least cell.
func (g group) first() int {
	if g.list != nil {
		return g.list[0]
	}
	return g.lo
}

// order returns the place of a group along its axis: by cells, then by points.
func (g group) order() int { return g.first()<<40 + g.point }

// labels writes and reads the labels of a column.
type labels struct {
	column domain.Column
	grid   columns.Grid
}

// label returns the label of a group.
func (l labels) label(g group) string {
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

// name returns a category's; nil is missing.
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

// read undoes of.
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
	lo, hi, inclusive, ok := l.split(text)
	if !ok || !(lo <= hi) {
		return group{}, l.wrong(text, "a value, [least, greatest], or [least, end) of a column without step")
	}
	first, end := l.grid.Cell(lo), l.grid.Cell(hi)
	if at := l.grid.PointOf(lo); lo == hi && first < l.grid.Values() && l.grid.HasInnerCounts() &&
		l.grid.Point(first, at) == lo {
		return group{lo: first, hi: first + 1, point: at + 1}, nil
	}
	least, _ := l.grid.Interval(first)
	begins, ends := l.grid.Interval(end)
	if inclusive && begins == hi {
		end, ends = end-1, hi
	}
	if least != lo || ends != hi || end < first || inclusive && !l.open() {
		return group{}, l.wrong(text, "cells of the column's public grid, such as "+
			l.label(group{lo: first, hi: max(first, end) + 1}))
	}
	return group{lo: first, hi: end + 1}, nil
}

// split reads the ends of a range. upTo says that the second is outside.
func (l labels) split(text string) (lo, hi float64, inclusive, ok bool) {
	inner, whole := strings.CutPrefix(text, "[")
	if !whole {
		x, ok := l.parse(text)
		return x, x, false, ok
	}
	inner, inclusive = strings.CutSuffix(inner, ")")
	if !inclusive {
		if inner, ok = strings.CutSuffix(inner, "]"); !ok {
			return 0, 0, false, false
		}
	}
	a, b, two := strings.Cut(inner, ",")
	lo, first := l.parse(a)
	hi, second := l.parse(b)
	return lo, hi, inclusive, two && first && second
}

func (l labels) parse(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if l.column.Type.Calendar() {
		return l.column.ReadValue(text)
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}
