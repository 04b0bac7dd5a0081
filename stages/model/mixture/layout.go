package mixture

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
)

// layout is a table as mixtures have it: each column a grid of public cells, and one or two
// columns of mixtures made of it.
type layout struct {
	grids    []columns.Grid
	parts    []part
	stratify []int // columns of the table
	strata   []stratum
}

// part is a column of mixtures: the categories of a column, its numbers, or whether a number
// is missing. Numbers that are missing have no part in a likelihood.
type part struct {
	column int
	absent bool // 1 where the column is missing
	of     Column
}

// stratum is one combination of values of the columns of stratify.
type stratum struct {
	codes []int           // cell of each column of stratify
	fixed map[int]fixture // of each column that is fixed there
	Stratum
}

// fixture is the one value of a column: its cell, and the value itself, 0 where it is missing.
// A cell may hold several values, of which only this one is declared.
type fixture struct {
	cell  int
	value float64
}

// Far beyond what any table has rows for. They bound what a layout takes, which a model from
// anyone has before its law is held against it.
const (
	mostStrata = 1 << 10
	mostParts  = 1 << 20 // of all strata together
)

// newLayout follows from settings and domain alone, so that a released model has the one
// that it was planned with. What cannot be is a problem.
func newLayout(s Shape, d *domain.Domain, ps *schema.Problems) *layout {
	l := &layout{}
	for i := range d.Columns {
		l.add(s, d, i, ps)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Families)) {
		if c := d.Column(name); c == nil {
			ps.Unknown("families."+name, "column of the table", name, d.Names())
		} else if c.Type.Coded() {
			ps.Add("families."+name, fmt.Sprintf("given for a column of type %s", c.Type),
				"left out: only numbers have a choice")
		}
	}
	if len(*ps) > 0 {
		return l
	}
	if l.divide(s, d, ps); len(*ps) == 0 {
		l.fix(s, d, ps)
	}
	if len(*ps) > 0 {
		return l
	}
	learned := 0
	for i := range l.strata {
		l.strata[i].Stratum = l.mixture(s, l.strata[i].fixed)
		learned += l.strata[i].Params()
	}
	if learned == 0 {
		ps.Add("from", "a table of which no column is left to learn",
			"a column of more than one value that is not fixed in every stratum")
	}
	return l
}

// add takes column i of the table.
func (l *layout) add(s Shape, d *domain.Domain, i int, ps *schema.Problems) {
	c := d.Columns[i]
	g, err := columns.GridOf(c)
	switch {
	case c.Private():
		ps.Refuse("W02", "from", "a table whose column "+c.Name+" has private categories",
			"one whose categories are declared, or released by a stage of kind dp_categories")
		return
	case c.Late && c.Type.Coded():
		ps.Add("from", "a table whose column "+c.Name+" has categories that are released when the run is under way ("+
			c.Source+"): how many there are is the number of its parameters, which the price of training is planned by",
			"one whose categories are declared, or released by an earlier run; bounds may be released in this one")
		return
	case c.Late: // whatever its bounds, a law of two parameters
	case err != nil:
		ps.Add("from", "a table of which "+err.Error(), "categories that are listed and numbers with bounds, not encoded; "+
			"drop columns of text")
		return
	}
	l.grids = append(l.grids, g)
	if slices.Contains(s.Stratify, c.Name) {
		return
	}
	if g.Coded() {
		col := Column{Family: Categorical, Categories: g.Cells()}
		if g.Cells() == 2 {
			col = Column{Family: Bernoulli}
		}
		l.parts = append(l.parts, part{column: i, of: col})
		return
	}
	if c.Nullable {
		l.parts = append(l.parts, part{column: i, absent: true, of: Column{Family: Bernoulli}})
	}
	l.parts = append(l.parts, part{column: i, of: Column{Family: s.family(c, g, ps)}})
}

