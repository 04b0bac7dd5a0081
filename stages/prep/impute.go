package prep

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/schema"
)

// ImputeConstant fills missing values with declared ones.
type ImputeConstant struct {
	Numbers    map[string]float64 `yaml:"numbers,omitempty" json:"numbers,omitempty" format:"columns" doc:"The number that fills missing values, by column."`
	Categories map[string]string  `yaml:"categories,omitempty" json:"categories,omitempty" format:"columns" doc:"The category that fills missing values, by column, spelled as in the domain."`
}

func imputeConstantKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "impute_constant", Version: 2, Late: true, In: tableIn(), Out: tableOut("the table without missing values in these columns"),
		Doc: "Fills missing values with declared numbers or categories. Use it where a plausible value is publicly known, together with " +
			"missing_indicator where being missing tells something. Works row by row, so stability stays as it is.",
		New: func() pipeline.Stage { return &ImputeConstant{} },
	}
}

// Plan implements pipeline.Stage.
func (s *ImputeConstant) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return planRows(in, s.plan)
}

func (s *ImputeConstant) plan(h pipeline.Header) (rewrite, error) {
	var ps schema.Problems
	d, makers, exprs := h.Domain.Clone(), keepAll(h.Domain), sameAll(h.Domain)
	fill := func(at int, v float64) {
		d.LiftMissing(d.Columns[at].Name)
		d.Columns[at].Nullable, d.Columns[at].OfUnit = false, ofUnit(d.Columns[at], h)
		makers[at] = fillWith(at, v, d.Columns[at].ArrowType())
		exprs[at] = stating(at, func(e relation.Expr) relation.Expr {
			return relation.Choice{If: relation.IsMissing{E: e}, Then: numberOf(e, v), Else: e}
		})
	}
	for _, name := range sorted(s.Numbers) {
		if at := s.number(&ps, h.Domain, name); at >= 0 {
			fill(at, s.Numbers[name])
		}
	}
	for _, name := range sorted(s.Categories) {
		if at, code := s.category(&ps, h.Domain, name); at >= 0 {
			fill(at, float64(code))
		}
	}
	if len(s.Numbers)+len(s.Categories) == 0 {
		ps.Add("", "without numbers or categories", "given a fill for at least one column")
	}
	return rewrite{out: rowHeader(h, d), makers: fixed(makers), exprs: exprs}, ps.Err()
}

func (s *ImputeConstant) number(ps *schema.Problems, d *domain.Domain, name string) int {
	at, path, v := d.Index(name), "numbers."+name, s.Numbers[name]
	switch {
	case at < 0:
		ps.Unknown(path, "column of the table", name, d.Names())
	case d.Columns[at].Late:
		ps.Add(path, lateSetting, beforeRelease)
	case !isNumber(&d.Columns[at]):
		ps.Add(path, "set for a column that is "+describe(&d.Columns[at]), "set for a number, a date or a time")
	case d.Columns[at].Type != domain.Numeric && v != math.Trunc(v):
		ps.Add(path, fmt.Sprint(v), "a whole number, as the column is "+describe(&d.Columns[at]))
	case d.Columns[at].Bounds != nil && !(v >= d.Columns[at].Bounds[0] && v <= d.Columns[at].Bounds[1]):
		ps.Add(path, fmt.Sprint(v), fmt.Sprintf("inside the bounds [%g, %g]", d.Columns[at].Bounds[0], d.Columns[at].Bounds[1]))
	default:
		return at
	}
	return -1
}

func (s *ImputeConstant) category(ps *schema.Problems, d *domain.Domain, name string) (at, code int) {
	at, path, value := d.Index(name), "categories."+name, s.Categories[name]
	if at < 0 {
		ps.Unknown(path, "column of the table", name, d.Names())
		return -1, 0
	}
	c := &d.Columns[at]
	code = slices.Index(c.Categories, value)
	switch {
	case c.Late:
		ps.Add(path, lateSetting, beforeRelease)
	case c.Encoding != nil || !c.Type.Coded():
		ps.Add(path, "set for a column that is "+describe(c), "set for a column with categories")
	case code < 0:
		ps.Unknown(path, "declared category", value, c.Categories)
	default:
		return at, code
	}
	return -1, 0
}

func fillWith(i int, v float64, t arrow.DataType) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		a := r.Column(i)
		if a.NullN() == 0 {
			return a, nil
		}
		var nulls []int
		for j, b := 0, present(a); j < a.Len(); j++ {
			if !b.has(j) {
				nulls = append(nulls, j)
			}
		}
		return replacing(a, t, nulls, func(int) float64 { return v }, nil)
	}
}
