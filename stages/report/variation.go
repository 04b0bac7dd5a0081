package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/record/report"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric/marginal"
)

// drawVariation puts the total variation of every column on the page, by the code and
// the settings of the stage `marginals` that compares the same tables, so that a page
// has one number of a column; without such a stage by its default settings.
func drawVariation(env *pipeline.Env, frames map[string]*columns.Frame, page *report.Report) {
	b, by := binning(env)
	t := b.CodeAll(frames["real"], frames["synthetic"], env.Workers)
	values := map[string]float64{}
	for _, c := range t.Columns {
		values[c.Name] = c.TotalVariation()
	}
	for i, c := range page.Columns {
		v, ok := values[c.Name]
		if !ok {
			v = math.NaN()
		}
		page.Columns[i].TotalVariation = v
	}
	page.Variation = by + fmt.Sprintf("Numbers are counted in %d equal bins between %s, missing values as one more.", b.Bins,
		map[bool]string{true: "their declared bounds, or the real extremes where none are declared", false: "the real extremes"}[b.Declared])
}

// binning is how the stage of these tables counts numbers, and its name.
func binning(env *pipeline.Env) (b marginal.Binning, by string) {
	b = marginal.Usual()
	if env.Plan == nil || env.Plan.Step(env.Stage) == nil {
		return b, ""
	}
	own := env.Plan.Step(env.Stage).Inputs
	for _, s := range env.Plan.Steps {
		var set struct {
			Bins           int
			Edges, Outside string
		}
		if s.Kind != "marginals" || !slices.Equal(s.Inputs["real"], own["real"]) || !slices.Equal(s.Inputs["synthetic"], own["synthetic"]) ||
			json.Unmarshal(s.Settings, &set) != nil || set.Bins == 0 {
			continue
		}
		return marginal.Binning{Bins: set.Bins, Declared: set.Edges == "declared", OwnBins: set.Outside == "own_bins"}, "As in stage " + s.ID + ". "
	}
	return b, ""
}
