package prep

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/schema"
)

// MissingIndicator adds a yes/no column that says where a column is missing.
type MissingIndicator struct {
	Columns []string `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" doc:"Columns to mark; by default all that may have missing values."`
	Suffix  string   `yaml:"suffix" json:"suffix" minLength:"1" doc:"Suffix of the new column's name, after that of the old one."`
}

const missingIndicatorName = "missing_indicator"

func missingIndicatorKind() pipeline.Kind {
	return pipeline.Kind{
		Name: missingIndicatorName, Version: 1, Late: true, In: tableIn(),
		Out: tableOut("the table with an indicator after each marked column"),
		Doc: "Adds a yes/no column that says where a column is missing. A synthetic table can then have missing values " +
			"in the same places. " +
			"Use it before impute_constant or impute_knn; decoding puts the missing values back. Works row by row, so " +
			"stability stays as it is.",
		New: func() pipeline.Stage { return &MissingIndicator{Suffix: "_missing"} },
	}
}

// Plan implements pipeline.Stage.
func (s *MissingIndicator) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return planRows(in, s.plan)
}

// indicated is the parameter of the steps that add an indicator.
type indicated struct {
	Name      string  `json:"name"`
	Indicator string  `json:"indicator"`
	Sentinel  float64 `json:"sentinel,omitempty"`
}

func (s *MissingIndicator) plan(h pipeline.Header) (rewrite, error) {
	var ps schema.Problems
	marked := map[int]bool{}
	for _, i := range h.Domain.Pick(&ps, "columns", s.Columns) {
		marked[i] = true
	}
	for i, c := range h.Domain.Columns {
		if len(s.Columns) == 0 && c.Nullable {
			marked[i] = true
		}
	}
	b := &inserter{from: h.Domain, d: h.Domain.Clone()}
	b.d.Columns = nil
	for i := range h.Domain.Columns {
		c := h.Domain.Columns[i]
		b.add(c, keep(i), sameAs(i))
		if marked[i] {
			b.indicator(&ps, c, c.Name+s.Suffix, false, markMissing(i), stating(i, func(e relation.Expr) relation.Expr {
				return relation.Choice{If: relation.IsMissing{E: e}, Then: coded(1), Else: coded(0)}
			}))
		}
	}
	return b.rewrite(h, missingIndicatorName, ps)
}

// markMissing makes a column that is 1 where column i is missing, else 0.
func markMissing(i int) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		b, marks := present(r.Column(i)), make([]int32, r.NumRows())
		for j := range marks {
			if !b.has(j) {
				marks[j] = 1
			}
		}
		return column(arrow.PrimitiveTypes.Int32, marks, nil), nil
	}
}

// coded returns the expression of a code.
func coded(code int64) relation.Expr { return relation.Constant{Of: relation.Code, Int: code} }

// inserter builds a table whose columns are the columns of another with new ones in
// between.
type inserter struct {
	from, d *domain.Domain
	makers  []maker
	exprs   []stated
	params  []indicated
}

func (b *inserter) add(c domain.Column, m maker, e stated) {
	b.d.Columns, b.makers, b.exprs = append(b.d.Columns, c), append(b.makers, m), append(b.exprs, e)
}

// indicator adds the yes/no column `name` about the column `of`.
func (b *inserter) indicator(ps *schema.Problems, col domain.Column, name string, nullable bool, m maker, e stated) {
	if b.from.Index(name) >= 0 {
		ps.Add("suffix", "a suffix that gives "+name+", a duplicate column", "one that makes the name new")
	}
	b.add(domain.Column{Name: name, Type: domain.Boolean, Categories: []string{"no", "yes"}, Source: "public",
		Nullable: nullable,
		FromUnit: col.FromUnit}, m, e)
	b.params = append(b.params, indicated{Name: col.Name, Indicator: name})
}

func (b *inserter) rewrite(h pipeline.Header, kind string, ps schema.Problems) (rewrite, error) {
	if err := ps.Err(); err != nil {
		return rewrite{}, err
	}
	params, err := json.Marshal(b.params)
	if err != nil {
		return rewrite{}, err
	}
	remember(b.d, h.Domain, kind, params)
	return rewrite{out: rowHeader(h, b.d), makers: fixed(b.makers), exprs: b.exprs}, nil
}

