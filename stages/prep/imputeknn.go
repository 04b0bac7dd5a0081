package prep

import (
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/prep/knn"
)

// ImputeKNN fills missing values from the nearest rows.
type ImputeKNN struct {
	Neighbors int      `yaml:"neighbors" json:"neighbors" min:"1" doc:"Number of rows that a missing value is averaged over."`
	Weights   string   `yaml:"weights" json:"weights" enum:"uniform|distance" doc:"Whether neighbours are weighted equally or by 1/distance."`
	Scope     string   `yaml:"scope" json:"scope" required:"true" enum:"table|shard|reference" doc:"Where to look for neighbours: the whole table, the row's own shard, or the table named by reference."`
	Columns   []string `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" doc:"Columns to fill; by default all that may have missing values, except text."`
	Features  []string `yaml:"features,omitempty" json:"features,omitempty" format:"columns" doc:"Columns used in the distance; all but text by default."`
	Scale     string   `yaml:"scale" json:"scale" enum:"none|bounds" doc:"Distances between the values themselves, or between values divided by the width of their declared bounds."`
}

func imputeKNNKind() pipeline.Kind {
	reference := pipeline.Port{Name: "reference", Form: pipeline.FormTable, Optional: true, Doc: "for scope reference: the table whose rows are the neighbours"}
	return pipeline.Kind{
		Name: "impute_knn", Version: 1, In: append(tableIn(), reference), Out: tableOut("the table without missing values in these columns"),
		Doc: "Fills a missing value with the mean of the nearest rows that have one (categories: the majority), with the distances and " +
			"results of scikit-learn's KNNImputer; of equally near rows the first counts. Use it where rows alike have values alike. " +
			"scope: reference to a public table keeps stability; scope: shard keeps shards(k); scope: table makes stability unbounded, so " +
			"that nothing is proven of a mechanism that follows: claims: published runs it, claims: proven refuses it.",
		New: func() pipeline.Stage { return &ImputeKNN{Neighbors: 3, Weights: "uniform", Scale: "none"} },
	}
}

// imputing is the planned stage.
type imputing struct {
	out    pipeline.Header
	scope  string
	wanted []int // columns to fill, by their places in the index
	opt    knn.Options
	names  []string // all columns the index holds: those of the table but text
	places []int    // their places in the table
	donors []int    // their places in the reference
	shard  int      // place of the shard column
}

// Plan implements pipeline.Stage.
func (s *ImputeKNN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	p, err := s.plan(in)
	return pipeline.Work{Out: pipeline.Headers{"out": p.out}, Findings: s.findings(in),
		Elsewhere: needsRows("compares each row with others"), Run: p.run}, err
}

func (s *ImputeKNN) findings(in pipeline.Headers) []pipeline.Finding {
	from := in["in"]
	if s.Scope == "reference" {
		from = in["reference"]
	}
	if s.Scope == "shard" || from.Class != pipeline.Private {
		return nil
	}
	return []pipeline.Finding{{Rule: "W03", Level: pipeline.LevelNote,
		Message: "values are imputed across private rows, so stability becomes unbounded and nothing is proven of a mechanism that follows",
		Fix:     "scope: shard after a stage shard, or scope: reference with a public table"}}
}

func (s *ImputeKNN) plan(in pipeline.Headers) (imputing, error) {
	var ps schema.Problems
	h := in["in"]
	d, p := h.Domain.Clone(), imputing{scope: s.Scope, shard: len(h.Domain.Columns)}
	s.checkScope(&ps, in)
	features := h.Domain.Pick(&ps, "features", s.Features)
	for _, i := range s.targets(&ps, h.Domain) {
		p.wanted = append(p.wanted, i)
		d.LiftMissing(d.Columns[i].Name)
		d.Columns[i].Nullable, d.Columns[i].OfUnit = false, false // a filled value is of other columns and rows
	}
	s.index(&ps, &p, h.Domain, features)
	if reference, given := in["reference"]; given {
		for _, name := range p.names {
			p.donors = append(p.donors, reference.Domain.Index(name))
		}
	}
	if s.Neighbors < 1 {
		ps.Add("neighbors", fmt.Sprint(s.Neighbors), "at least 1")
	}
	p.out = rowHeader(h, d)
	s.privacy(in, &p.out)
	return p, ps.Err()
}

