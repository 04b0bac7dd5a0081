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

// Limits is a public range; a side that is absent is the bound of the domain.
type Limits struct {
	Lower *float64 `yaml:"lower,omitempty" json:"lower,omitempty" doc:"Least value, inclusive."`
	Upper *float64 `yaml:"upper,omitempty" json:"upper,omitempty" doc:"Greatest value, inclusive."`
}

// Bounds holds values to public bounds.
type Bounds struct {
	Outside string            `yaml:"outside" json:"outside" enum:"missing|clip|error" doc:"How out-of-range values are handled: made missing, clipped to the nearest bound, or an error that stops the run (refused on a private table)."`
	Columns []string          `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" doc:"Columns to check; all columns with bounds by default."`
	Bounds  map[string]Limits `yaml:"bounds,omitempty" json:"bounds,omitempty" format:"columns" doc:"Public bounds by column, instead of those of the domain."`
}

func boundsKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "bounds", Version: 2, Late: true, In: tableIn(),
		Out: tableOut("the table with every checked value inside its bounds, or missing"),
		Doc: "Holds numbers to public bounds. Out-of-range values become missing or the nearest bound, or stop the run. " +
			"Use it first, before anything " +
			"that relies on bounds; bounds must come from outside the data. Works row by row, so stability stays as it is.",
		New: func() pipeline.Stage { return &Bounds{Outside: "missing"} },
	}
}

// Plan implements pipeline.Stage.
func (s *Bounds) Plan(in pipeline.Headers) (pipeline.Work, error) { return planRows(in, s.plan) }

func (s *Bounds) plan(h pipeline.Header) (rewrite, error) {
	var ps schema.Problems
	d, makers, exprs := h.Domain.Clone(), keepAll(h.Domain), sameAll(h.Domain)
	w := rewrite{}
	places := s.places(&ps, h.Domain)
	for _, i := range places {
		c := &d.Columns[i]
		if c.Late { // its values are held to what is released
			c.Nullable, c.OfUnit = c.Nullable || s.Outside == "missing", ofUnit(*c, h)
			continue // Plan is asked again once they are known
		}
		lower, upper, ok := s.limits(&ps, c)
		if !ok {
			continue
		}
		makers[i], exprs[i] = s.maker(i, *c, lower, upper), s.expr(i, lower, upper)
		s.lift(d, c, lower, upper)
		if !math.IsInf(lower, 0) && !math.IsInf(upper, 0) {
			c.Bounds = &[2]float64{lower, upper}
		}
		c.Nullable, c.OfUnit = c.Nullable || s.Outside == "missing", ofUnit(*c, h)
	}
	if s.Outside == "error" {
		exprs, w.rows = nil, "ends the run at a value, which SQL cannot"
		refuseTelling(&ps, h, "outside", "error", "missing or clip")
	}
	w.out, w.makers, w.exprs, w.findings = rowHeader(h, d), fixed(makers), exprs, s.merged(h, places)
	return w, ps.Err()
}

// merged notes units that are clipped to one value, which a split cannot part (W44).
func (s *Bounds) merged(h pipeline.Header, places []int) []pipeline.Finding {
	unit := h.Domain.Index(h.Terms.Unit.Column)
	if s.Outside != "clip" || h.Class != pipeline.Private || !slices.Contains(places, unit) {
		return nil
	}
	return []pipeline.Finding{{Rule: "W44", Level: pipeline.LevelNote,
		Message: "units whose " + h.Terms.Unit.Column + " lies beyond a bound all get that bound: split and shard send " +
			"their rows one way",
		Fix: "bounds that hold every unit, or other columns: leave " + h.Terms.Unit.Column +
			" out of this stage (columns)"}}
}

// lift takes out what is not known any more of a column with narrower bounds than its own,
// which rules between columns are about.
func (s *Bounds) lift(d *domain.Domain, c *domain.Column, lower, upper float64) {
	switch own := c.Bounds; {
	case own != nil && lower <= own[0] && upper >= own[1]:
	case s.Outside == "clip":
		d.Lift(c.Name)
	default:
		d.LiftMissing(c.Name)
	}
}

// places lists the columns to check: those named, or all with bounds.
func (s *Bounds) places(ps *schema.Problems, d *domain.Domain) []int {
	places := d.Pick(ps, "columns", s.Columns)
	for _, name := range sorted(s.Bounds) {
		index := d.Index(name)
		if index < 0 {
			ps.Unknown("bounds."+name, "column of the table", name, d.Names())
		} else if d.Columns[index].Late {
			ps.Add("bounds."+name, lateSetting, beforeRelease)
		} else if !slices.Contains(places, index) {
			places = append(places, index)
		}
	}
	for i, c := range d.Columns {
		if len(s.Columns) == 0 && (c.Bounds != nil || c.Late) && c.Encoding == nil && !c.Type.Coded() &&
			!slices.Contains(places, i) {
			places = append(places, i)
		}
	}
	if len(places) == 0 && len(*ps) == 0 {
		ps.Add("bounds", "absent, and the domain has no bounds either", "public bounds of at least one column")
	}
	return places
}

