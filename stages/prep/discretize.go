package prep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/schema"
)

// Discretize turns numbers into ordered bins.
type Discretize struct {
	Columns  []string             `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" doc:"Columns to cut into bins; all numbers with bounds by default."`
	Strategy string               `yaml:"strategy" json:"strategy" enum:"uniform|quantile" doc:"uniform: equal bins over the declared bounds. quantile: equally full bins, over the table or over the table named by reference."`
	Bins     int                  `yaml:"bins" json:"bins" min:"1" max:"65536" doc:"Number of bins of each column."`
	Edges    map[string][]float64 `yaml:"edges,omitempty" json:"edges,omitempty" format:"columns" doc:"Declared edges by column, ascending, instead of computed ones."`
	Inverse  string               `yaml:"inverse" json:"inverse" enum:"midpoint|uniform" doc:"What decoding makes of a bin: its midpoint, or a uniform draw inside it."`
}

const discretizeName = "discretize"

func discretizeKind() pipeline.Kind {
	reference := pipeline.Port{Name: "reference", Form: pipeline.FormTable, Optional: true,
		Doc: "for strategy quantile: the public table whose quantiles are taken"}
	return pipeline.Kind{
		Name: discretizeName, Version: 1, In: append(tableIn(), reference),
		Out: tableOut("the table with bins instead of numbers"),
		Doc: "Cuts numbers into ordered bins. They are equal bins over declared bounds, declared edges, or quantiles. Use " +
			"it for " +
			"models of categories. " +
			"With declared bounds, declared edges or a public reference it works row by row and stability stays as it is; " +
			"quantiles of the " +
			"table itself make stability unbounded. Decoding brings back bins whose edges are public, not quantiles.",
		New: func() pipeline.Stage { return &Discretize{Strategy: "uniform", Bins: 10, Inverse: "midpoint"} },
	}
}

// binned is the parameter of the step discretize: a column and its public edges.
type binned struct {
	Name    string    `json:"name"`
	Edges   []float64 `json:"edges"`
	Inverse string    `json:"inverse"`
}

// check judges the bins of a released model, which states them itself and may come from anyone.
func (p binned) check(current, target *domain.Column) error {
	switch {
	case !current.Type.Coded() || !isNumber(target):
		return fmt.Errorf("is %s and was %s, must be bins of a number", describe(current), describe(target))
	case len(p.Edges) < 2 || len(p.Edges) != len(current.Categories)+1 || !slices.IsSorted(p.Edges):
		return fmt.Errorf("has %d edges of %d bins, must have one more, ascending", len(p.Edges), len(current.Categories))
	case p.Inverse != "midpoint" && p.Inverse != "uniform":
		return fmt.Errorf("has the inverse %.60q, must be midpoint or uniform", p.Inverse)
	}
	return nil
}

// discretizing is the planned stage: which columns get which edges; nil edges
// are quantiles, known when the stage runs.
type discretizing struct {
	out      pipeline.Header
	bins     int
	places   []int
	edges    map[int][]float64
	port     string      // whose table the quantiles are of
	from     map[int]int // by place, the place of the column in the table of port
	findings []pipeline.Finding
}

// Plan implements pipeline.Stage.
func (s *Discretize) Plan(in pipeline.Headers) (pipeline.Work, error) {
	p, err := s.plan(in)
	return pipeline.Work{Out: pipeline.Headers{"out": p.out}, Lazy: len(p.places) == len(p.edges), Findings: p.findings,
		Elsewhere: p.elsewhere(in["in"]), Run: p.run}, err
}

func (s *Discretize) plan(in pipeline.Headers) (discretizing, error) {
	var ps schema.Problems
	h := in["in"]
	p, d := discretizing{bins: s.Bins, edges: map[int][]float64{}, from: map[int]int{}}, h.Domain.Clone()
	var params []binned
	for _, i := range s.places(&ps, h.Domain) {
		c := &d.Columns[i]
		edges := s.edges(&ps, c)
		p.places = append(p.places, i)
		names := rankNames(s.Bins)
		if edges != nil {
			p.edges[i], names = edges, binNames(edges)
			params = append(params, binned{c.Name, edges, s.Inverse})
		}
		*c = domain.Column{Name: c.Name, Type: domain.Ordinal, Categories: names, Nullable: c.Nullable, Source: c.Source,
			Doc:    c.Doc,
			OfUnit: ofUnit(*c, h) && edges != nil, FromUnit: c.FromUnit}
	}
	s.quantiles(&ps, in, &p)
	if err := ps.Err(); err != nil {
		return p, err
	}
	text, err := json.Marshal(params)
	if err != nil {
		return p, err
	}
	if len(params) > 0 {
		remember(d, h.Domain, discretizeName, text)
	}
	p.out = rowHeader(h, d)
	s.fitted(in, &p)
	return p, nil
}

