package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
	"weir/train/parallel"
)

// associationMeasure is a figure of two columns of a table.
type associationMeasure struct {
	applies  func(a, b *columns.Column) bool
	mirrored bool // symmetric, so that each pair counts once
	tested   bool // gives a p-value
	of       func(s *associationSide, i, j int) (value, p float64)
}

func anyTypes(a, b *columns.Column) bool    { return true }
func bothNumbers(a, b *columns.Column) bool { return !a.Coded() && !b.Coded() }
func bothCoded(a, b *columns.Column) bool   { return a.Coded() && b.Coded() }

// associationMeasures returns all but the covariance, by name.
func associationMeasures() map[string]associationMeasure {
	return map[string]associationMeasure{
		mixed:       {anyTypes, true, false, mixedOf},
		"pearson":   {bothNumbers, true, true, pearsonOf},
		"spearman":  {bothNumbers, true, true, spearmanOf},
		"kendall":   {bothNumbers, true, true, kendallOf},
		"cramers_v": {bothCoded, true, true, cramersOf},
		"cramers_v_corrected": {bothCoded, true, false, func(s *associationSide, i, j int) (float64, float64) {
			return s.cross(i, j).CramersVCorrected(), math.NaN()
		}},
		"mutual_information": {anyTypes, true, false, func(s *associationSide, i, j int) (float64, float64) {
			return s.binned(i, j).Information().MI, math.NaN()
		}},
		"normalised_mutual_information": {anyTypes, true, false, func(s *associationSide, i, j int) (float64, float64) {
			return s.binned(i, j).Information().NMI, math.NaN()
		}},
		"theils_u": {bothCoded, false, false, func(s *associationSide, i, j int) (float64, float64) {
			return s.cross(i, j).Information().RowGivenCol, math.NaN()
		}},
		"correlation_ratio": {func(a, b *columns.Column) bool { return a.Coded() && !b.Coded() }, false, true, ratioOf},
	}
}

func mixedOf(s *associationSide, i, j int) (value, p float64) {
	return metric.MixedAssociation(&s.frame.Columns[i], &s.frame.Columns[j]), math.NaN()
}

func pearsonOf(s *associationSide, i, j int) (value, p float64) {
	x, y := metric.CompletePairs(s.frame.Columns[i].Numbers, s.frame.Columns[j].Numbers)
	r := metric.Pearson(x, y)
	return r, metric.CorrelationP(r, len(x))
}

func spearmanOf(s *associationSide, i, j int) (value, p float64) {
	r, n := metric.Spearman(s.ordered[i], s.ordered[j])
	return r, metric.CorrelationP(r, n)
}

func kendallOf(s *associationSide, i, j int) (value, p float64) {
	return metric.KendallTauB(metric.CompletePairs(s.frame.Columns[i].Numbers, s.frame.Columns[j].Numbers))
}

func cramersOf(s *associationSide, i, j int) (value, p float64) {
	t := s.cross(i, j)
	_, p, _ = t.Test()
	return t.CramersV(), p
}

func ratioOf(s *associationSide, i, j int) (value, p float64) {
	a := &s.frame.Columns[i]
	return metric.CorrelationRatio(a.Codes, len(a.Categories), s.frame.Columns[j].Numbers)
}

// pairs returns the places of the columns that the measure is for.
func (m associationMeasure) pairs(f *columns.Frame) (list [][2]int) {
	for i := range f.Columns {
		for j := range f.Columns {
			if i != j && (i < j || !m.mirrored) && m.applies(&f.Columns[i], &f.Columns[j]) {
				list = append(list, [2]int{i, j})
			}
		}
	}
	return list
}

// newAssociationSide prepares a table: ranks where they are asked for, and bins between the
// extremes of the real one.
func newAssociationSide(f, real *columns.Frame, a *associationSettings, workers int) *associationSide {
	s := &associationSide{frame: f, ordered: make([]*metric.Ordered, len(f.Columns)), codes: make([][]int32,
		len(f.Columns)),
		sizes: make([]int, len(f.Columns))}
	ranked := slices.Contains(a.Measures, "spearman")
	informed := slices.Contains(a.Measures, "mutual_information") || slices.Contains(a.Measures,
		"normalised_mutual_information")
	parallel.Do(workers, len(f.Columns), func(_, i int) {
		c := &f.Columns[i]
		if ranked && !c.Coded() {
			s.ordered[i] = metric.NewOrdered(c.Numbers)
		}
		if informed {
			s.codes[i], s.sizes[i] = metric.Binning{Bins: a.Bins}.Codes(real.Column(c.Name), c)
		}
	})
	return s
}

