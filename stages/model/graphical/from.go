package graphical

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/train/graphical"
)

// MarginalsFrom fits a model to noisy marginals that are there already.
//
// Input: a released model, or a file of noisy counts that is declared public. Nothing
// private goes in, so nothing is charged: the model is post-processing of releases that
// were paid for before, in this plan or by whoever made the file.
type MarginalsFrom struct {
	Size       `yaml:",inline"`
	File       string        `yaml:"file,omitempty" json:"file,omitempty" format:"path" doc:"Noisy counts, relative to the spec: a CSV, TSV, Parquet or Arrow table with a row for each cell, as the listing that models of marginals release. Columns: marginal (its number), those of like (the label of the cell, empty where the marginal is not over the column), count, sigma (standard deviation of its noise, one for each marginal)."`
	CSV        *pipeline.CSV `yaml:"csv,omitempty" json:"csv,omitempty" doc:"Dialect of a CSV or TSV file."`
	Epsilon    float64       `yaml:"epsilon,omitempty" json:"epsilon,omitempty" exclusiveMin:"0" doc:"What whoever made the file says of it. Printed in the bill and in PRIVACY.md, outside of what weir proves."`
	Delta      float64       `yaml:"delta,omitempty" json:"delta,omitempty" min:"0" exclusiveMax:"1" doc:"The delta beside epsilon."`
	Unit       string        `yaml:"unit,omitempty" json:"unit,omitempty" doc:"Whose presence the file protects, such as: one person, replaced."`
	Noise      string        `yaml:"noise,omitempty" json:"noise,omitempty" enum:"gaussian|laplace" doc:"The law of the noise in the file."`
	DeclaredBy string        `yaml:"declared_by,omitempty" json:"declared_by,omitempty" doc:"Who made the file and vouches for it."`
	Rows       int64         `yaml:"rows,omitempty" json:"rows,omitempty" min:"1" doc:"Rows of the table that was counted, if they are public; else they are estimated from the counts."`
}

const fromName = "marginals_from"

func marginalsFromKind() pipeline.Kind {
	return pipeline.Kind{
		Name: fromName, Version: 5,
		Doc: "Graphical model of noisy marginals that are there already. Fits the graphical model of marginal_tree to " +
			"noisy marginals that are there already: those of a released " +
			"model, or of a file that is declared public. " +
			"Use it to fit again under another size, or to make rows from tables that a statistical office has released. " +
			"Costs nothing: the charge of a released model is in the bill of the stage that made it; what a file cost is " +
			"printed as its makers declare it.",
		In: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Optional: true, Doc: "A released model of marginals."},
			{Name: "like", Form: pipeline.FormTable, Optional: true, Lends: true, Doc: "A table with the columns of the file, " +
				"such as dataset; only what is publicly known of them is read."}},
		Out:     modelOut(),
		Readers: readers(),
		New:     func() pipeline.Stage { return &MarginalsFrom{Size: Size{MaxModelSize: 40}} },
	}
}

// Plan implements pipeline.Stage.
func (s *MarginalsFrom) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	model, refit := in["model"]
	like, lent := in["like"]
	switch {
	case refit && (s.File != "" || lent):
		ps.Add("model", "given together with file or like", "given alone: a model, or a file of the columns of like")
	case !refit && (s.File == "" || !lent):
		ps.Add("model", "absent, as is file or like", "a released model, or file and like: a file of noisy counts and a "+
			"table with its columns")
	}
	switch {
	case refit:
		return s.again(model, &ps)
	case s.File == "" || !lent:
		return pipeline.Work{}, ps.Err()
	}
	return s.fromFile(like, &ps)
}