// limits returns the public bounds of one column, infinite on an open side.
func (s *Bounds) limits(ps *schema.Problems, c *domain.Column) (lower, upper float64, ok bool) {
	lower, upper = math.Inf(-1), math.Inf(1)
	if c.Bounds != nil {
		lower, upper = c.Bounds[0], c.Bounds[1]
	}
	single := s.Bounds[c.Name]
	if single.Lower != nil {
		lower = *single.Lower
	}
	if single.Upper != nil {
		upper = *single.Upper
	}
	if c.Type != domain.Numeric {
		lower, upper = math.Ceil(lower), math.Floor(upper) // whole numbers only
	}
	if c.Type.Moment() { // and whole steps
		lower, upper = math.Ceil(lower/c.Step)*c.Step, math.Floor(upper/c.Step)*c.Step
	}
	least, greatest := c.Type.Span()
	path := "bounds." + c.Name
	switch {
	case !isNumber(c):
		ps.Add(path, "set for a column that is "+describe(c), "set for a number, a date or a time")
	case math.IsInf(lower, 0) && math.IsInf(upper, 0):
		ps.Refuse("W01", path, "absent, and the domain has none",
			"public bounds (never read from the data; dp_bounds finds some for a charge)")
	case c.Type.Calendar() && (lower < least && single.Lower != nil || upper > greatest && single.Upper != nil):
		ps.Add(path, fmt.Sprintf("from %g to %g", lower, upper), calendarLimits(c.Type))
	case !(lower <= upper):
		ps.Add(path, fmt.Sprintf("from %g to %g", lower, upper), "a lower bound that is not above the upper one")
	default:
		return lower, upper, true
	}
	return 0, 0, false
}

// calendarLimits says which numbers stand for values that a file can spell.
func calendarLimits(t domain.ColumnType) string {
	least, greatest := t.Span()
	counted := map[domain.ColumnType]string{domain.Date: "days since 1970-01-01",
		domain.Datetime: "seconds since 1970-01-01T00:00", domain.Time: "seconds since midnight"}[t]
	if t != domain.Time {
		return fmt.Sprintf("%s inside [%.0f, %.0f], the years 0 to 9999", counted, least, greatest)
	}
	return fmt.Sprintf("%s inside [%.0f, %.0f]", counted, least, greatest)
}

func (s *Bounds) maker(i int, c domain.Column, lower, upper float64) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		a := r.Column(i)
		out, err := outOfRange(a, lower, upper)
		switch {
		case err != nil || len(out) == 0:
			return a, err
		case s.Outside == "error":
			return nil, fmt.Errorf("has values outside its bounds [%g, %g]", lower, upper)
		case s.Outside == "clip":
			return clipped(a, out, c, lower, upper)
		}
		b := present(a)
		for _, j := range out {
			b = b.setMissing(j, a.Len())
		}
		return withBits(a, b), nil
	}
}

// expr states maker.
func (s *Bounds) expr(i int, lower, upper float64) stated {
	return stating(i, func(e relation.Expr) relation.Expr {
		if s.Outside == "clip" {
			return relation.Clip{E: e, Least: lower, Greatest: upper}
		}
		return relation.Within{E: e, Least: lower, Greatest: upper}
	})
}

// outOfRange lists the places of values outside [lower, upper]; NaN is outside.
func outOfRange(a arrow.Array, lower, upper float64) (places []int, err error) {
	b := present(a)
	err = look(a, func(j int, v float64) {
		if !(v >= lower && v <= upper) && b.has(j) {
			places = append(places, j)
		}
	})
	return places, err
}

// clipped returns a with the values at some places held to [lower, upper].
func clipped(a arrow.Array, places []int, c domain.Column, lower, upper float64) (arrow.Array, error) {
	values, err := floats(a)
	if err != nil {
		return nil, err
	}
	return replacing(a, c.ArrowType(), places, func(j int) float64 { return nearestBound(values[j], lower, upper) },
		present(a))
}

// nearestBound returns the bound that v becomes. Not a number is taken for the lowest, as
// when numbers are restored, so that no value can end a run.
func nearestBound(v, lower, upper float64) float64 {
	if math.IsNaN(v) {
		v = math.Inf(-1)
	}
	if v = min(max(v, lower), upper); math.IsInf(v, -1) {
		return upper
	}
	return v
}

func isNumber(c *domain.Column) bool {
	return c.Encoding == nil && c.Type.Numbered()
}

// describe names what a column is, for problems.
func describe(c *domain.Column) string {
	if c.Encoding != nil {
		return "encoded (" + string(c.Encoding.Form) + ")"
	}
	return string(c.Type)
}