// family returns the law of a column of numbers.
func (s Shape) family(c domain.Column, g columns.Grid, ps *schema.Problems) Family {
	f, present := s.Families[c.Name]
	whole := !c.Late && c.Type == domain.Integer && float64(g.Values()) == c.Bounds[1]-c.Bounds[0]+1
	switch Family(f) {
	case Poisson:
		if c.Late {
			ps.Add("families."+c.Name, "poisson for a column whose bounds are released when the run is under way ("+c.Source+")",
				"beta or normal")
		} else if !whole {
			ps.Add("families."+c.Name,
				"poisson for a column that is not every whole number of at most 65,535 between its bounds", "beta or normal")
		}
	case Beta, Normal:
	default:
		if present {
			ps.Add("families."+c.Name, f, "beta, normal or poisson")
		}
		return Beta
	}
	return Family(f)
}

// divide lists the strata: every combination of cells of the columns of stratify, the last
// one counted up first.
func (l *layout) divide(s Shape, d *domain.Domain, ps *schema.Problems) {
	strata := 1
	for i, name := range s.Stratify {
		path := fmt.Sprintf("stratify[%d]", i)
		index := d.Index(name)
		switch {
		case index < 0:
			ps.Unknown(path, "column of the table", name, d.Names())
			return
		case !l.grids[index].Coded():
			ps.Add(path, "the column "+name+", a number", "a column of categories; discretize makes them")
			return
		case slices.Contains(s.Stratify[:i], name):
			ps.Add(path, name+", a second time", "each column once")
			return
		}
		l.stratify = append(l.stratify, index)
		if strata *= l.grids[index].Cells(); strata > mostStrata {
			ps.Add("stratify", fmt.Sprintf("%s, of more than %d combinations", strings.Join(s.Stratify, ", "), mostStrata),
				"columns of fewer combinations")
			return
		}
	}
	if strata*len(l.parts) > mostParts {
		ps.Add("stratify", fmt.Sprintf("%s with %d columns in each", counted(strata, "stratum", "strata"), len(l.parts)),
			fmt.Sprintf("at most %d columns in all strata together", mostParts))
		return
	}
	for n := range strata {
		codes := make([]int, len(l.stratify))
		for i := len(codes) - 1; i >= 0; i-- {
			codes[i] = n % l.grids[l.stratify[i]].Cells()
			n /= l.grids[l.stratify[i]].Cells()
		}
		l.strata = append(l.strata, stratum{codes: codes, fixed: map[int]fixture{}})
	}
}

// mixture returns the mixture of a stratum: of the parts that are not fixed in it.
func (l *layout) mixture(s Shape, fixed map[int]fixture) Stratum {
	m := Stratum{MixtureShape: MixtureShape{Components: s.Components}}
	for i, p := range l.parts {
		if _, is := fixed[p.column]; !is {
			m.Columns, m.Places = append(m.Columns, p.of), append(m.Places, i)
		}
	}
	if len(m.Columns) == 0 {
		m.Components = 1 // nothing tells components apart
	}
	return m
}

// params returns the number of parameters of all strata.
func (l *layout) params() int {
	n := 0
	for _, s := range l.strata {
		n += s.Params()
	}
	return n
}

// posterior returns the strata as train has them.
func (l *layout) posterior() []Stratum {
	list := make([]Stratum, len(l.strata))
	for i, s := range l.strata {
		list[i] = s.Stratum
	}
	return list
}

// number returns the number of a cell of a part that is not a code: the middle of its cell on the
// unit interval (beta) or from -1 to 1 (normal), or how many it counts (poisson); NaN where it
// is missing. So no value is at the ends, where a Beta density has none.
func (l *layout) number(p part, cell int) float64 {
	values := l.grids[p.column].Values()
	middle := (float64(cell) + 0.5) / float64(values)
	switch {
	case cell >= values:
		return math.NaN()
	case p.of.Family == Normal:
		return 2*middle - 1
	case p.of.Family == Poisson:
		return float64(cell)
	}
	return middle
}

// cell undoes number, for any number: the nearest cell.
func (l *layout) cell(p part, x float64) int {
	values := float64(l.grids[p.column].Values())
	switch p.of.Family {
	case Normal:
		x = (x + 1) / 2 * values
	case Beta:
		x *= values
	}
	return int(min(max(math.Floor(x), 0), values-1))
}

