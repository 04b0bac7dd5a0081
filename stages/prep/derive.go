package prep

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/schema"
)

// Derive adds columns computed by formulas.
type Derive struct {
	Columns []Derived `yaml:"columns" json:"columns" required:"true" minItems:"1" doc:"New columns, in order; a formula may use those above it."`
}

// Derived is one new column.
type Derived struct {
	Name       string            `yaml:"name" json:"name" required:"true" minLength:"1" doc:"Name of the new column, or of one that it replaces."`
	Formula    string            `yaml:"formula" json:"formula" required:"true" doc:"Formula over the columns of a row, such as weight / (height / 100) ** 2, days_between(admitted, discharged) or weekday(admitted)."`
	Type       domain.ColumnType `yaml:"type" json:"type" required:"true" enum:"numeric|integer|categorical|ordinal|boolean|text" doc:"What the values are."`
	Bounds     *[2]float64       `yaml:"bounds,omitempty" json:"bounds,omitempty" doc:"Least and greatest value; out-of-range results are clipped. Left out, a part of a date or time and a difference of two have those that follow from the bounds of their columns and the calendar."`
	Categories domain.Spellings  `yaml:"categories,omitempty" json:"categories,omitempty" doc:"All values, in order; boolean has no and yes by default."`
	Step       float64           `yaml:"step,omitempty" json:"step,omitempty" min:"0" doc:"Values are multiples of step, counted from the lower bound."`
	Doc        string            `yaml:"doc,omitempty" json:"doc,omitempty" doc:"Meaning and unit of the column."`
}

func deriveKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "derive", Version: 4, Late: true, In: tableIn(), Out: tableOut("the table with the new columns"),
		Doc: "Adds columns computed from the others of the same row by a formula. Use it for differences, ratios, groups " +
			"and flags, and for parts of dates and times (year, month, day, weekday from 1 of Monday, " +
			"hour, minute) and what lies between two (days_between, hours_between, minutes_between). The " +
			"result is missing where a value that the formula names is missing, where it is not a finite number (a quotient " +
			"or power), and " +
			"where it is none of the declared categories. No row ends a run. Works row by row, so stability stays as it is.",
		New: func() pipeline.Stage { return &Derive{} },
	}
}

// Plan implements pipeline.Stage.
func (s *Derive) Plan(in pipeline.Headers) (pipeline.Work, error) {
	steps, out, err := s.plan(in["in"])
	return pipeline.Work{Out: pipeline.Headers{"out": out}, Lazy: true, Elsewhere: inTurn(steps),
		Run: func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			t := in["in"]
			for _, w := range steps {
				t = w.apply(t, nil)
			}
			return pipeline.Tables{"out": t}, nil
		}}, err
}

// inTurn states rewrites that follow each other.
func inTurn(steps []rewrite) pipeline.Statement {
	return func(r relation.Relation) (relation.Relation, error) {
		for _, w := range steps {
			var err error
			if r, err = w.elsewhere(r); err != nil {
				return r, err
			}
		}
		return r, nil
	}
}

// plan makes one rewrite for each column, each over the table of the one before.
func (s *Derive) plan(h pipeline.Header) ([]rewrite, pipeline.Header, error) {
	var ps schema.Problems
	var steps []rewrite
	if len(s.Columns) == 0 {
		ps.Add("columns", "empty", "at least one new column")
	}
	for i, c := range s.Columns {
		w, ok := c.plan(&ps, fmt.Sprintf("columns[%d]", i), h)
		if ok {
			steps, h = append(steps, w), w.out
		}
	}
	return steps, h, ps.Err()
}

func (c Derived) plan(ps *schema.Problems, path string, h pipeline.Header) (rewrite, bool) {
	before := len(*ps)
	e := compile(ps, path+".formula", c.Formula, h.Domain, reflect.Invalid)
	col := c.column()
	if e != nil {
		col.FromUnit = e.fromUnit()
	}
	if e != nil && c.Bounds == nil && (col.Type == domain.Integer || col.Type == domain.Numeric) {
		col.Bounds = e.bounds
	}
	if col.Type.Coded() && len(col.Categories) == 0 {
		ps.Add(path+".categories", "absent", "the values of a column that is "+string(c.Type))
	}
	if c.Bounds != nil && !(c.Bounds[0] <= c.Bounds[1]) {
		ps.Add(path+".bounds", fmt.Sprint(*c.Bounds), "two numbers in ascending order")
	}
	if c.Bounds != nil && c.Type == domain.Date && !(c.Bounds[0] >= domain.FirstDay && c.Bounds[1] <= domain.LastDay) {
		ps.Add(path+".bounds", fmt.Sprint(*c.Bounds), calendarLimits(c.Type))
	}
	if e != nil && !fits(col.Type, e.result) {
		ps.Add(path+".formula", "of type "+e.result.String(), "of a type that a column which is "+string(c.Type)+" can hold"+
			hintFor(col.Type, e.result))
	}
	if len(*ps) > before {
		return rewrite{}, false
	}
	col.Nullable = e.nullable() || !e.total(col, h.Domain)
	d, makers, exprs := h.Domain.Clone(), keepAll(h.Domain), sameAll(h.Domain)
	forget(d, c.Name)
	d.Lift(c.Name)
	if at := d.Index(c.Name); at >= 0 {
		d.Columns[at], makers[at], exprs[at] = col, c.maker(e, col), c.stated(e, col)
	} else {
		d.Columns, makers, exprs = append(d.Columns, col), append(makers, c.maker(e, col)), append(exprs, c.stated(e, col))
	}
	return rewrite{out: rowHeader(h, d), makers: fixed(makers), exprs: exprs}, true
}

