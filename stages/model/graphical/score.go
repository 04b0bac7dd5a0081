package graphical

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// Score adds to each row how probable it is under a released model.
//
// Input: any table, and a released model. Nothing is released of a private table: its
// scores are as private as its rows. Each is a function of its row and of the model
// alone, so stability stays as it is (docs/design.md section 3).
type Score struct {
	As string `yaml:"as" json:"as" minLength:"1" doc:"Name of the new column."`
}

const scoreName = "score"

func scoreKind() pipeline.Kind {
	return pipeline.Kind{
		Name: scoreName, Version: 2,
		Doc: "Adds a column with the natural logarithm of the probability that a released model of marginals gives each row: of its codes, and of its values inside their bins. " +
			"Use it to find unusual rows, so that a later stage can rank or filter them. Works row by row: scores of a private table are private, cost nothing and keep its stability; those of released rows are released. " +
			"A row that the model cannot draw gets the lower bound of the column, -64 for each column of the model.",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "The rows, with the columns that the model knows."},
			{Name: "model", Form: pipeline.FormModel, Doc: "A released model of marginals."}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "The rows with their scores."}},
		New: func() pipeline.Stage { return &Score{As: "score"} },
	}
}

// leastOfColumn bounds what a column adds to a score: far below what a grid of 65,536
// cells and any noise give one.
const leastOfColumn = -64

// Plan implements pipeline.Stage.
func (s *Score) Plan(in pipeline.Headers) (pipeline.Work, error) {
	out, err := s.header(in["in"], in["model"])
	return pipeline.Work{Out: pipeline.Headers{"out": out}, Lazy: true,
		Run: func(ctx context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			m, err := ours(ctx, in["model"])
			if err != nil {
				return nil, err
			}
			judge, err := newLikelihood(m, in["in"].Domain)
			if err != nil {
				return nil, err
			}
			return pipeline.Tables{"out": in["in"].Map(out, judge.record(out))}, nil
		}}, err
}

// header is that of the table with its scores. Under a private model, which there is
// without privacy alone, any score may change with any row.
func (s *Score) header(table, model pipeline.Header) (pipeline.Header, error) {
	var ps schema.Problems
	d := table.Domain.Clone()
	if d.Index(s.As) >= 0 || known(d, s.As) || s.As == pipeline.ShardColumn {
		ps.Add("as", s.As+", a column of the table", "a name that no column has")
	}
	wide := 0
	if model.Domain != nil {
		wide = len(model.Domain.Columns)
		needKnown(d, model.Domain, &ps)
	}
	d.Columns = append(d.Columns, domain.Column{Name: s.As, Type: domain.Numeric, Bounds: &[2]float64{float64(leastOfColumn * wide), 0}, Source: "public",
		Doc: "natural logarithm of the row's probability under a released model"})
	h := pipeline.TableHeader(d, table)
	if h.Class = h.Class.Join(model.Class); model.Class == pipeline.Private {
		h.Stability, h.OwnRows = pipeline.Unbounded(), false
	}
	return h, ps.Err()
}

// known reports whether a step that led to the table had a column of that name, which
// undoing the step would take this one for.
func known(d *domain.Domain, name string) bool {
	for _, step := range d.History {
		if step.Before != nil && step.Before.Index(name) >= 0 {
			return true
		}
	}
	return false
}

// needKnown adds a problem for each column of a model that a table lacks or has in
// another form.
func needKnown(d, model *domain.Domain, ps *schema.Problems) {
	for _, c := range model.Columns {
		switch own := d.Column(c.Name); {
		case c.Encoding != nil:
			ps.Add("model", "one that learned encoded columns ("+c.Name+")", "a model of marginals, which says how probable a row is")
			return
		case own == nil:
			ps.Unknown("model", "column of the table", c.Name, d.Names())
		case own.Encoding != nil || own.Type.Coded() != c.Type.Coded() || own.ArrowType().ID() != c.ArrowType().ID():
			ps.Add("from", fmt.Sprintf("a table whose column %s is %s", c.Name, form(own)), fmt.Sprintf("%s, as the model knows it", form(&c)))
		}
	}
}

func form(c *domain.Column) string {
	if c.Encoding != nil {
		return "encoded (" + string(c.Encoding.Form) + ")"
	}
	return string(c.Type)
}