// quantiles finds the columns that edges are computed of.
func (s *Discretize) quantiles(ps *schema.Problems, in pipeline.Headers, p *discretizing) {
	p.port = "in"
	if _, given := in["reference"]; given {
		p.port = "reference"
	}
	for _, i := range p.places {
		name, source := in["in"].Domain.Columns[i].Name, in[p.port].Domain
		if p.edges[i] != nil {
			continue
		}
		if p.from[i] = source.Index(name); p.from[i] < 0 {
			ps.Unknown("columns", "column of the reference", name, source.Names())
		} else if c := &source.Columns[p.from[i]]; p.port == "reference" && !isNumber(c) {
			ps.Add("reference", "a table whose column "+name+" is "+describe(c), "a table in which it is a number or a date")
		}
	}
}

// fitted sets class and stability where quantiles are taken from a table.
func (s *Discretize) fitted(in pipeline.Headers, p *discretizing) {
	if len(p.places) == len(p.edges) {
		return
	}
	source := in[p.port]
	p.out.Class = p.out.Class.Join(source.Class)
	if source.Class == pipeline.Private {
		p.out.Stability, p.out.OwnRows = source.Stability.AcrossRows(false), false
		p.findings = []pipeline.Finding{{Rule: "W01", Level: pipeline.LevelNote,
			Message: "bins are quantiles of private rows, so stability becomes unbounded and nothing is proven of a mechanism " +
				"that follows",
			Fix: "strategy: uniform over declared bounds, declared edges, or quantiles of a public table named by reference"}}
	}
}

func (s *Discretize) places(ps *schema.Problems, d *domain.Domain) []int {
	places := d.Pick(ps, "columns", s.Columns)
	for _, name := range sorted(s.Edges) {
		if index := d.Index(name); index < 0 {
			ps.Unknown("edges."+name, "column of the table", name, d.Names())
		} else if !slices.Contains(places, index) {
			places = append(places, index)
		}
	}
	for i, c := range d.Columns {
		if len(s.Columns) == 0 && isNumber(&c) && c.Bounds != nil && !slices.Contains(places, i) {
			places = append(places, i)
		}
	}
	if len(places) == 0 && len(*ps) == 0 {
		ps.Add("columns", "absent, and no number of the table has bounds", "the columns to cut into bins")
	}
	return places
}

// edges returns the public edges of one column, nil where they are quantiles.
func (s *Discretize) edges(ps *schema.Problems, c *domain.Column) []float64 {
	if !isNumber(c) {
		ps.Add("columns", "given "+c.Name+", which is "+describe(c), "given numbers and dates")
		return nil
	}
	edges, declared := s.Edges[c.Name]
	switch {
	case declared && (len(edges) < 2 || !ascending(edges)):
		ps.Add("edges."+c.Name, fmt.Sprint(edges), "at least two numbers in strictly ascending order")
	case declared:
		return edges
	case s.Bins < 1:
		ps.Add("bins", fmt.Sprint(s.Bins), "at least 1")
	case s.Strategy == "quantile":
	case c.Bounds == nil:
		ps.Refuse("W01", "columns", "given "+c.Name+", which has no declared bounds",
			"given columns with declared bounds or edges (dp_bounds finds bounds for a charge)")
	case c.Bounds[0] == c.Bounds[1]:
		return []float64{c.Bounds[0], c.Bounds[1]}
	default:
		return uniformEdges(c.Bounds[0], c.Bounds[1], s.Bins)
	}
	return nil
}

func ascending(edges []float64) bool {
	for i := 1; i < len(edges); i++ {
		if !(edges[i-1] < edges[i]) {
			return false
		}
	}
	return true
}

// undoDiscretize turns bins with public edges into numbers.
func undoDiscretize(u *undoing) error {
	var params []binned
	if err := json.Unmarshal(u.step.Params, &params); err != nil {
		return err
	}
	for _, p := range params {
		i, target, ok := u.find(p.Name)
		if !ok {
			continue
		}
		current := u.h.Domain.Columns[i]
		if current.Encoding != nil {
			return errors.New("column " + p.Name + " is still encoded")
		}
		if err := p.check(&current, &target); err != nil {
			return fmt.Errorf("column %s: %w", p.Name, err)
		}
		target.OfUnit = ofUnit(current, u.h) && p.Inverse != "uniform" // each row draws for itself
		u.draws = u.draws || p.Inverse == "uniform"
		u.set(i, target, current.Nullable, func(random randomness) maker { return p.unbin(i, target, random) })
	}
	return nil
}

// uniformEdges returns the bins+1 edges of equal bins from lower to upper.
func uniformEdges(lower, upper float64, bins int) []float64 {
	edges := make([]float64, bins+1)
	for i := range edges {
		edges[i] = lower + float64(float64(i)*((upper-lower)/float64(bins)))
	}
	edges[bins] = upper
	return edges
}

