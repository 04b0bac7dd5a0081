package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/histogram"
)

// Score adds to each row how probable it is under a released model.
//
// Input: any table, and a released model. Nothing is released of a private table: its
// scores are as private as its rows. Each is a function of its row and of the model
// alone, so stability stays as it is (docs/design.md section 3).
type Score struct {
	As string `yaml:"as" json:"as" minLength:"1" doc:"Name of the new column."`
}

const scoreName = "score"

func scoreKind() pipeline.Kind {
	return pipeline.Kind{
		Name: scoreName, Version: 2,
		Doc: "Adds to each row its log probability under a released model. Adds a column with the natural logarithm of the " +
			"probability that a released model of marginals gives each " +
			"row: of its codes, and of its values inside their bins. " +
			"Use it to find unusual rows, so that a later stage can rank or filter them. Works row by row: scores of a " +
			"private table are private, cost nothing and keep its stability; those of released rows are released. " +
			"A row that the model cannot draw gets the lower bound of the column, -64 for each column of the model.",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "The rows, with the columns that the model knows."},
			{Name: "model", Form: pipeline.FormModel, Doc: "A released model of marginals."}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "The rows with their scores."}},
		New: func() pipeline.Stage { return &Score{As: "score"} },
	}
}

// leastOfColumn bounds what a column adds to a score: far below what a grid of 65,536
// cells and any noise give one.
const leastOfColumn = -64

// Plan implements pipeline.Stage.
func (s *Score) Plan(in pipeline.Headers) (pipeline.Work, error) {
	out, err := s.header(in["in"], in["model"])
	return pipeline.Work{Out: pipeline.Headers{"out": out}, Lazy: true,
		Run: func(ctx context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			m, err := ours(ctx, in["model"])
			if err != nil {
				return nil, err
			}
			judge, err := newLikelihood(m, in["in"].Domain)
			if err != nil {
				return nil, err
			}
			return pipeline.Tables{"out": in["in"].Map(out, judge.record(out))}, nil
		}}, err
}

// header returns the header of the table with its scores. Under a private model, which there is
// without privacy alone, any score may change with any row.
func (s *Score) header(table, model pipeline.Header) (pipeline.Header, error) {
	var ps schema.Problems
	d := table.Domain.Clone()
	if d.Index(s.As) >= 0 || known(d, s.As) || s.As == pipeline.ShardColumn {
		ps.Add("as", s.As+", a column of the table", "a name that no column has")
	}
	wide := 0
	if model.Domain != nil {
		wide = len(model.Domain.Columns)
		needKnown(d, model.Domain, &ps)
	}
	d.Columns = append(d.Columns, domain.Column{Name: s.As, Type: domain.Numeric,
		Bounds: &[2]float64{float64(leastOfColumn * wide), 0}, Source: "public",
		Doc: "natural logarithm of the row's probability under a released model"})
	h := pipeline.TableHeader(d, table)
	if h.Class = h.Class.Join(model.Class); model.Class == pipeline.Private {
		h.Stability, h.OwnRows = pipeline.Unbounded(), false
	}
	return h, ps.Err()
}

// known reports whether a step that led to the table had a column of that name, which
// undoing the step would take this one for.
func known(d *domain.Domain, name string) bool {
	for _, step := range d.History {
		if step.Before != nil && step.Before.Index(name) >= 0 {
			return true
		}
	}
	return false
}

// needKnown adds a problem for each column of a model that a table lacks or has in
// another form.
func needKnown(d, model *domain.Domain, ps *schema.Problems) {
	for _, c := range model.Columns {
		switch single := d.Column(c.Name); {
		case c.Encoding != nil:
			ps.Add("model", "one that learned encoded columns ("+c.Name+")",
				"a model of marginals, which says how probable a row is")
			return
		case single == nil:
			ps.Unknown("model", "column of the table", c.Name, d.Names())
		case single.Encoding != nil || single.Type.Coded() != c.Type.Coded() || single.ArrowType().ID() != c.ArrowType().ID():
			ps.Add("from", fmt.Sprintf("a table whose column %s is %s", c.Name, form(single)),
				fmt.Sprintf("%s, as the model knows it", form(&c)))
		}
	}
}

func form(c *domain.Column) string {
	if c.Encoding != nil {
		return "encoded (" + string(c.Encoding.Form) + ")"
	}
	return string(c.Type)
}