// again fits the marginals of a released model.
func (s *MarginalsFrom) again(model pipeline.Header, ps *schema.Problems) (pipeline.Work, error) {
	if model.Class == pipeline.Private && !model.Terms.NoPrivacy {
		ps.Refuse("W13", "model", "private", "a released one: what is fitted to private numbers is private")
	}
	needMeasured(model.Domain, ps)
	out := modelHeader(model)
	out.Class = model.Class
	return s.work(out, nil, func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (*front, error) {
		m, err := ours(ctx, in["model"])
		if err != nil {
			return nil, err
		}
		return m.front(), nil
	}), ps.Err()
}

// fromFile fits the marginals of a file.
func (s *MarginalsFrom) fromFile(like pipeline.Header, ps *schema.Problems) (pipeline.Work, error) {
	for _, c := range []struct {
		path  string
		given bool
		want  string
	}{{"epsilon", s.Epsilon > 0, "what the file's makers say it cost"},
		{"unit", s.Unit != "", "whose presence the file protects"},
		{"noise", s.Noise != "", "gaussian or laplace"}, {"declared_by", s.DeclaredBy != "", "who vouches for the file"}} {
		if !c.given {
			ps.Add(c.path, "absent, with file given", c.want)
		}
	}
	if like.Domain == nil {
		return pipeline.Work{}, ps.Err()
	}
	var of schema.Problems
	need(like, &of)
	for _, p := range of {
		p.Path = "like" // the setting that names the table here
		*ps = append(*ps, p)
	}
	s.Size.check(like.Domain, Columns{}, ps)
	out := modelHeader(like)
	out.Domain = like.Domain.Clone()
	use := pipeline.FileUse{Path: s.File, Public: true, By: s.DeclaredBy, Guarantee: s.declaredGuarantee()}
	return s.work(out, []pipeline.FileUse{use}, func(ctx context.Context, env *pipeline.Env, _ pipeline.Tables) (*front,
		error) {
		return s.read(ctx, env, out.Domain)
	}), ps.Err()
}

// declaredGuarantee returns what the file's makers say of it.
func (s *MarginalsFrom) declaredGuarantee() string {
	return fmt.Sprintf("epsilon %g, delta %g for %s, %s noise", s.Epsilon, s.Delta, s.Unit, s.Noise)
}

func (s *MarginalsFrom) work(out pipeline.Header, files []pipeline.FileUse, collect func(context.Context, *pipeline.Env,
	pipeline.Tables) (*front, error)) pipeline.Work {
	list := marginalsHeader(out)
	list.Class = out.Class
	return pipeline.Work{Out: pipeline.Headers{"model": out, "marginals": list}, Files: files,
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			f, err := collect(ctx, env, in)
			if err != nil {
				return nil, err
			}
			fitted, err := f.fit(ctx, s.limits(), env.Workers)
			if err != nil {
				return nil, err
			}
			model, err := f.release(fromName, out, fitted, s.MaxModelSize)
			if err != nil {
				return nil, err
			}
			model.Class = out.Class
			text, err := listed(ctx, env, list, model)
			return pipeline.Tables{"model": model, "marginals": text}, err
		}}
}

// read makes a front of the counts of the file.
func (s *MarginalsFrom) read(ctx context.Context, env *pipeline.Env, d *domain.Domain) (*front, error) {
	h, dialect := headsFor(d), pipeline.CSV{}
	if s.CSV != nil {
		dialect = *s.CSV
	}
	dialect.Extra = "ignore" // such as intervals
	t, err := env.Files(s.File, &dialect, h.domain(d))
	if err != nil {
		return nil, err
	}
	list, err := readTables(ctx, t, d, s.limits().Total)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	for i := range list {
		list[i].noise = map[string]string{laplace: laplace}[s.Noise]
	}
	f, err := frontOf(d, list, float64(s.Rows))
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	return f, nil
}

// domain returns the domain of a file of noisy counts of a domain.
func (h heads) domain(d *domain.Domain) *domain.Domain {
	dom := &domain.Domain{Columns: []domain.Column{{Name: h.marginal, Type: domain.Integer}}}
	for _, name := range d.Names() {
		dom.Columns = append(dom.Columns, domain.Column{Name: name, Type: domain.Text, Nullable: true})
	}
	dom.Columns = append(dom.Columns, domain.Column{Name: h.count, Type: domain.Numeric}, domain.Column{Name: h.sigma,
		Type: domain.Numeric})
	return dom
}

