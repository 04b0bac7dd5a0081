package prep

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

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
		Name: "impute_constant", Version: 2, Late: true, In: tableIn(),
		Out: tableOut("the table without missing values in these columns"),
		Doc: "Fills missing values with declared numbers or categories. Use it where a plausible value is publicly known, " +
			"together with " +
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
	fill := func(pos int, v float64) {
		d.LiftMissing(d.Columns[pos].Name)
		d.Columns[pos].Nullable, d.Columns[pos].OfUnit = false, ofUnit(d.Columns[pos], h)
		makers[pos] = fillWith(pos, v, d.Columns[pos].ArrowType())
		exprs[pos] = stating(pos, func(e relation.Expr) relation.Expr {
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
	pos, path, v := d.Index(name), "numbers."+name, s.Numbers[name]
	switch {
	case pos < 0:
		ps.Unknown(path, "column of the table", name, d.Names())
	case d.Columns[pos].Late:
		ps.Add(path, lateSetting, beforeRelease)
	case !isNumber(&d.Columns[pos]):
		ps.Add(path, "set for a column that is "+describe(&d.Columns[pos]), "set for a number, a date or a time")
	case d.Columns[pos].Type != domain.Numeric && v != math.Trunc(v):
		ps.Add(path, fmt.Sprint(v), "a whole number, as the column is "+describe(&d.Columns[pos]))
	case d.Columns[pos].Bounds != nil && !(v >= d.Columns[pos].Bounds[0] && v <= d.Columns[pos].Bounds[1]):
		ps.Add(path, fmt.Sprint(v), fmt.Sprintf("inside the bounds [%g, %g]", d.Columns[pos].Bounds[0],
			d.Columns[pos].Bounds[1]))
	default:
		return pos
	}
	return -1
}

func (s *ImputeConstant) category(ps *schema.Problems, d *domain.Domain, name string) (pos, code int) {
	pos, path, value := d.Index(name), "categories."+name, s.Categories[name]
	if pos < 0 {
		ps.Unknown(path, "column of the table", name, d.Names())
		return -1, 0
	}
	c := &d.Columns[pos]
	code = slices.Index(c.Categories, value)
	switch {
	case c.Late:
		ps.Add(path, lateSetting, beforeRelease)
	case c.Encoding != nil || !c.Type.Coded():
		ps.Add(path, "set for a column that is "+describe(c), "set for a column with categories")
	case code < 0:
		ps.Unknown(path, "declared category", value, c.Categories)
	default:
		return pos, code
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
	reference := pipeline.Port{Name: "reference", Form: pipeline.FormTable, Optional: true,
		Doc: "for scope reference: the table whose rows are the neighbours"}
	return pipeline.Kind{
		Name: "impute_knn", Version: 1, In: append(tableIn(), reference),
		Out: tableOut("the table without missing values in these columns"),
		Doc: "Fills missing values from the nearest rows. Fills a missing value with the mean of the nearest rows that " +
			"have one (categories: the majority), with the " +
			"distances and " +
			"results of scikit-learn's KNNImputer; of equally near rows the first counts. Use it where rows alike have values " +
			"alike. " +
			"scope: reference to a public table keeps stability; scope: shard keeps shards(k); scope: table makes stability " +
			"unbounded, so " +
			"that nothing is proven of a mechanism that follows: claims: published runs it, claims: proven refuses it.",
		New: func() pipeline.Stage { return &ImputeKNN{Neighbors: 3, Weights: "uniform", Scale: "none"} },
	}
}

// imputing is the planned stage.
type imputing struct {
	out    pipeline.Header
	scope  string
	wanted []int // columns to fill, by their places in the index
	opt    knnOptions
	names  []string // all columns the index holds: the columns of the table but text
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
	source := in["in"]
	if s.Scope == "reference" {
		source = in["reference"]
	}
	if s.Scope == "shard" || source.Class != pipeline.Private {
		return nil
	}
	return []pipeline.Finding{{Rule: "W03", Level: pipeline.LevelNote,
		Message: "values are imputed across private rows, so stability becomes unbounded and nothing is proven of a " +
			"mechanism that follows",
		Fix: "scope: shard after a stage shard, or scope: reference with a public table"}}
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
	reference, present := in["reference"]
	switch {
	case s.Scope == "shard" && !in["in"].Schema.HasField(pipeline.ShardColumn):
		ps.Add("scope", "shard, but the table has no shards", "used after a stage shard, or another scope")
	case s.Scope == "reference" && !present:
		ps.Add("reference", "missing", "the stage whose table has the neighbours")
	case s.Scope != "reference" && present:
		ps.Add("reference", "given for scope "+s.Scope, "given for scope reference only")
	case present:
		for _, c := range in["in"].Domain.Columns {
			other := reference.Domain.Column(c.Name)
			if c.Type != domain.Text && (other == nil || !sameValues(c, *other)) {
				ps.Add("reference", "a table whose column "+c.Name+" is missing or of another kind",
					"a table with the same columns")
			}
		}
	}
}

func sameValues(a, b domain.Column) bool {
	return a.ArrowType().ID() == b.ArrowType().ID() && a.Type.Coded() == b.Type.Coded() && slices.Equal(a.Categories,
		b.Categories)
}

// targets returns the columns to fill.
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
	p.opt = knnOptions{Neighbors: s.Neighbors, ByDistance: s.Weights == "distance"}
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

// run holds the table in memory: about 8 bytes a cell, and as much again for the
// index.
func (p imputing) run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	whole, err := in["in"].Collect(ctx)
	if err != nil {
		return nil, err
	}
	data, err := p.matrix(whole, p.places)
	if err != nil {
		return nil, err
	}
	cells, err := p.fill(ctx, env, in, whole, data)
	if err != nil {
		return nil, err
	}
	return pipeline.Tables{"out": pipeline.FromRecords(p.out, p.write(whole, data, cells))}, nil
}

func (p imputing) fill(ctx context.Context, env *pipeline.Env, in pipeline.Tables, whole arrow.Record,
	data knnColumns) ([]knnCell, error) {
	switch p.scope {
	case "reference":
		donors, err := p.reference(ctx, in["reference"])
		if err != nil {
			return nil, err
		}
		return newKNNIndex(donors, nil, p.opt).Fill(ctx, data, nil, p.wanted, env.Workers)
	case "shard":
		shards, err := codes(whole.Column(p.shard))
		if err != nil {
			return nil, err
		}
		return fillGroups(ctx, data, shards, p.opt, p.wanted, env.Workers)
	}
	return newKNNIndex(data, nil, p.opt).Fill(ctx, data, nil, p.wanted, env.Workers)
}

func (p imputing) reference(ctx context.Context, t pipeline.Table) (knnColumns, error) {
	r, err := t.Collect(ctx)
	if err != nil {
		return nil, err
	}
	return p.matrix(r, p.donors)
}

// matrix returns the columns at these places as numbers, NaN where a value is missing.
// An infinite one has no distance and counts as missing too.
func (p imputing) matrix(r arrow.Record, places []int) (knnColumns, error) {
	data := make(knnColumns, len(places))
	for j, i := range places {
		values, b := make([]float64, r.NumRows()), present(r.Column(i))
		err := look(r.Column(i), func(k int, v float64) {
			if values[k] = v; math.IsInf(v, 0) || !b.has(k) {
				values[k] = math.NaN()
			}
		})
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", p.names[j], err)
		}
		data[j] = values
	}
	return data, nil
}

// write puts the filled cells into the columns, and passes on those without any;
// whole numbers and codes are rounded half to even.
func (p imputing) write(whole arrow.Record, data knnColumns, cells []knnCell) arrow.Record {
	changed := map[int]bool{}
	for _, c := range cells {
		v := c.Value
		if t := p.out.Domain.Columns[p.places[c.Column]].ArrowType().ID(); t == arrow.INT64 || t == arrow.INT32 {
			v = math.RoundToEven(v)
		}
		data[c.Column][c.Row], changed[c.Column] = v, true
	}
	columns := slices.Clone(whole.Columns())
	for w := range changed {
		i := p.places[w]
		columns[i] = store(columns[i].DataType(), data[w], nil)
	}
	return array.NewRecord(p.out.Schema, columns, whole.NumRows())
}
