package source

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// batchRows is the size of a batch of a narrow table; each has random numbers of its
// own, so that rows depend on the seed and their position only.
const batchRows = 1 << 16

// generator is one documented model of published statistics, so that weir can be tried, tested and timed without a
// private file: marginal counts, quantiles, correlations and regression coefficients of public data sets, and nobody's
// row. draw fills v with the cells of row i of rows in the
// order of the columns: numbers, codes of categories, or NaN for missing.
type generator struct {
	rows   int64 // of the published table
	domain func(rows int64) *domain.Domain
	draw   func(r *rand.Rand, i, rows int64, v []float64)
	batch  int64 // rows drawn at a time, see batchRows
}

// generators returns the table of contents.
func generators() map[string]generator {
	return map[string]generator{
		"adult":     {adultRows, adultDomain, drawAdult, batchRows},
		"ard":       {ardRows, ardDomain, drawARD(), batchRows},
		"carat":     {caratRows, caratDomain, drawCarat(), batchRows / 4},
		"cardio":    {cardioRows, cardioDomain, drawCardio, batchRows},
		"diagnoses": {patientRows, diagnosesDomain, drawDiagnoses(), batchRows / 32},
	}
}

// demoNames lists the generators.
func demoNames() []string { return []string{"adult", "ard", "carat", "cardio", "diagnoses", demoMade} }

func find(name string) (generator, error) {
	g, ok := generators()[name]
	if !ok {
		return g, fmt.Errorf("demo: is %q, must be one of %s", name, strings.Join(demoNames(), ", "))
	}
	return g, nil
}

// drawing returns the named generator, for the columns that are asked for.
func drawing(name string, seed uint64, d *domain.Domain, unit string) (generator, error) {
	if name == demoMade {
		return madeGenerator(d, seed, unit)
	}
	return find(name)
}

// demoDomain returns what is publicly known of a generator's table of that many rows; 0
// is the published number. Of demoMade it is nil: what it draws for is declared.
func demoDomain(name string, rows int64) (*domain.Domain, error) {
	if name == demoMade {
		return nil, nil
	}
	g, err := find(name)
	if err != nil {
		return nil, err
	}
	return g.domain(demoRows(name, max(0, rows))), nil
}

// demoRows returns how many rows a generator draws that is asked for so many; 0 asks for as many as the published table
// has.
func demoRows(name string, rows int64) int64 {
	if rows == 0 && name == demoMade {
		return madeRows
	}
	if rows == 0 {
		return generators()[name].rows
	}
	return rows
}

// openDemoRows returns a table of the named generator: rows rows (0: as many as the
// published table has) that are a function of seed. d may name some of its
// columns in any order, with other bounds and with categories in another order;
// nil is demoDomain(name, rows). demoMade draws any columns, and needs d; of its rows, unit, or "", is the column that
// names whose a row is. The header is private and of unbounded stability until the caller knows better.
func openDemoRows(name string, rows int64, seed uint64, d *domain.Domain, unit string) (pipeline.Table, error) {
	g, err := drawing(name, seed, d, unit)
	if err != nil {
		return pipeline.Table{}, err
	}
	if rows < 0 {
		return pipeline.Table{}, fmt.Errorf("demo %s: rows is %d, must be at least 1", name, rows)
	}
	rows = demoRows(name, rows)
	ownValue := g.domain(rows)
	if d == nil {
		d = ownValue
	}
	columns, err := match(name, ownValue, d)
	if err != nil {
		return pipeline.Table{}, err
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Unbounded(), Rows: rows})
	s := source{generator: g, rows: rows, seed: seed, schema: h.Schema, width: len(ownValue.Columns), columns: columns}
	return pipeline.Table{Header: h, Open: s.open}, nil
}

type source struct {
	generator
	rows    int64
	seed    uint64
	schema  *arrow.Schema
	width   int
	columns []column
}

