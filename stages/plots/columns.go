package plots

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
	"weir/stages/internal/prediction"
	"weir/stages/metric"
	"weir/train/parallel"
)

// mostBins is the number of bins of a histogram.
const mostBins = 30

// drawColumns counts the bars of each column; both frames are aligned.
func drawColumns(real, synthetic *columns.Frame, workers int) []report.Column {
	list := make([]report.Column, len(real.Columns))
	parallel.Do(workers, len(list), func(_, i int) {
		list[i] = drawColumn(&real.Columns[i], &synthetic.Columns[i], real.Rows, synthetic.Rows)
	})
	return list
}

func drawColumn(real, synthetic *columns.Column, realRows, synRows int) report.Column {
	c := report.Column{Name: real.Name, Type: string(real.Type), RealMissing: missingShare(real, realRows),
		SyntheticMissing: missingShare(synthetic, synRows)}
	if real.Coded() {
		c.Labels = real.Categories
		c.Real, c.Synthetic = codeShares(real), codeShares(synthetic)
		c.RealSummary, c.SynSummary = noSummary(), noSummary()
		return c
	}
	x, y := metric.Sorted(real.Numbers), metric.Sorted(synthetic.Numbers)
	c.RealSummary, c.SynSummary = summarise(x), summarise(y)
	if len(x)+len(y) == 0 {
		return c
	}
	t := newTail(real, x, y)
	t.describe(&c)
	a, b := t.others(x), t.others(y)
	c.Edges = t.edges(real, a, b)
	var beyondReal, beyondSyn int
	c.Real, beyondReal = binShares(a, c.Edges, len(x))
	c.Synthetic, beyondSyn = binShares(b, c.Edges, len(y))
	c.Beyond = beyondReal + beyondSyn
	return c
}

func missingShare(c *columns.Column, rows int) float64 { return float64(c.Missing()) / float64(rows) }

// codeShares returns the shares of the categories among rows with a value; none
// where there is no such row.
func codeShares(c *columns.Column) []float64 {
	counts, n := make([]float64, len(c.Categories)), 0.0
	for _, v := range c.Codes {
		if v >= 0 {
			counts[v]++
			n++
		}
	}
	if n == 0 {
		return nil
	}
	for i := range counts {
		counts[i] /= n
	}
	return counts
}

func noSummary() report.Summary {
	n := math.NaN()
	return report.Summary{Mean: n, SD: n, Least: n, Median: n, Greatest: n}
}

// summarise sorted values; the standard deviation is computed for the population.
func summarise(x []float64) report.Summary {
	if len(x) == 0 {
		return noSummary()
	}
	mean := 0.0
	for i, v := range x {
		mean += (v - mean) / float64(i+1)
	}
	ss := 0.0
	for _, v := range x {
		ss += float64((v - mean) * (v - mean))
	}
	n := len(x)
	return report.Summary{Mean: mean, SD: math.Sqrt(ss / float64(n)), Least: x[0], Median: (x[(n-1)/2] + x[n/2]) / 2,
		Greatest: x[n-1]}
}

// histogramEdges spans both tables' values, inside the declared bounds; without
// bounds, a few values far outside the bulk of the real ones do not stretch it.
// Whole numbers get bins of whole width.
func histogramEdges(c *columns.Column, x, y []float64) []float64 {
	lo, hi := span(x, y)
	switch {
	case c.Bounds != nil:
		lo, hi = math.Max(lo, c.Bounds[0]), math.Min(hi, c.Bounds[1])
		if lo > hi { // every value lies outside
			lo, hi = c.Bounds[0], c.Bounds[1]
		}
	case len(x) > 0:
		a, b := x[len(x)/1000], x[len(x)-1-len(x)/1000]
		if wide := b - a; wide > 0 && hi-lo > 5*wide {
			lo, hi = math.Max(lo, a-wide/10), math.Min(hi, b+wide/10)
		}
	}
	if c.Type != domain.Numeric {
		return wholeEdges(math.Floor(lo), math.Ceil(hi))
	}
	if lo == hi {
		return []float64{lo - 0.5, hi + 0.5}
	}
	return evenEdges(lo, hi-lo, mostBins)
}

func span(x, y []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range [][]float64{x, y} {
		if len(v) > 0 {
			lo, hi = math.Min(lo, v[0]), math.Max(hi, v[len(v)-1])
		}
	}
	return lo, hi
}

