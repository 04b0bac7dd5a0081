package graphical

import (
	"context"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/schema"
	"weir/train/graphical"
)

// Intervals says how far marginals of a released model may be from those of the table
// that it learned from.
type Intervals struct {
	Marginals [][]string `yaml:"marginals,omitempty" json:"marginals,omitempty" doc:"Columns of each marginal; by default each column, and each set of columns that was measured."`
	Copies    int        `yaml:"copies" json:"copies" min:"2" max:"1000" doc:"Models fitted again to bootstrap tables, by which counts are judged that no measurement covers."`
}

const intervalsName = "intervals"

func intervalsKind() pipeline.Kind {
	return pipeline.Kind{
		Name: intervalsName, Version: 3,
		Doc: "Gives counts of marginals with 95 % intervals for those of the table that a model learned from, from the noisy marginals that the model carries. " +
			"Use it before a count of synthetic rows is quoted. The column basis says what an interval is: measured, the released count and exact; combined, the " +
			"precision-weighted mean of all measurements that cover it, approximate; model, of columns that no measurement holds together: the model's, which " +
			"carries the noise and not what was never measured (on Adult 66 in 100 of pairs hold, 80 of triples). Post-processing of a release: costs nothing.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormModel, Doc: "A released model of marginals."}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormFiles, Doc: "A CSV table with a row for each cell of each marginal."}},
		New: func() pipeline.Stage { return &Intervals{Copies: 20} },
	}
}

// Plan implements pipeline.Stage.
func (s *Intervals) Plan(in pipeline.Headers) (pipeline.Work, error) {
	model := in["in"]
	var ps schema.Problems
	needMeasured(model.Domain, &ps)
	for i, names := range s.Marginals {
		if path := fmt.Sprintf("marginals[%d]", i); len(names) == 0 {
			ps.Add(path, "empty", "at least one column")
		} else if model.Domain != nil {
			model.Domain.Pick(&ps, path, names)
		}
	}
	out := marginalsHeader(model)
	out.Class = model.Class
	return pipeline.Work{Out: pipeline.Headers{"out": out},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			m, err := ours(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			text, err := s.list(ctx, env, m)
			return pipeline.Tables{"out": pipeline.WriteFiles(out, []pipeline.File{{Name: fileName(env, "intervals"), Data: text}})}, err
		}}, ps.Err()
}

// sets are the marginals that are asked for.
func (s *Intervals) sets(m *released) []graphical.Set {
	var list []graphical.Set
	add := func(set graphical.Set) {
		if !slices.ContainsFunc(list, func(x graphical.Set) bool { return slices.Equal(x, set) }) {
			list = append(list, set)
		}
	}
	for _, names := range s.Marginals {
		var set graphical.Set
		for _, name := range m.roots(names) {
			set = append(set, m.core.Index(name))
		}
		slices.Sort(set)
		add(slices.Compact(set))
	}
	if len(s.Marginals) > 0 {
		return list
	}
	for j := range m.Columns {
		add(graphical.Set{j})
	}
	for _, x := range m.Measured {
		add(x.Columns)
	}
	return list
}

// list is the table of intervals as CSV, in the form of the listing (listing.go).
func (s *Intervals) list(ctx context.Context, env *pipeline.Env, m *released) ([]byte, error) {
	u := m.uncertainty()
	u.many, u.random, u.workers = s.Copies, env.Rand, env.Workers
	h := headsFor(m.Domain)
	sheet, row := newSheet(append(h.list(m.Domain), h.basis)), make([]string, len(m.Domain.Columns)+6)
	for i, set := range s.sets(m) {
		e, err := u.of(ctx, set)
		if err != nil {
			return nil, err
		}
		basis := []string{"measured", "combined", "model"}[e.basis]
		eachCell(m.texts(set, m.byCode(set)), func(k int, cell []string) {
			sheet.row(m.line(row, i+1, set, cell, e.count[k], e.sigma[k], e.low[k], e.high[k]), basis)
		})
	}
	return sheet.bytes(), nil
}