func (s source) open(ctx context.Context) pipeline.Batches {
	return func(yield func(arrow.Record, error) bool) {
		for start := int64(0); start < s.rows; start += s.generator.batch {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(s.batch(start, min(start+s.generator.batch, s.rows)), nil) {
				return
			}
		}
	}
}

// batch draws rows from to to.
func (s source) batch(start, end int64) arrow.Record {
	r := rand.New(rand.NewPCG(s.seed, uint64(start/s.generator.batch)))
	v, cells := make([]float64, s.width), make([][]float64, len(s.columns))
	for i := range cells {
		cells[i] = make([]float64, 0, end-start)
	}
	for row := start; row < end; row++ {
		s.draw(r, row, s.rows, v)
		for i, c := range s.columns {
			cells[i] = append(cells[i], v[c.from])
		}
	}
	arrays := make([]arrow.Array, len(s.columns))
	for i, c := range s.columns {
		arrays[i] = c.array(cells[i])
	}
	return array.NewRecord(s.schema, arrays, end-start)
}

// array stores cells in the Arrow type of the declared column.
func (c column) array(cells []float64) arrow.Array {
	valid := make([]bool, len(cells))
	for i, x := range cells {
		valid[i] = !math.IsNaN(x)
		if !valid[i] {
			cells[i] = 0
		}
	}
	b := array.NewBuilder(memory.DefaultAllocator, c.to)
	switch b := b.(type) {
	case *array.Float64Builder:
		b.AppendValues(cells, valid)
	case *array.Int64Builder:
		values := make([]int64, len(cells))
		for i, x := range cells {
			values[i] = int64(x)
		}
		b.AppendValues(values, valid)
	case *array.StringBuilder:
		words := make([]string, len(cells))
		for i, x := range cells {
			words[i] = fmt.Sprintf("value %d", int(x)+1)
		}
		b.AppendValues(words, valid)
	case *array.Int32Builder:
		values := make([]int32, len(cells))
		for i, x := range cells {
			values[i] = c.code[int(x)]
		}
		b.AppendValues(values, valid)
	}
	return b.NewArray()
}

// column is one declared column: which of the generator's cells it shows.
type column struct {
	from int
	to   arrow.DataType
	code []int32 // of the declared categories, by the generator's code
}

// match finds the declared columns among the generator's and reports every
// difference at once.
func match(name string, ownValue, d *domain.Domain) ([]column, error) {
	columns := make([]column, len(d.Columns))
	var problems []error
	for i := range d.Columns {
		c, err := matchColumn(ownValue, &d.Columns[i])
		if err != nil {
			problems = append(problems, fmt.Errorf("demo %s: column %q: %w", name, d.Columns[i].Name, err))
		}
		columns[i] = c
	}
	return columns, errors.Join(problems...)
}

func matchColumn(ownValue *domain.Domain, c *domain.Column) (column, error) {
	pos := slices.IndexFunc(ownValue.Columns, func(o domain.Column) bool { return o.Name == c.Name })
	if pos < 0 {
		return column{}, fmt.Errorf("is not a column of the generator, must be one of %s",
			strings.Join(ownValue.Names(), ", "))
	}
	o := ownValue.Columns[pos]
	m := column{from: pos, to: c.ArrowType()}
	if o.Nullable && !c.Nullable && len(c.Missing) == 0 {
		return m, fmt.Errorf("has missing values, must be declared nullable: true")
	}
	if o.Type.Coded() != c.Type.Coded() || !o.Type.Coded() && c.Type != o.Type && c.Type != domain.Numeric {
		return m, fmt.Errorf("is declared %s, must be %s", c.Type, o.Type)
	}
	for _, s := range spellings(&o) {
		code := slices.Index(spellings(c), s)
		if code < 0 {
			return m, fmt.Errorf("does not declare all of its categories, must hold %s", strings.Join(spellings(&o), ", "))
		}
		m.code = append(m.code, int32(code))
	}
	return m, nil
}

func spellings(c *domain.Column) []string {
	if c.Type == domain.Boolean && len(c.Categories) == 0 {
		return []string{"0", "1"}
	}
	return c.Categories
}