func wholeEdges(lo, hi float64) []float64 {
	width := math.Ceil((hi - lo + 1) / mostBins)
	bins := int(math.Ceil((hi - lo + 1) / width))
	return evenEdges(lo-0.5, width*float64(bins), bins)
}

func evenEdges(lo, length float64, bins int) []float64 {
	edges := make([]float64, bins+1)
	for i := range edges {
		edges[i] = lo + length*float64(i)/float64(bins)
	}
	return edges
}

// binShares counts sorted values into right-open bins, the last closed, as shares of n; values
// outside go to the end bins and are counted in outside. There are no shares where n is 0.
func binShares(x, edges []float64, n int) (shares []float64, outside int) {
	if n == 0 {
		return nil, 0
	}
	last := len(edges) - 2
	shares = make([]float64, last+1)
	k := 0
	for _, v := range x {
		for k < last && v >= edges[k+1] {
			k++
		}
		if v < edges[0] || v > edges[last+1] {
			outside++
		}
		shares[k]++
	}
	for i := range shares {
		shares[i] /= float64(n)
	}
	return shares, outside
}

// dimensionWise returns the shares of every category that either table has (Choi et
// al. 2017, dimension-wise probability); of two categories the second's, which the
// first mirrors.
func dimensionWise(columns []report.Column) []report.Point {
	var points []report.Point
	for _, c := range columns {
		if len(c.Real) == 0 || len(c.Synthetic) == 0 {
			continue
		}
		for k, label := range c.Labels {
			if len(c.Labels) == 2 && k == 0 {
				continue
			}
			points = append(points, report.Point{X: c.Real[k] * (1 - c.RealMissing),
				Y: c.Synthetic[k] * (1 - c.SyntheticMissing), Label: c.Name + "=" + label})
		}
	}
	return points
}

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

// groupNames returns the categories of a column of groups, and missing values.
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
func counted(frames map[string]*columns.Frame, rule string) []report.RowGroup {
	real, synthetic := places(frames["real"], rule), places(frames["synthetic"], rule)
	parts := make([]report.RowGroup, len(real))
	for k, name := range groupNames(frames["real"].Column(rule)) {
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
func drawGroupColumns(env *pipeline.Env, frames map[string]*columns.Frame, rule string, parts []report.RowGroup) {
	b, _ := binning(env)
	single, other := groupDistances(b, env, frames["real"], frames["synthetic"], rule), map[string][]float64{}
	if frames["real_train"] != nil {
		other = groupDistances(b, env, frames["real"], frames["real_train"], rule)
	}
	for k := range parts {
		for _, name := range frames["real"].Names() {
			if d := single[name]; d != nil && !math.IsNaN(d[k]) {
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

// meanLoss returns the mean over columns; NaN where there are none or one is undefined.
func meanLoss(list []report.GroupLoss, build func(report.GroupLoss) float64) float64 {
	sum := 0.0
	for _, l := range list {
		sum += build(l)
	}
	return sum / float64(len(list))
}

// groupDistances returns by column its total variation within each group; the column of the groups itself has none.
func groupDistances(b metric.Binning, env *pipeline.Env, real, other *columns.Frame, rule string) map[string][]float64 {
	list := map[string][]float64{}
	x, y := places(real, rule), places(other, rule)
	for _, c := range b.CodeAll(real, other, env.Workers).Columns {
		if c.Name == rule {
			continue
		}
		for k := range x {
			part := metric.CodedColumn{Name: c.Name, Size: c.Size, Cells: c.Cells,
				Real: pickAt(c.Real, x[k]), Synth: pickAt(c.Synth, y[k])}
			list[c.Name] = append(list[c.Name], part.TotalVariation())
		}
	}
	return list
}

func pickAt[T any](src []T, places []int) []T {
	dst := make([]T, len(places))
	for k, i := range places {
		dst[k] = src[i]
	}
	return dst
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
func drawGroupScores(env *pipeline.Env, learnt map[string]predictions, rule string, parts []report.RowGroup) {
	for port, p := range learnt {
		for k, rows := range places(p.test, rule)[:len(parts)] {
			rng := env.Rand(fmt.Sprintf("resampled test rows of %s=%s, learnt from %s", rule, parts[k].Name, port))
			built := groupScore(pickAt(p.positive, rows), pickAt(p.scores, rows), rng, env.Workers)
			if port == "synthetic" {
				parts[k].FromSynthetic = built
			} else {
				parts[k].FromReal = built
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
