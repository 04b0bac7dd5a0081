package graphical

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/stages/model/artifact"
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
		Name: intervalsName, Version: 1,
		Doc: "Gives counts of marginals with 95 % intervals for those of the table that a model learned from, from the noisy marginals that the model carries. " +
			"Use it before a count of synthetic rows is quoted. The column basis says what an interval is: measured, the released count and exact; combined, the " +
			"precision-weighted mean of all measurements that cover it, approximate; model, of columns that no measurement holds together: the model's, which " +
			"carries the noise and not what was never measured (some 60 in 100 hold). Post-processing of a release: costs nothing.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormModel, Doc: "A released model of marginals."}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "A row for each cell of each marginal."}},
		New: func() pipeline.Stage { return &Intervals{Copies: 20} },
	}
}

// Plan implements pipeline.Stage.
func (s *Intervals) Plan(in pipeline.Headers) (pipeline.Work, error) {
	model := in["in"]
	var ps pipeline.Problems
	out := pipeline.Header{Class: model.Class, Stability: pipeline.Unbounded(), Terms: model.Terms}
	if d := model.Domain; d != nil {
		needMeasured(d, &ps)
		for i, names := range s.Marginals {
			ps.Pick(fmt.Sprintf("marginals[%d]", i), d, names)
			if len(names) == 0 {
				ps.Add(fmt.Sprintf("marginals[%d]", i), "empty", "at least one column")
			}
		}
		out = pipeline.TableHeader(intervalDomain(d), out)
	}
	return pipeline.Work{Out: pipeline.Headers{"out": out}, Write: []string{"csv"},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			m, err := artifact.Read(ctx, in["in"], Decoders())
			if err != nil {
				return nil, err
			}
			t, err := s.table(ctx, env, m.(*released), out)
			return pipeline.Tables{"out": t}, err
		}}, ps.Err()
}

// intervalDomain is that of the table of intervals: labels, as in the listing.
func intervalDomain(d *pipeline.Domain) *pipeline.Domain {
	h := headsFor(d)
	of := h.domain(d)
	of.Columns = append(of.Columns, pipeline.Column{Name: h.low, Type: pipeline.Numeric}, pipeline.Column{Name: h.high, Type: pipeline.Numeric},
		pipeline.Column{Name: h.below, Type: pipeline.Boolean, Categories: []string{"no", "yes"}},
		pipeline.Column{Name: h.basis, Type: pipeline.Categorical, Categories: []string{"measured", "combined", "model"}})
	for i := range of.Columns {
		of.Columns[i].Source = "public"
	}
	return of
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
		for _, name := range names {
			set = append(set, m.Domain.Index(name))
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

func (s *Intervals) table(ctx context.Context, env *pipeline.Env, m *released, h pipeline.Header) (pipeline.Table, error) {
	u := &uncertainty{released: m, tables: m.front().tables, many: s.Copies, random: env.Rand, workers: env.Workers}
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for i, set := range s.sets(m) {
		e, err := u.of(ctx, set)
		if err != nil {
			return pipeline.Table{}, err
		}
		eachCell(m.byCode(set), func(k int, cell []group) {
			b.Field(0).(*array.Int64Builder).Append(int64(i + 1))
			for j := range m.Columns {
				if a := slices.Index(set, j); a >= 0 {
					b.Field(1 + j).(*array.StringBuilder).Append(m.labels(j).of(cell[a]))
				} else {
					b.Field(1 + j).AppendNull()
				}
			}
			at := 1 + len(m.Columns)
			for n, x := range []float64{e.count[k], e.sigma[k], e.low[k], e.high[k]} {
				b.Field(at + n).(*array.Float64Builder).Append(x)
			}
			below := int32(0)
			if e.sigma[k] > e.count[k] {
				below = 1
			}
			b.Field(at + 4).(*array.Int32Builder).Append(below)
			b.Field(at + 5).(*array.Int32Builder).Append(int32(e.basis))
		})
	}
	return pipeline.FromRecords(h, b.NewRecord()), nil
}
