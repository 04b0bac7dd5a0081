package graphical

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
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
		Doc: "Fits the graphical model of marginal_tree to noisy marginals that are there already: those of a released model, or of a file that is declared public. " +
			"Use it to fit again under another size, or to make rows from tables that a statistical office has released. " +
			"Costs nothing: the charge of a released model is in the bill of the stage that made it; what a file cost is printed as its makers declare it.",
		In: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Optional: true, Doc: "A released model of marginals."},
			{Name: "like", Form: pipeline.FormTable, Optional: true, Lends: true, Doc: "A table with the columns of the file, such as dataset; only what is publicly known of them is read."}},
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
		ps.Add("model", "given beside file or like", "given alone: a model, or a file of the columns of like")
	case !refit && (s.File == "" || !lent):
		ps.Add("model", "absent, as is file or like", "a released model, or file and like: a file of noisy counts and a table with its columns")
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
	}{{"epsilon", s.Epsilon > 0, "what the file's makers say it cost"}, {"unit", s.Unit != "", "whose presence the file protects"},
		{"noise", s.Noise != "", "gaussian or laplace"}, {"declared_by", s.DeclaredBy != "", "who vouches for the file"}} {
		if !c.given {
			ps.Add(c.path, "absent beside file", c.want)
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
	use := pipeline.FileUse{Path: s.File, Public: true, By: s.DeclaredBy, Terms: s.terms()}
	return s.work(out, []pipeline.FileUse{use}, func(ctx context.Context, env *pipeline.Env, _ pipeline.Tables) (*front, error) {
		return s.read(ctx, env, out.Domain)
	}), ps.Err()
}

// terms is what the file's makers say of it.
func (s *MarginalsFrom) terms() string {
	return fmt.Sprintf("epsilon %g, delta %g for %s, %s noise", s.Epsilon, s.Delta, s.Unit, s.Noise)
}

func (s *MarginalsFrom) work(out pipeline.Header, files []pipeline.FileUse, collect func(context.Context, *pipeline.Env, pipeline.Tables) (*front, error)) pipeline.Work {
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

// domain is that of a file of noisy counts of a domain.
func (h heads) domain(d *domain.Domain) *domain.Domain {
	of := &domain.Domain{Columns: []domain.Column{{Name: h.marginal, Type: domain.Integer}}}
	for _, name := range d.Names() {
		of.Columns = append(of.Columns, domain.Column{Name: name, Type: domain.Text, Nullable: true})
	}
	of.Columns = append(of.Columns, domain.Column{Name: h.count, Type: domain.Numeric}, domain.Column{Name: h.sigma, Type: domain.Numeric})
	return of
}

// labelsOf are those of each column.
func labelsOf(d *domain.Domain, grids []columns.Grid) []labels {
	list := make([]labels, len(grids))
	for j := range grids {
		list[j] = labels{d.Columns[j], grids[j]}
	}
	return list
}