func (s *associationSide) cross(i, j int) metric.Contingency {
	a, b := &s.frame.Columns[i], &s.frame.Columns[j]
	return metric.Cross(a.Codes, b.Codes, len(a.Categories), len(b.Categories))
}

func (s *associationSide) binned(i, j int) metric.Contingency {
	return metric.Cross(s.codes[i], s.codes[j], s.sizes[i], s.sizes[j])
}

// eachPair calls f(0..n-1) on the workers of env and reports progress.
func (r *associationRun) eachPair(ctx context.Context, n int, f func(k int)) error {
	var mu sync.Mutex
	parallel.Do(r.env.Workers, n, func(_, k int) {
		if ctx.Err() != nil {
			return
		}
		f(k)
		mu.Lock()
		r.done++
		r.env.Progress(r.done, r.total)
		mu.Unlock()
	})
	return ctx.Err()
}

// scattered returns the mean and covariance of an encoded frame, block by block, so
// that memory does not grow with the width times the rows.
func scattered(ctx context.Context, e *prediction.Encoder, f *columns.Frame) (*metric.Scatter, error) {
	s := metric.NewScatter(len(e.Names()))
	return s, e.Blocks(ctx, f, func(_ int, x learn.Matrix) { s.Add(x) })
}

// covariance compares the covariance of the encoded tables: numbers scaled to
// their declared bounds or the real extremes, one indicator a category.
func (r *associationRun) covariance(ctx context.Context, name string) error {
	left, purpose := r.leftOut(r.sides[0].frame)
	e := prediction.NewEncoder(prediction.EncoderOptions{Scaling: prediction.ScaleBounds}, left, r.sides[0].frame,
		r.others()...)
	var all []*metric.Scatter
	for _, s := range r.sides {
		c, err := scattered(ctx, e, s.frame)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	r.covariances(name, "", purpose, e, all[0], all[1])
	for k := 2; k < len(all); k++ {
		r.covariances(name, "_"+r.ports[k], purpose, e, all[0], all[k])
	}
	return nil
}

func (r *associationRun) others() []*columns.Frame {
	var list []*columns.Frame
	for _, s := range r.sides[1:] {
		list = append(list, s.frame)
	}
	return list
}

var covarianceNames = [...]string{"_frobenius_difference", "_relative_frobenius_difference", "_spectral_difference",
	"_max_difference"}

func (r *associationRun) covariances(name, suffix, purpose string, e *prediction.Encoder, real, other *metric.Scatter) {
	if real.Rows() < 2 || other.Rows() < 2 || len(e.Names()) == 0 {
		r.noCovariance(name, suffix, "needs two rows of each table and a column in common")
		return
	}
	d, ok := metric.CompareCovariances(real.Covariance(), other.Covariance())
	if !ok {
		r.noCovariance(name, suffix, "the eigenvalues of the difference do not converge")
		return
	}
	for i, v := range []float64{d.Frobenius, d.Relative, d.Spectral, d.MaxAbsolute} {
		r.Add(name+covarianceNames[i]+suffix, "", metric.Or(v, "every real column is constant").With(purpose))
	}
}

func (r *associationRun) noCovariance(name, suffix, reason string) {
	for _, n := range covarianceNames {
		r.Add(name+n+suffix, "", metric.None(reason))
	}
}

// lossSuffix ends the names of what is lost of a correlation beyond what fresh real rows lose.
const lossSuffix = "_loss"

// correlations returns, for the measures that are judged against chance, how the columns of both tables are put on the
// scale that the measure multiplies.
func correlations() map[string]func(x [2][]float64) [2][]float64 {
	return map[string]func(x [2][]float64) [2][]float64{"pearson": metric.StandardPair, "spearman": metric.RankPair}
}

func lossFigures() (list pipeline.Figures) {
	for _, name := range []string{"pearson", "spearman"} {
		list = append(list, pipeline.Figure{Name: name + lossSuffix, Parts: "pair", Better: pipeline.BetterLow,
			Headline: true,
			Worst:    true, Beside: comparedRoles(),
			Doc: measureWords(name) + ": greatest difference of a pair beyond what fresh real rows differ, 0 is best",
			Verdict: &pipeline.Verdict{Label: "Pairs of numbers: greatest loss of a " + measureWords(name), Joint: true,
				Good: 0.1,
				Fair: 0.25}})
	}
	return list
}

// losses judges the correlations of all pairs together, for each table against the real one.
func (r *associationRun) losses(ctx context.Context, name string, list []measuredPair) error {
	scale, judged := correlations()[name]
	if !judged {
		return nil
	}
	for k := 1; k < len(r.sides); k++ {
		certain, err := r.lossesBeyondChance(ctx, name, scale, list, k)
		if err != nil {
			return err
		}
		role := ""
		if k > 1 {
			role = "_" + r.ports[k]
		}
		r.Add(name+lossSuffix+role, "", greatestLoss(certain, list, k))
		if k > 1 {
			continue
		}
		r.lossesOfPairs(name, certain, list)
	}
	return nil
}

// lossesOfPairs lists the losses of pairs, the greatest first, as far as Listed allows.
func (r *associationRun) lossesOfPairs(name string, certain []float64, list []measuredPair) {
	order := make([]int, len(certain))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return byGap(certain[a], certain[b]) })
	for _, i := range order[:min(len(order), r.Listed)] {
		r.Add(name+lossSuffix, list[i].names[0]+":"+list[i].names[1],
			metric.Or(certain[i], "a column is constant, or missing throughout"))
	}
}

