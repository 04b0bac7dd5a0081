package prep

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// Discretize turns numbers into ordered bins.
type Discretize struct {
	Columns  []string             `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" doc:"Columns to cut into bins; all numbers with bounds by default."`
	Strategy string               `yaml:"strategy" json:"strategy" enum:"uniform|quantile" doc:"uniform: equal bins over the declared bounds. quantile: equally full bins, over the table or over the table named by reference."`
	Bins     int                  `yaml:"bins" json:"bins" min:"1" max:"65536" doc:"Number of bins of each column."`
	Edges    map[string][]float64 `yaml:"edges,omitempty" json:"edges,omitempty" format:"columns" doc:"Declared edges by column, ascending, instead of computed ones."`
	Inverse  string               `yaml:"inverse" json:"inverse" enum:"midpoint|uniform" doc:"What a bin becomes on the way back: its middle, or a uniform draw inside it."`
}

const discretizeName = "discretize"

func discretizeKind() pipeline.Kind {
	reference := pipeline.Port{Name: "reference", Form: pipeline.FormTable, Optional: true, Doc: "for strategy quantile: the public table whose quantiles are taken"}
	return pipeline.Kind{
		Name: discretizeName, Version: 1, In: append(tableIn(), reference), Out: tableOut("the table with bins instead of numbers"),
		Doc: "Cuts numbers into ordered bins: equal bins over declared bounds, declared edges, or quantiles. Use it for models of categories. " +
			"With declared bounds, declared edges or a public reference it works row by row and stability stays as it is; quantiles of the " +
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

// discretizing is a planned stage: which columns get which edges; nil edges are
// quantiles, known when the stage runs.
type discretizing struct {
	out      pipeline.Header
	places   []int
	edges    map[int][]float64
	findings []pipeline.Finding
}

// Plan implements pipeline.Stage.
func (s *Discretize) Plan(in pipeline.Headers) (pipeline.Outline, error) {
	p, err := s.plan(in)
	return pipeline.Outline{Out: pipeline.Headers{"out": p.out}, Lazy: len(p.places) == len(p.edges), Findings: p.findings}, err
}

func (s *Discretize) plan(in pipeline.Headers) (discretizing, error) {
	var ps pipeline.Problems
	h := in["in"]
	p, d := discretizing{edges: map[int][]float64{}}, h.Domain.Clone()
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
		*c = pipeline.Column{Name: c.Name, Type: pipeline.Ordinal, Categories: names, Nullable: c.Nullable, Source: c.Source, Doc: c.Doc}
	}
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

// fitted sets class and stability where quantiles are taken from a table.
func (s *Discretize) fitted(in pipeline.Headers, p *discretizing) {
	if len(p.places) == len(p.edges) {
		return
	}
	from, given := in["reference"]
	if !given {
		from = in["in"]
	}
	p.out.Class = p.out.Class.Join(from.Class)
	if from.Class == pipeline.Private {
		p.out.Stability = from.Stability.AcrossRows(false)
		p.findings = []pipeline.Finding{{Rule: "W01", Level: pipeline.LevelNote,
			Message: "bins are quantiles of private rows, so stability becomes unbounded and no mechanism may follow",
			Fix:     "strategy: uniform over declared bounds, declared edges, or quantiles of a public table named by reference"}}
	}
}

func (s *Discretize) places(ps *pipeline.Problems, d *pipeline.Domain) []int {
	places := ps.Pick("columns", d, s.Columns)
	for _, name := range sorted(s.Edges) {
		if at := d.Index(name); at < 0 {
			ps.Unknown("edges."+name, "column of the table", name, d.Names())
		} else if !slices.Contains(places, at) {
			places = append(places, at)
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

// edges are the public edges of one column, nil where they are quantiles.
func (s *Discretize) edges(ps *pipeline.Problems, c *pipeline.Column) []float64 {
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
		ps.Refuse("W01", "columns", "given "+c.Name+", whose bounds nobody declared", "given columns with declared bounds or edges")
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

// Run implements pipeline.Stage.
func (s *Discretize) Run(ctx context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	p, err := s.plan(headers(in))
	if err != nil {
		return nil, err
	}
	if err := s.fit(ctx, in, &p); err != nil {
		return nil, err
	}
	makers := keepAll(in["in"].Domain)
	for _, i := range p.places {
		makers[i] = binMaker(i, p.edges[i])
	}
	w := rewrite{out: p.out, makers: fixed(makers)}
	return pipeline.Tables{"out": w.apply(in["in"])}, nil
}

func headers(in pipeline.Tables) pipeline.Headers {
	h := pipeline.Headers{}
	for name, t := range in {
		h[name] = t.Header
	}
	return h
}

// fit computes the edges that are quantiles.
func (s *Discretize) fit(ctx context.Context, in pipeline.Tables, p *discretizing) error {
	from, given := in["reference"]
	if !given {
		from = in["in"]
	}
	for _, i := range p.places {
		if p.edges[i] != nil {
			continue
		}
		name := in["in"].Domain.Columns[i].Name
		at := from.Domain.Index(name)
		if at < 0 {
			return fmt.Errorf("column %s: the reference table has none of this name", name)
		}
		values, err := observed(ctx, from, at)
		if err != nil {
			return fmt.Errorf("column %s: %w", name, err)
		}
		if p.edges[i] = quantileEdges(values, s.Bins); p.edges[i] == nil {
			p.edges[i] = []float64{0, 0} // nothing to cut: every value, were there one, is in the only bin
		}
	}
	return nil
}

// observed reads all present values of column i.
func observed(ctx context.Context, t pipeline.Table, i int) ([]float64, error) {
	var all []float64
	for r, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		values, err := floats(r.Column(i))
		if err != nil {
			return nil, err
		}
		b := present(r.Column(i))
		for j, v := range values {
			if b.has(j) {
				all = append(all, v)
			}
		}
	}
	return all, ctx.Err()
}

func binMaker(i int, edges []float64) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		values, err := floats(r.Column(i))
		if err != nil {
			return nil, err
		}
		out := make([]int32, len(values))
		for j, v := range values {
			out[j] = bin(edges, v)
		}
		return column(arrow.PrimitiveTypes.Int32, out, present(r.Column(i))), nil
	}
}
