package associations

import (
	"context"
	"math"
	"slices"
	"sync"

	"weir/stages/internal/columns"
	"weir/stages/internal/metric/association"
	"weir/stages/internal/metric/marginal"
	"weir/train/parallel"
)

// measure is a figure of two columns of a table.
type measure struct {
	applies  func(a, b *columns.Column) bool
	mirrored bool // symmetric, so that each pair counts once
	tested   bool // gives a p-value
	of       func(s *side, i, j int) (value, p float64)
}

func anyTypes(a, b *columns.Column) bool    { return true }
func bothNumbers(a, b *columns.Column) bool { return !a.Coded() && !b.Coded() }
func bothCoded(a, b *columns.Column) bool   { return a.Coded() && b.Coded() }

// measures are all but the covariance, by name.
func measures() map[string]measure {
	return map[string]measure{
		mixed:                 {anyTypes, true, false, mixedOf},
		"pearson":             {bothNumbers, true, true, pearsonOf},
		"spearman":            {bothNumbers, true, true, spearmanOf},
		"kendall":             {bothNumbers, true, true, kendallOf},
		"cramers_v":           {bothCoded, true, true, cramersOf},
		"cramers_v_corrected": {bothCoded, true, false, func(s *side, i, j int) (float64, float64) { return s.cross(i, j).CramersVCorrected(), math.NaN() }},
		"mutual_information": {anyTypes, true, false, func(s *side, i, j int) (float64, float64) {
			return s.binned(i, j).Information().MI, math.NaN()
		}},
		"normalised_mutual_information": {anyTypes, true, false, func(s *side, i, j int) (float64, float64) {
			return s.binned(i, j).Information().NMI, math.NaN()
		}},
		"theils_u": {bothCoded, false, false, func(s *side, i, j int) (float64, float64) {
			return s.cross(i, j).Information().RowGivenCol, math.NaN()
		}},
		"correlation_ratio": {func(a, b *columns.Column) bool { return a.Coded() && !b.Coded() }, false, true, ratioOf},
	}
}

func mixedOf(s *side, i, j int) (value, p float64) {
	return association.Mixed(&s.frame.Columns[i], &s.frame.Columns[j]), math.NaN()
}

func pearsonOf(s *side, i, j int) (value, p float64) {
	x, y := association.Complete(s.frame.Columns[i].Numbers, s.frame.Columns[j].Numbers)
	r := association.Pearson(x, y)
	return r, association.CorrelationP(r, len(x))
}

func spearmanOf(s *side, i, j int) (value, p float64) {
	r, n := association.Spearman(s.ordered[i], s.ordered[j])
	return r, association.CorrelationP(r, n)
}

func kendallOf(s *side, i, j int) (value, p float64) {
	return association.KendallTauB(association.Complete(s.frame.Columns[i].Numbers, s.frame.Columns[j].Numbers))
}

func cramersOf(s *side, i, j int) (value, p float64) {
	t := s.cross(i, j)
	_, p, _ = t.Test()
	return t.CramersV(), p
}

func ratioOf(s *side, i, j int) (value, p float64) {
	a := &s.frame.Columns[i]
	return association.CorrelationRatio(a.Codes, len(a.Categories), s.frame.Columns[j].Numbers)
}

// pairs are the places of the columns that the measure is for.
func (m measure) pairs(f *columns.Frame) (list [][2]int) {
	for i := range f.Columns {
		for j := range f.Columns {
			if i != j && (i < j || !m.mirrored) && m.applies(&f.Columns[i], &f.Columns[j]) {
				list = append(list, [2]int{i, j})
			}
		}
	}
	return list
}

// newSide prepares a table: ranks where they are asked for, and bins between the
// extremes of the real one.
func newSide(f, real *columns.Frame, a *settings, workers int) *side {
	s := &side{frame: f, ordered: make([]*association.Ordered, len(f.Columns)), codes: make([][]int32, len(f.Columns)), sizes: make([]int, len(f.Columns))}
	ranked := slices.Contains(a.Measures, "spearman")
	informed := slices.Contains(a.Measures, "mutual_information") || slices.Contains(a.Measures, "normalised_mutual_information")
	parallel.Do(workers, len(f.Columns), func(_, i int) {
		c := &f.Columns[i]
		if ranked && !c.Coded() {
			s.ordered[i] = association.NewOrdered(c.Numbers)
		}
		if informed {
			s.codes[i], s.sizes[i] = marginal.Binning{Bins: a.Bins}.Codes(real.Column(c.Name), c)
		}
	})
	return s
}

func (s *side) cross(i, j int) association.Contingency {
	a, b := &s.frame.Columns[i], &s.frame.Columns[j]
	return association.Cross(a.Codes, b.Codes, len(a.Categories), len(b.Categories))
}

func (s *side) binned(i, j int) association.Contingency {
	return association.Cross(s.codes[i], s.codes[j], s.sizes[i], s.sizes[j])
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