// scorer tells by a released model of marginals how unlike the others a row is: minus the
// base-2 logarithm of the row's probability, in bits, 0 or more. It is the probability by
// which rows are drawn (score.go): of the row's codes, times the probability of each value in its
// code. Of a number without a step that is its cell, one of 4,096 of equal width between its
// bounds, so that its density has the same order.
//
// A row that is never drawn (forbidden by a rule, out of bounds, missing where the model has
// none missing) has the highest score, 64/ln 2 = 92.3 bits for each column of the model, and no row has more.
type scorer struct{ *likelihood }

func decodeScorer(parts map[string][]byte) (artifact.Scorer, error) {
	m, err := decode(parts)
	if err != nil {
		return nil, err
	}
	l, err := newLikelihood(m.(*released), m.(*released).Domain)
	return scorer{l}, err
}

// Domain implements artifact.Scorer: the columns of the rows that are drawn.
func (s scorer) Domain() *domain.Domain { return s.model.Domain }

// Scores implements artifact.Scorer.
func (s scorer) Scores(f *columns.Frame) ([]float64, error) {
	wanted, err := ofFrame(f, s.model.Domain)
	if err != nil {
		return nil, err
	}
	scores := s.scores(f.Rows, wanted)
	for i, x := range scores {
		scores[i] = 0 - x/math.Ln2
	}
	return scores, nil
}

// ofFrame gives the values of a frame that has the columns of a domain.
func ofFrame(f *columns.Frame, d *domain.Domain) (cells, error) {
	cols := make([]*columns.Column, len(d.Columns))
	for j := range d.Columns {
		if cols[j] = f.Column(d.Columns[j].Name); cols[j] == nil {
			return nil, fmt.Errorf("column %s: is missing, must be there", d.Columns[j].Name)
		}
	}
	return func(column, row int) float64 {
		c := cols[column]
		switch {
		case c.Absent(row):
			return math.NaN()
		case c.Coded():
			return float64(c.Codes[row])
		}
		return c.Numbers[row]
	}, nil
}

// likelihood gives rows their probability under a model: the probability of their codes, times
// the probability of each value inside its bin, as rows are drawn (draw.go). Rules of the domain
// that codes do not show leave it as it is.
type likelihood struct {
	model   *released
	columns []cellReader
	derived []cellReader // of the columns that follow from others, as layout lists them
	codes   [][]uint16   // of each cell, by column of the model
	within  [][]float64  // logarithm of a cell's share of its code, by column
	least   float64
}

// newLikelihood prepares a model for tables of a domain.
func newLikelihood(m *released, d *domain.Domain) (*likelihood, error) {
	l := &likelihood{model: m, least: float64(leastOfColumn * len(m.Domain.Columns))}
	var ps schema.Problems
	if needKnown(d, m.Domain, &ps); len(ps) > 0 {
		return nil, ps.Err() // both domains are public, or released
	}
	for j := range m.Columns {
		l.columns = append(l.columns, newCellReader(m.core.Columns[j], m.grids[j], d))
		l.codes = append(l.codes, m.Columns[j].codeOf())
		l.within = append(l.within, m.Columns[j].within())
	}
	for _, x := range m.derived {
		l.derived = append(l.derived, newCellReader(m.Domain.Columns[x.Column], columns.Grid{}, d))
	}
	return l, nil
}

// within returns the logarithms of the shares that cells have of their codes.
func (c *coded) within() []float64 {
	out := make([]float64, c.Cells)
	for _, bin := range c.Bins {
		leaves := c.Leaves[bin[0]:bin[1]]
		for i, share := range histogram.Shares(leaves) {
			for place := leaves[i].Lo; place < leaves[i].Hi; place++ {
				cell := place
				if c.Order != nil {
					cell = c.Order[place]
				}
				out[cell] = bitmath.Log(share / float64(leaves[i].Hi-leaves[i].Lo))
			}
		}
	}
	return out
}

// record adds scores to batches, for a table of header out.
func (l *likelihood) record(out pipeline.Header) func(arrow.Record) (arrow.Record, error) {
	pos := len(out.Domain.Columns) - 1
	return func(r arrow.Record) (arrow.Record, error) {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		b.AppendValues(l.scores(int(r.NumRows()), ofRecord(r)), nil)
		return array.NewRecord(out.Schema, slices.Insert(slices.Clone(r.Columns()), pos, arrow.Array(b.NewArray())),
			r.NumRows()), nil
	}
}