// labelsOf returns the labels of each column.
func labelsOf(d *domain.Domain, grids []columns.Grid) []labels {
	list := make([]labels, len(grids))
	for j := range grids {
		list[j] = labels{d.Columns[j], grids[j]}
	}
	return list
}

const (
	// clearly is how many standard deviations of its noise a cell of published tables has to
	// hold on average, for them to be fitted closer than the noise asks.
	clearly = 5
	// closely and closelySweeps take the place of Options.Stop and Options.Sweeps then.
	closely, closelySweeps = 0.02, 600
)

// fitPublished fits tables that others have published. Where noise drowns most of their
// cells the fit stops as every other does, where noise explains what is left: that is
// nearest to the table that was counted. Where noise is little the user wants the
// published cells back, and the stop would leave small ones too large, so the fit goes on.
func fitPublished(ctx context.Context, t *graphical.Tree, rows float64, tables []graphical.Table,
	masks []graphical.Mask, o graphical.Options) (*graphical.Model, graphical.Report, error) {
	if clearOf(rows, tables) {
		o.Stop, o.Sweeps = closely, closelySweeps
	}
	return graphical.Fit(ctx, t, rows, tables, masks, o)
}

// clearOf tells whether cells hold enough beside their noise. It sees released numbers.
func clearOf(rows float64, tables []graphical.Table) bool {
	covered, noise := 0.0, 0.0
	for _, x := range tables {
		covered += rows
		for _, v := range x.Var {
			noise += math.Sqrt(v)
		}
	}
	return covered >= clearly*noise
}

// tabled is a noisy marginal of a file: counts row-major over groups of cells along
// each column, ascending and apart.
type tabled struct {
	number  int64
	columns []int
	axes    [][]group
	y       []float64
	sigma   float64
	noise   string
}

func (t *tabled) wrong(found, accepted string) error {
	return fmt.Errorf("marginal %d: %s, must be %s", t.number, found, accepted)
}

// loose is a marginal while its rows come in.
type loose struct {
	tabled
	cells [][]int // by row, a group of each of the columns
}

// tableReader collects the rows of a file of noisy counts.
type tableReader struct {
	labels []labels
	known  []map[string]int // groups by label, by column
	groups [][]group
	list   []*loose
	at     map[int64]*loose
	rows   int64
	most   int64
}

