package graphical

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// Measured says of each marginal that a released model carries how much of it noise
// drowns.
type Measured struct {
	Listed int `yaml:"listed" json:"listed" min:"0" max:"100000" doc:"Most marginals with a figure of their own: those of which noise drowns most." unit:"marginals"`
}

// Names of the kind and of its figure.
const (
	measuredName = "measured"
	belowNoise   = "below_noise"
)

func measuredKind() pipeline.Kind {
	return pipeline.Kind{
		Name: measuredName, Version: 2,
		Doc: "Says of each marginal that a released model of marginals was fitted to which share of its cells has a count below the standard deviation of its noise, for the report. " +
			"Use it to see what the budget has bought. Computed from the release alone: costs nothing.",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormModel, Doc: "A released model of marginals."}},
		Out: []pipeline.Port{{Name: "metrics", Form: pipeline.FormMetrics,
			Doc: "below_noise, over all cells and by marginal."}},
		Figures: pipeline.Figures{{Name: belowNoise, Parts: "marginal", Better: pipeline.BetterLow,
			Doc: "share of measured cells with a count below the standard deviation of their noise, 0 is best"}},
		New: func() pipeline.Stage { return &Measured{Listed: 200} },
	}
}

// Plan implements pipeline.Stage.
func (s *Measured) Plan(in pipeline.Headers) (pipeline.Work, error) {
	model := in["in"]
	var ps schema.Problems
	needMeasured(model.Domain, &ps)
	out := pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: model.Class, Stability: pipeline.Unbounded(), Terms: model.Terms}
	return pipeline.Work{Out: pipeline.Headers{"metrics": out},
		Run: func(ctx context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			m, err := ours(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			return pipeline.Tables{"metrics": pipeline.WriteMetrics(out, m.belowNoise(s.Listed))}, nil
		}}, ps.Err()
}

// needMeasured adds a problem for a model of another family.
func needMeasured(d *domain.Domain, ps *schema.Problems) {
	if d == nil {
		return
	}
	for _, c := range d.Columns {
		if c.Encoding != nil {
			ps.Add("from", "a model that learned encoded columns ("+c.Name+")", "a model of marginals, which carries what was measured")
			return
		}
	}
}

// belowNoise is the share of cells whose noise exceeds their count: over all, and of
// each set of columns, measurements of one set together.
func (m *released) belowNoise(listed int) []pipeline.Metric {
	var names []string
	cells, below, sigma := map[string]int{}, map[string]int{}, map[string]float64{}
	all := 0
	for _, x := range m.Measured {
		name := strings.Join(m.columnsOf(x.Columns), ", ")
		if _, known := cells[name]; !known {
			names = append(names, name)
		}
		cells[name], sigma[name] = cells[name]+len(x.Y), x.Sigma
		for _, y := range x.Y {
			if x.Sigma > y {
				below[name]++
				all++
			}
		}
	}
	whole := 0
	for _, name := range names {
		whole += cells[name]
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return descending(float64(below[a])/float64(cells[a]), float64(below[b])/float64(cells[b]))
	})
	list := []pipeline.Metric{share("", all, whole, "over all measured marginals")}
	for _, name := range names[:min(len(names), listed)] {
		list = append(list, share(name, below[name], cells[name], fmt.Sprintf("noise has a standard deviation of %.4g rows", sigma[name])))
	}
	return list
}

func share(name string, below, cells int, note string) pipeline.Metric {
	return pipeline.Metric{Name: belowNoise, Column: name, Value: float64(below) / float64(max(cells, 1)),
		Note: fmt.Sprintf("%d of %d cells; %s", below, cells, note)}
}