// cells gives the values of a table, by column of its domain and row: a number, or the code
// of a category; NaN where it is missing.
type cells func(column, row int) float64

func ofRecord(r arrow.Record) cells {
	return func(column, row int) float64 {
		if a := r.Column(column); a.IsValid(row) {
			return numberAt(a, row)
		}
		return math.NaN()
	}
}

// scores returns the scores of the given number of rows, each a function of its row alone.
func (l *likelihood) scores(rows int, wanted cells) []float64 {
	scores, row := make([]float64, rows), make([]uint16, len(l.columns))
	values := make([]float64, len(l.model.Domain.Columns))
	for i := range scores {
		scores[i] = l.score(wanted, i, row, values)
	}
	return scores
}

// score fills the codes and the values of the row, by column of the model and of its
// domain.
func (l *likelihood) score(wanted cells, i int, row []uint16, values []float64) float64 {
	sum := 0.0
	for j := range l.columns {
		x := wanted(l.columns[j].at, i)
		cell, ok := l.columns[j].cell(x)
		if !ok {
			return l.least
		}
		row[j], values[l.model.places[j]] = l.codes[j][cell], l.columns[j].value(x)
		sum += l.within[j][cell] + l.point(j, cell, x)
	}
	if !l.follows(wanted, i, values) {
		return l.least
	}
	sum += l.model.model.LogProb(row)
	if !(sum > l.least) {
		return l.least
	}
	return min(sum, 0)
}

// follows tells whether the derived columns of a row have the values that the values of the
// others make theirs: no other row is drawn.
func (l *likelihood) follows(wanted cells, i int, values []float64) bool {
	for k, x := range l.model.derived {
		values[x.Column] = x.Value(values[x.Of])
		is := l.derived[k].value(wanted(l.derived[k].at, i))
		if is != values[x.Column] && !(math.IsNaN(is) && math.IsNaN(values[x.Column])) {
			return false
		}
	}
	return true
}

// point returns the logarithm of a value's share of its cell, where that has several points.
func (l *likelihood) point(j, cell int, x float64) float64 {
	g := &l.model.grids[j]
	if g.Points() == 1 || cell >= g.Values() || l.columns[j].column.Step == 0 &&
		l.columns[j].column.Type == domain.Numeric {
		return 0
	}
	counts := l.model.Columns[j].Within[cell]
	if counts == nil {
		return -bitmath.Log(float64(g.PointsIn(cell)))
	}
	return bitmath.Log(counts[g.PointOf(x)] / total(counts))
}

// cellReader finds the cell of a value in a column of a table. ok is false for a value
// that the model never draws.
type cellReader struct {
	at     int // of the column in the table
	column domain.Column
	grid   columns.Grid
	to     []int // of each category of the table, the category of the model; -1: none
}

func newCellReader(c domain.Column, g columns.Grid, d *domain.Domain) cellReader {
	r := cellReader{at: d.Index(c.Name), column: c, grid: g}
	for _, name := range d.Columns[r.at].Categories {
		r.to = append(r.to, slices.Index(c.Categories, name))
	}
	return r
}

func (c *cellReader) cell(x float64) (cell int, ok bool) {
	switch {
	case math.IsNaN(x):
		return c.grid.Values(), c.column.Nullable
	case c.grid.Coded():
		if x < 0 || int(x) >= len(c.to) || c.to[int(x)] < 0 {
			return 0, false
		}
		return c.to[int(x)], true
	}
	return c.grid.Cell(x), x >= c.column.Bounds[0] && x <= c.column.Bounds[1]
}

// value returns one of the table as rules of the model's domain have it: a category by its
// place there, -1 for one that the model does not know.
func (c *cellReader) value(x float64) float64 {
	switch {
	case !c.column.Type.Coded() || math.IsNaN(x):
		return x
	case x < 0 || int(x) >= len(c.to):
		return -1
	}
	return float64(c.to[int(x)])
}

// numberAt returns a value of a column of plain form; NaN of any other.
func numberAt(a arrow.Array, i int) float64 {
	switch a := a.(type) {
	case *array.Int32:
		return float64(a.Value(i))
	case *array.Int64:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	}
	return math.NaN()
}