// mostRuled is far beyond what anybody writes; a model from a stranger may hold any number.
const mostRuled = 1 << 16

// fix reads the rules of structural. A rule is public knowledge: nobody holds real rows to it,
// and one that breaks it is learned without the columns that are fixed.
func (l *layout) fix(s Shape, d *domain.Domain, ps *schema.Problems) {
	if n := len(s.Structural) * len(l.strata); n > mostRuled {
		ps.Add("structural", fmt.Sprintf("%d rules for %d strata", len(s.Structural), len(l.strata)),
			fmt.Sprintf("at most %d pairs of a rule and a stratum", mostRuled))
		return
	}
	for i, rule := range s.Structural {
		path := fmt.Sprintf("structural[%d]", i)
		where, wrong := domain.ReadWhere(d, path+".where", rule.Where)
		*ps = append(*ps, wrong...)
		for at := range d.Columns {
			if _, asked := where[at]; asked && !slices.Contains(l.stratify, at) {
				ps.Add(path+".where."+d.Columns[at].Name, "about a column that is not in stratify", "columns of stratify")
			}
		}
		set := l.set(path+".set", rule, d, ps)
		if len(*ps) > 0 {
			continue
		}
		if len(where) == 0 || len(set) == 0 {
			ps.Add(path, "without where or set", "values of columns of stratify, and of columns that have one value there")
		}
		matched := false
		for n := range l.strata {
			if l.strata[n].has(l, where) {
				matched = true
				l.strata[n].take(path, set, d, ps)
			}
		}
		if !matched {
			ps.Add(path+".where", domain.SayWhere(rule.Where)+", which no stratum has",
				"values that columns of stratify have")
		}
	}
}

// set returns what a rule sets, by column.
func (l *layout) set(path string, rule Structural, d *domain.Domain, ps *schema.Problems) map[int]fixture {
	set := map[int]fixture{}
	for _, name := range slices.Sorted(maps.Keys(rule.Set)) {
		if c := d.Column(name); c != nil && c.Late {
			ps.Add(path+"."+name, "a column whose bounds are released when the run is under way ("+c.Source+")",
				"a column with declared bounds, which say which values it has")
			continue
		}
		values, wrong := domain.ReadWhere(d, path, map[string]domain.Choice{name: {string(rule.Set[name])}})
		*ps = append(*ps, wrong...)
		for pos, v := range values {
			switch {
			case slices.Contains(l.stratify, pos):
				ps.Add(path+"."+name, "a column of stratify", "another column: the stratum fixes this one")
			case v.Missing && len(v.Ranges) == 0:
				set[pos] = fixture{cell: l.grids[pos].Values()}
			case len(v.Ranges) == 1 && v.Ranges[0].Lo == v.Ranges[0].Hi:
				set[pos] = fixture{l.grids[pos].Cell(v.Ranges[0].Lo), v.Ranges[0].Lo}
			default:
				ps.Add(path+"."+name, string(rule.Set[name])+", more than one value", "one value")
			}
		}
	}
	return set
}

// has tells whether a stratum has one of the values in every column.
func (s *stratum) has(l *layout, where map[int]domain.Values) bool {
	for i, pos := range l.stratify {
		code := float64(s.codes[i])
		if s.codes[i] >= l.grids[pos].Values() {
			code = math.NaN()
		}
		if v, asked := where[pos]; asked && !v.Has(code) {
			return false
		}
	}
	return true
}

// take fixes columns in a stratum.
func (s *stratum) take(path string, set map[int]fixture, d *domain.Domain, ps *schema.Problems) {
	for _, index := range slices.Sorted(maps.Keys(set)) {
		if old, is := s.fixed[index]; is && old != set[index] {
			ps.Add(path+".set."+d.Columns[index].Name, "another value than an earlier rule sets in the same stratum",
				"one value in each stratum")
			return
		}
		s.fixed[index] = set[index]
	}
}
