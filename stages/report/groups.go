package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/record/report"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric/marginal"
	"weir/stages/internal/prediction"
)

// mostGroups is the greatest number of categories of a column of groups: of more the rows of each are few, and a reader
// is lost among them.
const mostGroups = 20

// planGroups checks that both tables have each column of groups, with few categories. Categories that another stage of
// the run has yet to release are none here, and are counted when they are there (drawGroups).
func (s *settings) planGroups(ps *schema.Problems, in pipeline.Headers) {
	if _, there := in["real"]; !there && len(s.Groups) > 0 {
		ps.Add("groups", "a list of columns without tables", "left out, or given with the ports real and synthetic")
		return
	}
	for i, name := range s.Groups {
		for _, port := range []string{"real", "synthetic", "real_train"} {
			if h, there := in[port]; there && !planGroup(ps, fmt.Sprintf("groups[%d]", i), port, name, h.Domain) {
				break // one table's word is enough
			}
		}
	}
}

// planGroup reports whether a table can be read by the groups of a column.
func planGroup(ps *schema.Problems, path, port, name string, d *domain.Domain) bool {
	c := d.Column(name)
	switch {
	case c == nil:
		ps.Unknown(path, "column of "+port, name, d.Names())
	case !c.Type.Coded() || c.Encoding != nil:
		found := fmt.Sprintf("%s, which is %s in %s", name, c.Type, port)
		if c.Encoding != nil {
			found += " and encoded as numbers"
		}
		ps.Add(path, found, "a categorical, ordinal or boolean column")
	case len(c.Categories) > mostGroups:
		ps.Add(path, fmt.Sprintf("%s with %d categories", name, len(c.Categories)),
			fmt.Sprintf("a column of at most %d categories", mostGroups))
	default:
		return true
	}
	return false
}

// drawGroups compares the tables within each category of each column of groups.
func (s *settings) drawGroups(ctx context.Context, env *pipeline.Env, frames map[string]*columns.Frame,
	learnt map[string]predictions, page *report.Report) error {
	target, positive := s.target(env)
	class, why := positiveClass(frames["real"], target, positive)
	for _, name := range s.Groups {
		by := frames["real"].Column(name)
		if by == nil || len(by.Categories) > mostGroups+1 { // one more, such as other, by a preparation of one table
			page.LeftOut = append(page.LeftOut, fmt.Sprintf(
				"Groups of %s: the column must be in every table and have at most %d categories.", name, mostGroups))
			continue
		}
		g := report.Grouping{Column: name, Parts: counted(frames, name)}
		drawGroupColumns(env, frames, name, g.Parts)
		if why == "" && name != target {
			g.Target = target + " = " + frames["real"].Column(target).Categories[class]
			drawPrevalence(frames, name, target, class, g.Parts)
			drawGroupScores(env, learnt, name, g.Parts)
		}
		page.Groupings = append(page.Groupings, g)
	}
	return ctx.Err()
}

// groupNames are the categories of a column of groups, and missing values.
func groupNames(c *columns.Column) []string {
	return append(slices.Clone(c.Categories), "missing values")
}

// places lists the rows of each group of a table, missing values last.
func places(f *columns.Frame, by string) [][]int {
	c := f.Column(by)
	list := make([][]int, len(c.Categories)+1)
	for i, code := range c.Codes {
		if code < 0 {
			code = int32(len(c.Categories))
		}
		list[code] = append(list[code], i)
	}
	return list
}

// counted lists the groups with their rows; the group of missing values only where a table has some.
func counted(frames map[string]*columns.Frame, by string) []report.RowGroup {
	real, synthetic := places(frames["real"], by), places(frames["synthetic"], by)
	parts := make([]report.RowGroup, len(real))
	for k, name := range groupNames(frames["real"].Column(by)) {
		parts[k] = report.RowGroup{Name: name, Real: len(real[k]), Synthetic: len(synthetic[k]),
			RealShare:      float64(len(real[k])) / float64(frames["real"].Rows),
			SyntheticShare: float64(len(synthetic[k])) / float64(frames["synthetic"].Rows),
			Variation:      math.NaN(), VariationOther: math.NaN(),
			PrevalenceReal: math.NaN(), PrevalenceSynthetic: math.NaN(), FromSynthetic: noScore(), FromReal: noScore()}
	}
	if last := parts[len(parts)-1]; last.Real+last.Synthetic == 0 {
		parts = parts[:len(parts)-1]
	}
	return parts
}

