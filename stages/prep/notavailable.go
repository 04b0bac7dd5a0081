package prep

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/schema"
)

// NotAvailable splits a number with a sentinel into an indicator and a value.
type NotAvailable struct {
	Columns map[string]float64 `yaml:"columns" json:"columns" required:"true" format:"columns" minItems:"1" doc:"The number that stands for not available, such as 99999, by column."`
	Value   *float64           `yaml:"value,omitempty" json:"value,omitempty" doc:"The number that replaces the sentinel; 0 by default, or the bound nearest to it."`
	Suffix  string             `yaml:"suffix" json:"suffix" minLength:"1" doc:"Suffix of the indicator's name, after that of its column."`
}

const notAvailableName = "not_available"

func notAvailableKind() pipeline.Kind {
	return pipeline.Kind{
		Name: notAvailableName, Version: 2, Late: true, In: tableIn(), Out: tableOut("the table with an indicator after each such column"),
		Doc: "Splits a number that has a sentinel, such as 99999 for not available, into a yes/no indicator and the number itself. Use it " +
			"before bounds, which would take the sentinel for an outlier; decoding puts the sentinel back. Works row by row, so stability " +
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
		b.indicator(&ps, c, c.Name+s.Suffix, c.Nullable, markSentinel(i, sentinel), stating(i, func(e relation.Expr) relation.Expr {
			is := relation.Choice{If: isNumberOf(e, sentinel), Then: coded(1), Else: coded(0)}
			return relation.Choice{If: relation.IsMissing{E: e}, Then: relation.Constant{Of: relation.Code, Absent: true}, Else: is}
		}))
		b.params[len(b.params)-1].Sentinel = sentinel
	}
	return b.rewrite(h, notAvailableName, ps)
}

// value is what stands in place of the sentinel of column c.
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
		at, err := equalTo(a, sentinel)
		if err != nil || len(at) == 0 {
			return a, err
		}
		return replacing(a, t, at, func(int) float64 { return value }, present(a))
	}
}

// isNumberOf states equalTo.
func isNumberOf(e relation.Expr, v float64) relation.Expr {
	return relation.Compare{Op: "==", A: relation.AsReal{E: e}, B: relation.Constant{Of: relation.Real, Float: v}}
}

// numberOf is the expression of a value of the type of another one.
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

// markSentinel is 1 at the sentinel, 0 at other values, missing where the value
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
	return u.indicators(func(p indicated, i, mark int, to domain.Column) maker {
		return func(r arrow.Record) (arrow.Array, error) {
			a, b := r.Column(i), present(r.Column(i))
			at, err := marked(r.Column(mark))
			if err != nil || len(at) == 0 {
				return a, err
			}
			for _, j := range at {
				b = b.with(j)
			}
			return replacing(a, to.ArrowType(), at, func(int) float64 { return p.Sentinel }, b)
		}
	}, false)
}

// with returns b with value i present.
func (b bits) with(i int) bits {
	if b != nil {
		b[i/8] |= 1 << (i % 8)
	}
	return b
}