// undoMissingIndicator makes a column missing where its indicator says yes.
func undoMissingIndicator(u *undoing) error {
	return u.indicators(func(p indicated, i, mark int, _ domain.Column) maker {
		return func(r arrow.Record) (arrow.Array, error) {
			a, b := r.Column(i), present(r.Column(i))
			places, err := marked(r.Column(mark))
			if err != nil || len(places) == 0 {
				return a, err
			}
			for _, j := range places {
				b = b.setMissing(j, a.Len())
			}
			return withBits(a, b), nil
		}
	}, true)
}

// indicators undoes a step that added indicators: each pair that is still there
// becomes one column again. It is of two columns, so it names no privacy unit.
func (u *undoing) indicators(restore func(p indicated, i, mark int, to domain.Column) maker, nullable bool) error {
	var params []indicated
	if err := json.Unmarshal(u.step.Params, &params); err != nil {
		return err
	}
	for _, p := range params {
		i, target, ok := u.find(p.Name)
		mark, marked := u.now[p.Indicator]
		if !marked || !u.h.Domain.Columns[mark].Type.Coded() || u.h.Domain.Columns[mark].Encoding != nil {
			continue
		}
		if ok && !nullable && !isNumber(&target) {
			return fmt.Errorf("column %s: was %s, must be a number", p.Name, describe(&target))
		}
		u.drop(mark)
		if ok && nullable { // hiding changes no value, whatever the column has become since
			target = u.h.Domain.Columns[i]
			target.OfUnit = false
		}
		// else a step that cannot be undone came between
		if ok && target.ArrowType().ID() == u.h.Domain.Columns[i].ArrowType().ID() {
			u.set(i, target, nullable || u.h.Domain.Columns[i].Nullable, func(randomness) maker {
				return restore(p, i, mark,
					target)
			})
		}
	}
	return nil
}

// marked lists the places where an indicator says yes.
func marked(a arrow.Array) (places []int, err error) {
	b := present(a)
	marks, err := codes(a)
	for j, m := range marks {
		if m == 1 && b.has(j) {
			places = append(places, j)
		}
	}
	return places, err
}

// NotAvailable splits a number with a sentinel into an indicator and a value.
type NotAvailable struct {
	Columns map[string]float64 `yaml:"columns" json:"columns" required:"true" format:"columns" minItems:"1" doc:"The number that stands for not available, such as 99999, by column."`
	Value   *float64           `yaml:"value,omitempty" json:"value,omitempty" doc:"The number that replaces the sentinel; 0 by default, or the bound nearest to it."`
	Suffix  string             `yaml:"suffix" json:"suffix" minLength:"1" doc:"Suffix of the indicator's name, after that of its column."`
}

const notAvailableName = "not_available"

func notAvailableKind() pipeline.Kind {
	return pipeline.Kind{
		Name: notAvailableName, Version: 2, Late: true, In: tableIn(),
		Out: tableOut("the table with an indicator after each such column"),
		Doc: "Splits a number that has a sentinel into an indicator and the number itself. A sentinel is a number such as " +
			"99999 for not available; the indicator is a yes/no column. Use it " +
			"before bounds, which would take the sentinel for an outlier; decoding puts the sentinel back. Works row by row, " +
			"so stability " +
			"stays as it is.",
		New: func() pipeline.Stage { return &NotAvailable{Suffix: "_not_available"} },
	}
}

// Plan implements pipeline.Stage.
func (s *NotAvailable) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return planRows(in, s.plan)
}

