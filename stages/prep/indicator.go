package prep

import (
	"encoding/json"
	"fmt"

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
		Name: missingIndicatorName, Version: 1, Late: true, In: tableIn(), Out: tableOut("the table with an indicator after each marked column"),
		Doc: "Adds a yes/no column that says where a column is missing, so that a synthetic table can have missing values in the same places. " +
			"Use it before impute_constant or impute_knn; decoding puts the missing values back. Works row by row, so stability stays as it is.",
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

// markMissing is 1 where column i is missing, else 0.
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

// coded is the expression of a code.
func coded(code int64) relation.Expr { return relation.Constant{Of: relation.Code, Int: code} }

// inserter builds a table whose columns are those of another with new ones in
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
func (b *inserter) indicator(ps *schema.Problems, of domain.Column, name string, nullable bool, m maker, e stated) {
	if b.from.Index(name) >= 0 {
		ps.Add("suffix", "a suffix that gives "+name+", a duplicate column", "one that makes the name new")
	}
	b.add(domain.Column{Name: name, Type: domain.Boolean, Categories: []string{"no", "yes"}, Source: "public", Nullable: nullable,
		FromUnit: of.FromUnit}, m, e)
	b.params = append(b.params, indicated{Name: of.Name, Indicator: name})
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
			at, err := marked(r.Column(mark))
			if err != nil || len(at) == 0 {
				return a, err
			}
			for _, j := range at {
				b = b.without(j, a.Len())
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
		i, to, ok := u.find(p.Name)
		mark, marked := u.now[p.Indicator]
		if !marked || !u.h.Domain.Columns[mark].Type.Coded() || u.h.Domain.Columns[mark].Encoding != nil {
			continue
		}
		if ok && !nullable && !isNumber(&to) {
			return fmt.Errorf("column %s: was %s, must be a number", p.Name, describe(&to))
		}
		u.drop(mark)
		if ok && nullable { // hiding changes no value, whatever the column has become since
			to = u.h.Domain.Columns[i]
			to.OfUnit = false
		}
		if ok && to.ArrowType().ID() == u.h.Domain.Columns[i].ArrowType().ID() { // else a step that cannot be undone came between
			u.set(i, to, nullable || u.h.Domain.Columns[i].Nullable, func(randomness) maker { return restore(p, i, mark, to) })
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