func noScore() report.GroupScore {
	return report.GroupScore{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
}

// drawGroupColumns puts the total variation of the other columns within each group on the page, in the cells of the
// section of columns (drawVariation), and the total variation of other real rows of the group, which is what chance
// does to so few rows.
func drawGroupColumns(env *pipeline.Env, frames map[string]*columns.Frame, by string, parts []report.RowGroup) {
	b, _ := binning(env)
	own, other := groupDistances(b, env, frames["real"], frames["synthetic"], by), map[string][]float64{}
	if frames["real_train"] != nil {
		other = groupDistances(b, env, frames["real"], frames["real_train"], by)
	}
	for k := range parts {
		for _, name := range frames["real"].Names() {
			if d := own[name]; d != nil && !math.IsNaN(d[k]) {
				loss := report.GroupLoss{Column: name, Value: d[k], Other: math.NaN()}
				if other[name] != nil {
					loss.Other = other[name][k]
				}
				parts[k].Losses = append(parts[k].Losses, loss)
			}
		}
		parts[k].Variation = meanLoss(parts[k].Losses, func(l report.GroupLoss) float64 { return l.Value })
		parts[k].VariationOther = meanLoss(parts[k].Losses, func(l report.GroupLoss) float64 { return l.Other })
		slices.SortStableFunc(parts[k].Losses, func(a, b report.GroupLoss) int {
			return cmp.Compare(b.Excess(), a.Excess())
		})
	}
}

// meanLoss is the mean over columns; NaN where there are none or one is undefined.
func meanLoss(list []report.GroupLoss, of func(report.GroupLoss) float64) float64 {
	sum := 0.0
	for _, l := range list {
		sum += of(l)
	}
	return sum / float64(len(list))
}

// groupDistances returns by column its total variation within each group; the column of the groups itself has none.
func groupDistances(b marginal.Binning, env *pipeline.Env, real, other *columns.Frame, by string) map[string][]float64 {
	list := map[string][]float64{}
	x, y := places(real, by), places(other, by)
	for _, c := range b.CodeAll(real, other, env.Workers).Columns {
		if c.Name == by {
			continue
		}
		for k := range x {
			part := marginal.Column{Name: c.Name, Size: c.Size, Cells: c.Cells,
				Real: taken(c.Real, x[k]), Synth: taken(c.Synth, y[k])}
			list[c.Name] = append(list[c.Name], part.TotalVariation())
		}
	}
	return list
}

func taken[T any](from []T, places []int) []T {
	to := make([]T, len(places))
	for k, i := range places {
		to[k] = from[i]
	}
	return to
}

// drawPrevalence puts the share of the positive class on the page, among the rows of each group that have a target.
func drawPrevalence(frames map[string]*columns.Frame, by, target string, class int, parts []report.RowGroup) {
	real := prevalences(frames["real"], by, target, class)
	synthetic := prevalences(frames["synthetic"], by, target, class)
	for k := range parts {
		parts[k].PrevalenceReal, parts[k].PrevalenceSynthetic = real[k], synthetic[k]
	}
}

func prevalences(f *columns.Frame, by, target string, class int) (shares []float64) {
	codes := f.Column(target).Codes
	for _, rows := range places(f, by) {
		positive, n := 0, 0
		for _, i := range rows {
			if codes[i] >= 0 {
				n++
			}
			if int(codes[i]) == class {
				positive++
			}
		}
		shares = append(shares, float64(positive)/float64(n)) // NaN where no row has a target
	}
	return shares
}

// drawGroupScores puts the AUROC of the curves' learners on the page, each over the test rows of one group.
func drawGroupScores(env *pipeline.Env, learnt map[string]predictions, by string, parts []report.RowGroup) {
	for port, p := range learnt {
		for k, rows := range places(p.test, by)[:len(parts)] {
			rng := env.Rand(fmt.Sprintf("resampled test rows of %s=%s, learnt from %s", by, parts[k].Name, port))
			made := groupScore(taken(p.positive, rows), taken(p.scores, rows), rng, env.Workers)
			if port == "synthetic" {
				parts[k].FromSynthetic = made
			} else {
				parts[k].FromReal = made
			}
		}
	}
}

// groupScore returns an AUROC with its interval; NaN where the rows hold one class alone.
func groupScore(positive []bool, scores []float64, rng *rand.Rand, workers int) report.GroupScore {
	if !slices.Contains(positive, true) || !slices.Contains(positive, false) {
		return noScore()
	}
	s := prediction.AUROC(positive, scores, rng, workers)
	low, high, ok := s.Interval()
	if !ok {
		low, high = math.NaN(), math.NaN()
	}
	return report.GroupScore{Value: s.Value, Low: low, High: high}
}
