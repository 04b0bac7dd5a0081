package graphical

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

// The listing is every measured marginal as a CSV table beside the model: a row a cell,
// with the marginal's number, the label of its cell in each column that the marginal is
// over (label.go; none in columns that follow from others), the released count, the standard deviation of its noise, and the
// exact interval that holds the table's own count in 95 of 100 releases.

// heads are the names of the listing's own columns.
type heads struct{ marginal, count, sigma, low, high, below, basis, fixed string }

// headsFor are names that no column of the domain has.
func headsFor(d *domain.Domain) heads {
	free := func(name string) string {
		for d.Index(name) >= 0 {
			name += "_"
		}
		return name
	}
	return heads{free("marginal"), free("count"), free("sigma"), free("low"), free("high"), free("below_noise"), free("basis"), free("fixed")}
}

func (h heads) list(d *domain.Domain) []string {
	return slices.Concat([]string{h.marginal}, d.Names(), []string{h.count, h.sigma, h.low, h.high, h.below})
}

// marginalsOut is the socket of the listing, and marginalsHeader its header.
func marginalsOut() pipeline.Port {
	return pipeline.Port{Name: "marginals", Form: pipeline.FormFiles, Doc: "Every noisy marginal as a CSV table, with its noise and exact 95 % intervals."}
}

func marginalsHeader(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormFiles, Schema: pipeline.FilesSchema(), Class: pipeline.Released, Terms: h.Terms}
}

// listed is the listing of a model that was just packed.
func listed(ctx context.Context, env *pipeline.Env, h pipeline.Header, model pipeline.Table) (pipeline.Table, error) {
	m, err := unfitted(ctx, model)
	if err != nil {
		return pipeline.Table{}, err
	}
	files := []pipeline.File{{Name: fileName(env, "marginals"), Data: m.listing()}}
	if m.Scored != nil {
		files = append(files, pipeline.File{Name: fileName(env, "pairs"), Data: m.pairsList()})
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

// fileName is what a CSV table that a stage releases is called.
func fileName(env *pipeline.Env, what string) string { return env.Stage + "." + what + ".csv" }

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
func (m *released) line(row []string, number int, columns []int, cell []string, count, sigma, low, high float64) []string {
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

// texts are the labels of groups along columns.
func (m *released) texts(columns []int, axes [][]group) [][]string {
	list := make([][]string, len(axes))
	for a, j := range columns {
		l := m.labels(j)
		for _, g := range axes[a] {
			list[a] = append(list[a], l.of(g))
		}
	}
	return list
}

// eachCell goes through the cells of a table in the order of its counts.
func eachCell[T any](axes [][]T, use func(k int, cell []T)) {
	at, cell, cells := make([]int, len(axes)), make([]T, len(axes)), 1
	for _, axis := range axes {
		cells *= len(axis)
	}
	for k := range cells {
		for a := range axes {
			cell[a] = axes[a][at[a]]
		}
		use(k, cell)
		for a := len(axes) - 1; a >= 0; a-- {
			if at[a]++; at[a] < len(axes[a]) {
				break
			}
			at[a] = 0
		}
	}
}

// axes are the groups along each column of a marginal.
func (m *released) axes(x measured) [][]group {
	if len(x.Columns) == 1 {
		return [][]group{m.axis(x)}
	}
	return m.byCode(x.Columns)
}

// byCode are the groups along columns whose codes are counted.
func (m *released) byCode(columns []int) [][]group {
	axes := make([][]group, len(columns))
	for a, j := range columns {
		axes[a] = m.Columns[j].groups(m.grids[j])
	}
	return axes
}

// axis is that of a marginal of one column: ranges of cells, single cells, the points
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

// groups are the cells of each code.
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