func (s *NotAvailable) plan(h pipeline.Header) (rewrite, error) {
	var ps schema.Problems
	for _, name := range sorted(s.Columns) {
		if at := h.Domain.Index(name); at < 0 {
			ps.Unknown("columns."+name, "column of the table", name, h.Domain.Names())
		} else if c := &h.Domain.Columns[at]; c.Late {
			ps.Add("columns."+name, lateSetting, beforeRelease)
		} else if !isNumber(c) {
			ps.Add("columns."+name, "set for a column that is "+describe(c), "set for a number, a date or a time")
		}
	}
	if len(s.Columns) == 0 {
		ps.Add("columns", "empty", "at least one column and its sentinel")
	}
	b := &inserter{from: h.Domain, d: h.Domain.Clone()}
	b.d.Columns = nil
	for i, c := range h.Domain.Columns {
		sentinel, ok := s.Columns[c.Name]
		if !ok || !isNumber(&c) {
			b.add(c, keep(i), sameAs(i))
			continue
		}
		c.OfUnit = ofUnit(c, h)
		b.d.Suspend(c.Name)
		value := s.value(&ps, c)
		b.add(c, replaceSentinel(i, sentinel, value, c.ArrowType()), stating(i, func(e relation.Expr) relation.Expr {
			return relation.Choice{If: isNumberOf(e, sentinel), Then: numberOf(e, value), Else: e}
		}))
		b.indicator(&ps, c, c.Name+s.Suffix, c.Nullable, markSentinel(i, sentinel),
			stating(i, func(e relation.Expr) relation.Expr {
				is := relation.Choice{If: isNumberOf(e, sentinel), Then: coded(1), Else: coded(0)}
				return relation.Choice{If: relation.IsMissing{E: e}, Then: relation.Constant{Of: relation.Code, Absent: true},
					Else: is}
			}))
		b.params[len(b.params)-1].Sentinel = sentinel
	}
	return b.rewrite(h, notAvailableName, ps)
}

// value returns what stands in place of the sentinel of column c.
func (s *NotAvailable) value(ps *schema.Problems, c domain.Column) float64 {
	v := 0.0
	if s.Value != nil {
		v = *s.Value
	}
	if c.Type != domain.Numeric && v != math.Trunc(v) {
		ps.Add("value", fmt.Sprint(v), "a whole number, as the column "+c.Name+" is "+describe(&c))
	}
	if c.Bounds == nil || v >= c.Bounds[0] && v <= c.Bounds[1] {
		return v
	}
	if s.Value != nil {
		ps.Add("value", fmt.Sprint(v), fmt.Sprintf("inside the bounds [%g, %g] of %s", c.Bounds[0], c.Bounds[1], c.Name))
	}
	return min(max(v, c.Bounds[0]), c.Bounds[1])
}

func replaceSentinel(i int, sentinel, value float64, t arrow.DataType) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		a := r.Column(i)
		places, err := equalTo(a, sentinel)
		if err != nil || len(places) == 0 {
			return a, err
		}
		return replacing(a, t, places, func(int) float64 { return value }, present(a))
	}
}

// isNumberOf states equalTo.
func isNumberOf(e relation.Expr, v float64) relation.Expr {
	return relation.Compare{Op: "==", A: relation.AsReal{E: e}, B: relation.Constant{Of: relation.Real, Float: v}}
}

// numberOf returns the expression of a value of the type of another one.
func numberOf(like relation.Expr, v float64) relation.Expr {
	if like.Type() == relation.Real {
		return relation.Constant{Of: relation.Real, Float: v}
	}
	return relation.Constant{Of: like.Type(), Int: int64(saturated(v))}
}

// equalTo lists the places of a value.
func equalTo(a arrow.Array, value float64) (places []int, err error) {
	err = look(a, func(j int, v float64) {
		if v == value {
			places = append(places, j)
		}
	})
	return places, err
}

// markSentinel makes a column that is 1 at the sentinel, 0 at other values, missing where the value
// is missing: a missing value is not the sentinel.
func markSentinel(i int, sentinel float64) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		at, err := equalTo(r.Column(i), sentinel)
		marks := make([]int32, r.NumRows())
		for _, j := range at {
			marks[j] = 1
		}
		return column(arrow.PrimitiveTypes.Int32, marks, present(r.Column(i))), err
	}
}

// undoNotAvailable puts the sentinel where the indicator says yes, whatever the
// value is.
func undoNotAvailable(u *undoing) error {
	return u.indicators(func(p indicated, i, mark int, target domain.Column) maker {
		return func(r arrow.Record) (arrow.Array, error) {
			a, b := r.Column(i), present(r.Column(i))
			places, err := marked(r.Column(mark))
			if err != nil || len(places) == 0 {
				return a, err
			}
			for _, j := range places {
				b = b.setPresent(j)
			}
			return replacing(a, target.ArrowType(), places, func(int) float64 { return p.Sentinel }, b)
		}
	}, false)
}

// setPresent returns b with value i present.
func (b bits) setPresent(i int) bits {
	if b != nil {
		b[i/8] |= 1 << (i % 8)
	}
	return b
}