// privacy: rows mix inside a shard, or across the whole table, so that the rows
// of other units change; a public reference is a public parameter.
func (s *ImputeKNN) privacy(in pipeline.Headers, out *pipeline.Header) {
	if s.Scope == "reference" {
		reference := in["reference"]
		if out.Class = out.Class.Join(reference.Class); reference.Class == pipeline.Private {
			out.Stability, out.OwnRows = pipeline.Unbounded(), false
		}
		return
	}
	if out.Class == pipeline.Private {
		out.Stability, out.OwnRows = out.Stability.AcrossRows(s.Scope == "shard"), false
	}
}

func (s *ImputeKNN) checkScope(ps *schema.Problems, in pipeline.Headers) {
	reference, given := in["reference"]
	switch {
	case s.Scope == "shard" && !in["in"].Schema.HasField(pipeline.ShardColumn):
		ps.Add("scope", "shard, but the table has no shards", "used after a stage shard, or another scope")
	case s.Scope == "reference" && !given:
		ps.Add("reference", "missing", "the stage whose table has the neighbours")
	case s.Scope != "reference" && given:
		ps.Add("reference", "given for scope "+s.Scope, "given for scope reference only")
	case given:
		for _, c := range in["in"].Domain.Columns {
			other := reference.Domain.Column(c.Name)
			if c.Type != domain.Text && (other == nil || !sameValues(c, *other)) {
				ps.Add("reference", "a table whose column "+c.Name+" is missing or of another kind", "a table with the same columns")
			}
		}
	}
}

func sameValues(a, b domain.Column) bool {
	return a.ArrowType().ID() == b.ArrowType().ID() && a.Type.Coded() == b.Type.Coded() && slices.Equal(a.Categories, b.Categories)
}

// targets are the columns to fill.
func (s *ImputeKNN) targets(ps *schema.Problems, d *domain.Domain) []int {
	var list []int
	for i, c := range d.Columns {
		if len(s.Columns) == 0 && c.Nullable && c.Type != domain.Text {
			list = append(list, i)
		}
	}
	for _, i := range d.Pick(ps, "columns", s.Columns) {
		if d.Columns[i].Type == domain.Text {
			ps.Add("columns", "given "+d.Columns[i].Name+", which is text", "given numbers and categories")
			continue
		}
		list = append(list, i)
	}
	return list
}

// index lists the columns of the index and how each enters the distance.
func (s *ImputeKNN) index(ps *schema.Problems, p *imputing, d *domain.Domain, features []int) {
	p.opt = knn.Options{Neighbors: s.Neighbors, ByDistance: s.Weights == "distance"}
	wanted := p.wanted
	p.wanted = nil
	for i, c := range d.Columns {
		if c.Type == domain.Text {
			if slices.Contains(features, i) {
				ps.Add("features", "given "+c.Name+", which is text", "given numbers and categories")
			}
			continue
		}
		if slices.Contains(wanted, i) {
			p.wanted = append(p.wanted, len(p.places))
		}
		in := len(features) == 0 || slices.Contains(features, i)
		p.places, p.names = append(p.places, i), append(p.names, c.Name)
		p.opt.Features = append(p.opt.Features, in)
		p.opt.Nominal = append(p.opt.Nominal, c.Type == domain.Categorical)
		p.opt.Scale = append(p.opt.Scale, s.scale(ps, c, in))
	}
}

func (s *ImputeKNN) scale(ps *schema.Problems, c domain.Column, feature bool) float64 {
	if s.Scale != "bounds" || c.Type == domain.Categorical || !feature {
		return 1
	}
	width := float64(len(c.Categories) - 1)
	if !c.Type.Coded() {
		if c.Bounds == nil {
			ps.Refuse("W01", "scale", "bounds, but the column "+c.Name+" has none", "none, or bounds declared for every feature")
			return 1
		}
		width = c.Bounds[1] - c.Bounds[0]
	}
	if width <= 0 {
		return 1
	}
	return 1 / width
}