func (c Derived) column() domain.Column {
	col := domain.Column{Name: c.Name, Type: c.Type, Bounds: c.Bounds, Categories: append(domain.Categories(nil),
		c.Categories...), Step: c.Step, Source: "public", Doc: c.Doc}
	if c.Type == domain.Boolean && len(c.Categories) == 0 {
		col.Categories = []string{"no", "yes"}
	}
	return col
}

// fits reports whether a formula's result can stand in a column of type t.
func fits(t domain.ColumnType, k reflect.Kind) bool {
	switch t {
	case domain.Numeric:
		return k == reflect.Float64 || k == reflect.Int
	case domain.Integer, domain.Date:
		return k == reflect.Int
	case domain.Boolean:
		return k == reflect.Bool
	}
	return k == reflect.String
}

func hintFor(t domain.ColumnType, k reflect.Kind) string {
	if t == domain.Integer && k == reflect.Float64 {
		return "; int(round(..)) makes it whole"
	}
	return ""
}

func (c Derived) maker(e *expression, col domain.Column) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		v, err := e.evaluator(r)
		if err != nil {
			return nil, err
		}
		results := make([]any, r.NumRows())
		for i := range results {
			results[i] = v.row(i)
		}
		return derived(col, results), nil
	}
}

// derived stores the results of a batch as a column. One that is not a value of the
// column is missing; in a column without missing values, something public stands
// in its place (see stored).
func derived(c domain.Column, results []any) arrow.Array {
	switch {
	case c.Type == domain.Text:
		return derivedText(c, results)
	case c.ArrowType().ID() == arrow.INT64:
		return derivedWhole(c, results)
	}
	values, b := make([]float64, len(results)), bits(nil)
	for i, x := range results {
		v, ok := stored(c, x)
		if !ok && c.Nullable {
			b = b.setMissing(i, len(results))
		}
		values[i] = v
	}
	return store(c.ArrowType(), values, b)
}

// derivedWhole does what derived does, for integers, which are exact to 64 bits.
func derivedWhole(c domain.Column, results []any) arrow.Array {
	values, b := make([]int64, len(results)), bits(nil)
	for i, x := range results {
		v, ok := stored(c, x)
		if !ok && c.Nullable {
			b = b.setMissing(i, len(results))
		}
		if n, whole := x.(int); whole && v == float64(n) {
			values[i] = int64(n)
			continue
		}
		values[i] = int64(saturated(v))
	}
	return column(c.ArrowType(), values, b)
}

// stored returns a result as the column holds it. Where it is none of the column's
// values, ok is false and v what stands in its place: of a sum or product beyond
// the range of numbers the greatest that the column holds, else its first value.
func stored(c domain.Column, x any) (v float64, ok bool) {
	switch x := x.(type) {
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int:
		return inside(c, float64(x))
	case float64:
		return inside(c, x)
	case string:
		code := slices.Index(c.Categories, x)
		return float64(max(0, code)), code >= 0
	}
	return inside(c, math.NaN())
}

// inside returns v inside the bounds of the column.
func inside(c domain.Column, v float64) (float64, bool) {
	ok, lower, upper := !math.IsNaN(v) && !math.IsInf(v, 0), -math.MaxFloat64, math.MaxFloat64
	if c.Bounds != nil {
		lower, upper = c.Bounds[0], c.Bounds[1]
	}
	if math.IsNaN(v) {
		v = 0
	}
	return min(max(v, lower), upper), ok
}

func derivedText(c domain.Column, results []any) arrow.Array {
	build := array.NewStringBuilder(memory.DefaultAllocator)
	for _, x := range results {
		if text, ok := x.(string); ok || !c.Nullable {
			build.Append(text)
		} else {
			build.AppendNull()
		}
	}
	return build.NewArray()
}