// quantileEdges returns the quantiles 0, 1/bins .. 1 of values (linear
// interpolation between order statistics, as NumPy does); equal neighbours
// collapse, so there may be fewer bins. Values are sorted in place.
func quantileEdges(values []float64, bins int) []float64 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	edges := make([]float64, bins+1)
	for i := range edges {
		point := float64(float64(i) / float64(bins) * float64(len(values)-1))
		low := min(int(point), len(values)-1)
		high := min(low+1, len(values)-1)
		edges[i] = values[low] + float64((point-float64(low))*(values[high]-values[low]))
	}
	return slices.Compact(edges)
}

// bin returns the number of inner edges at or below x: bins are right-open, the last
// one closed, and values outside belong to the end bins (testdata/golden/METRICS.md section 3).
func bin(edges []float64, x float64) int32 {
	if len(edges) < 3 {
		return 0
	}
	inner := edges[1 : len(edges)-1]
	index, exact := slices.BinarySearch(inner, x)
	if exact {
		index++
	}
	return int32(index)
}

// within returns the value at share u of bin i.
func within(edges []float64, i int32, u float64) float64 {
	if len(edges) < 2 {
		return math.NaN()
	}
	i = min(max(i, 0), int32(len(edges)-2))
	return edges[i] + float64(u*(edges[i+1]-edges[i]))
}

// binNames spells bins as half-open intervals.
func binNames(edges []float64) []string {
	names := make([]string, max(1, len(edges)-1))
	for i := range names {
		closing := ")"
		if i == len(names)-1 {
			closing = "]"
		}
		names[i] = "[" + short(edges[i]) + ", " + short(edges[i+1]) + closing
	}
	return names
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// rankNames names bins whose edges are not public.
func rankNames(bins int) []string {
	names := make([]string, bins)
	for i := range names {
		names[i] = fmt.Sprintf("bin %d", i+1)
	}
	return names
}

// run computes the edges that are quantiles and bins each value.
func (p discretizing) run(ctx context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	makers := keepAll(p.out.Domain)
	for _, i := range p.places {
		edges, err := p.cuts(ctx, in[p.port], i)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", p.out.Domain.Columns[i].Name, err)
		}
		makers[i] = binMaker(i, edges)
	}
	w := rewrite{out: p.out, makers: fixed(makers)}
	return pipeline.Tables{"out": w.apply(in["in"], nil)}, nil
}

// elsewhere states the bins of planned edges; quantiles are known when the stage runs.
func (p discretizing) elsewhere(in pipeline.Header) pipeline.Statement {
	if len(p.places) != len(p.edges) {
		return needsRows("cuts at quantiles, which are computed from the rows of a table")
	}
	w := rewrite{out: p.out, exprs: sameAll(in.Domain)}
	for _, i := range p.places {
		var inner []float64
		if edges := p.edges[i]; len(edges) > 2 {
			inner = edges[1 : len(edges)-1]
		}
		w.exprs[i] = stating(i, func(e relation.Expr) relation.Expr {
			return relation.Bins{E: relation.AsReal{E: e}, Edges: inner}
		})
	}
	return w.elsewhere
}

// cuts returns the edges of column i: those planned, or the quantiles of t. Of a table
// without values there are none, and every value, were there one, is in the only bin.
func (p discretizing) cuts(ctx context.Context, t pipeline.Table, i int) ([]float64, error) {
	if edges := p.edges[i]; edges != nil {
		return edges, nil
	}
	values, err := observed(ctx, t, p.from[i])
	return quantileEdges(values, p.bins), err
}

// observed reads all present values of column i.
func observed(ctx context.Context, t pipeline.Table, i int) ([]float64, error) {
	var all []float64
	for r, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		b := present(r.Column(i))
		err = look(r.Column(i), func(j int, v float64) {
			if b.has(j) {
				all = append(all, v)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return all, ctx.Err()
}

func binMaker(i int, edges []float64) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		out := make([]int32, r.NumRows())
		err := look(r.Column(i), func(j int, v float64) { out[j] = bin(edges, v) })
		return column(arrow.PrimitiveTypes.Int32, out, present(r.Column(i))), err
	}
}

// unbin makes column i of a batch numbers again.
func (p binned) unbin(i int, target domain.Column, random randomness) maker {
	values, draw := restoring(target), func() float64 { return 0.5 }
	if p.Inverse == "uniform" {
		draw = random(i).Float64
	}
	return func(r arrow.Record) (arrow.Array, error) {
		src, err := codes(r.Column(i))
		if err != nil {
			return nil, err
		}
		x := make([]float64, len(src))
		for j, c := range src {
			x[j] = values.value(within(p.Edges, c, draw()))
		}
		return store(target.ArrowType(), x, present(r.Column(i))), nil
	}
}