// readTables reads a file of noisy counts, in memory that its rows explain. It is
// declared public, so errors quote it.
func readTables(ctx context.Context, t pipeline.Table, d *domain.Domain, most int64) ([]tabled, error) {
	grids, err := gridsOf(d)
	if err != nil {
		return nil, err
	}
	r := tableReader{labels: labelsOf(d, grids), known: make([]map[string]int, len(grids)),
		groups: make([][]group, len(grids)), at: map[int64]*loose{}, most: most}
	for j := range r.known {
		r.known[j] = map[string]int{}
	}
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for i := range int(rec.NumRows()) {
			if err := r.row(rec, i); err != nil {
				return nil, err
			}
		}
	}
	out := make([]tabled, len(r.list))
	for i, l := range r.list {
		if out[i], err = r.arrange(l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *tableReader) row(rec arrow.Record, i int) error {
	if r.rows++; r.rows > r.most {
		return fmt.Errorf("has more than %d cells, must have no more than max_model_size allows", r.most)
	}
	d := len(r.labels)
	one := &loose{tabled: tabled{number: rec.Column(0).(*array.Int64).Value(i),
		sigma: rec.Column(d + 2).(*array.Float64).Value(i)}}
	y := rec.Column(d + 1).(*array.Float64).Value(i)
	var cell []int
	for j := range d {
		a := rec.Column(1 + j).(*array.String)
		if a.IsNull(i) {
			continue
		}
		pos, err := r.group(j, a.Value(i))
		if err != nil {
			return fmt.Errorf("marginal %d: %w", one.number, err)
		}
		one.columns, cell = append(one.columns, j), append(cell, pos)
	}
	if !(one.sigma > 0 && one.sigma < 1e15) || !(math.Abs(y) < 1e15) {
		return one.wrong(fmt.Sprintf("a count is %g with sigma %g", y, one.sigma), "counts and, above 0, sigmas below 1e15")
	}
	l, known := r.at[one.number]
	if !known {
		r.at[one.number], r.list, l = one, append(r.list, one), one
	}
	if !slices.Equal(l.columns, one.columns) || len(cell) == 0 {
		return one.wrong("rows with labels in different columns, or in none",
			"over the same columns in all of its rows, at least one")
	}
	if l.sigma != one.sigma {
		return one.wrong(fmt.Sprintf("sigmas %g and %g", l.sigma, one.sigma), "of one sigma")
	}
	l.cells, l.y = append(l.cells, cell), append(l.y, y)
	return nil
}

// group returns the number of a label of a column.
func (r *tableReader) group(j int, text string) (int, error) {
	if at, known := r.known[j][text]; known {
		return at, nil
	}
	g, err := r.labels[j].read(text)
	if err != nil {
		return 0, err
	}
	r.known[j][text] = len(r.groups[j])
	r.groups[j] = append(r.groups[j], g)
	return len(r.groups[j]) - 1, nil
}

// arrange puts a marginal's rows in order: each combination of its groups once.
func (r *tableReader) arrange(l *loose) (tabled, error) {
	t, place, cells := l.tabled, make([]map[int]int, len(l.columns)), 1
	for a, j := range l.columns {
		var used []int
		for _, cell := range l.cells {
			used = append(used, cell[a])
		}
		slices.Sort(used)
		used = slices.Compact(used)
		slices.SortFunc(used, func(x, y int) int { return r.groups[j][x].order() - r.groups[j][y].order() })
		place[a] = map[int]int{}
		var axis []group
		for k, at := range used {
			place[a][at], axis = k, append(axis, r.groups[j][at])
		}
		if err := r.refuseShared(axis); err != nil {
			return t, fmt.Errorf("marginal %d: column %s: %w", t.number, r.labels[j].column.Name, err)
		}
		t.axes = append(t.axes, axis)
		if cells *= len(axis); cells > len(l.y) {
			break
		}
	}
	if cells != len(l.y) {
		return t, t.wrong(fmt.Sprintf("%d rows", len(l.y)), "a row for each combination of its cells, small counts too: "+
			"what is left out for its count biases the rest")
	}
	return t, t.fill(l, place)
}

func (t *tabled) fill(l *loose, place []map[int]int) error {
	y, filled := make([]float64, len(l.y)), make([]bool, len(l.y))
	for i, cell := range l.cells {
		pos := 0
		for a := range cell {
			pos = pos*len(t.axes[a]) + place[a][cell[a]]
		}
		if filled[pos] {
			return t.wrong("a cell twice", "of cells that are all different")
		}
		y[pos], filled[pos] = l.y[i], true
	}
	t.y = y
	return nil
}

// refuseShared refuses groups that share cells, and single points beside whole cells.
func (r *tableReader) refuseShared(axis []group) error {
	seen, end := map[int]bool{}, 0
	for _, g := range axis {
		for _, cell := range g.list {
			if seen[cell] {
				return fmt.Errorf("two of its cells share values, must be apart")
			}
			seen[cell] = true
		}
		if g.list == nil && g.point == 0 && g.lo < end {
			return fmt.Errorf("two of its cells share values, must be apart")
		}
		if (g.point > 0) != (axis[0].point > 0) {
			return fmt.Errorf("single points stand beside whole cells of its public grid, must be in marginals of their own")
		}
		end = g.hi
	}
	return nil
}