// lossesBeyondChance returns what is lost of each pair beyond chance.
func (r *associationRun) lossesBeyondChance(ctx context.Context, name string, scale func([2][]float64) [2][]float64,
	list []measuredPair,
	k int) ([]float64, error) {
	real, other := r.sides[0].frame, r.sides[k].frame
	most := other.Rows
	if i := slices.Index(r.ports, "real_train"); i > 0 && r.sides[i].frame.Rows > 0 {
		most = r.sides[i].frame.Rows
	}
	rng := r.env.Rand("fresh rows of " + name + " against " + r.ports[k])
	b, family := metric.NewBlocks(real.Rows, other.Rows, most, rng), &metric.LossFamily{}
	scaled := map[string][2][]float64{}
	for i := range real.Columns {
		if c := &real.Columns[i]; !c.Coded() {
			scaled[c.Name] = scale([2][]float64{c.Numbers, other.Columns[i].Numbers})
		}
	}
	pairs := make([]metric.Statistic, len(list))
	err := r.eachPair(ctx, len(list), func(i int) {
		m := list[i]
		pairs[i] = family.Pair(b, m.names[0]+":"+m.names[1], scaled[m.names[0]], scaled[m.names[1]], m.values[0], m.values[k])
	})
	return family.BeyondChance(pairs), err
}

// greatestLoss returns the greatest loss, with the pair that it is of.
func greatestLoss(certain []float64, list []measuredPair, k int) metric.Noted {
	worst, count := -1, 0
	for i, v := range certain {
		if v > 0 {
			count++
		}
		if !math.IsNaN(v) && (worst < 0 || cmp.Compare(v, certain[worst]) > 0) {
			worst = i
		}
	}
	switch {
	case worst < 0:
		return metric.None("no pair of numbers has a correlation in both tables")
	case count == 0:
		return metric.Of(0, fmt.Sprintf("none of %d pairs is further than fresh real rows would be", len(certain)))
	}
	m := list[worst]
	return metric.Of(certain[worst], fmt.Sprintf("%d of %d pairs are further than fresh real rows would be", count,
		len(certain)),
		fmt.Sprintf("%s:%s %.3g real, %.3g here", m.names[0], m.names[1], m.values[0], m.values[k]))
}
