package graphical

import (
	"math"
	"slices"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/histogram"
)

// asScorer reads a model as remove_anomalies does, and a table as a frame.
func asScorer(t *testing.T, model pipeline.Table, in pipelinetest.Input) (artifact.Scorer, *columns.Frame) {
	t.Helper()
	s, err := artifact.Read[artifact.Scorer](t.Context(), model, pipeline.ReadersOf(Kinds()))
	must(t, err)
	f, err := columns.Read(t.Context(), pipeline.FromRecords(in.Header, in.Rows))
	must(t, err)
	return s, f
}

// TestBitsAreOfTheFactors: each possible row's score is that of its probability written out from the
// factors of the model: the weight of its codes over the sum of the weights of all codes, times
// the share of its value in its code. They sum to 1 as probabilities.
func TestBitsAreOfTheFactors(t *testing.T) {
	model := smallModel(t)
	in, n := rowsOfAll()
	s, f := asScorer(t, model, in)
	got, err := s.Scores(f)
	must(t, err)
	want := writtenOut(read(t, model), f)
	sum := 0.0
	for i := range n {
		sum += math.Exp2(-got[i])
		if !(math.Abs(got[i]+math.Log2(want[i])) < 1e-9) {
			t.Errorf("row %d has score %g, must have %g", i, got[i], -math.Log2(want[i]))
		}
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("all rows have the chance %.12g, must have 1", sum)
	}
}

// writtenOut are the probabilities of rows of small, by sums over all codes.
func writtenOut(m *released, f *columns.Frame) (p []float64) {
	weight := func(codes []int) float64 {
		sum := 0.0
		for _, factor := range m.Model.Factors {
			at := 0
			for _, c := range slices.Sorted(slices.Values(factor.Vars)) {
				at = at*m.Model.Domain[c] + codes[c]
			}
			sum += factor.Log[at]
		}
		return math.Exp(sum)
	}
	all := 0.0
	for a := range m.Model.Domain[0] {
		for b := range m.Model.Domain[1] {
			for c := range m.Model.Domain[2] {
				all += weight([]int{a, b, c})
			}
		}
	}
	for i := range f.Rows {
		codes, inside := make([]int, 3), 1.0
		for j := range codes {
			cell := m.grids[j].Values()
			if c := &f.Columns[j]; !c.Absent(i) && c.Coded() {
				cell = int(c.Codes[i])
			} else if !c.Absent(i) {
				cell = int(c.Numbers[i] - c.Bounds[0])
			}
			code, share := shareOf(&m.Columns[j], cell)
			codes[j], inside = code, inside*share
		}
		p = append(p, weight(codes)/all*inside)
	}
	return p
}

// shareOf is the code of a cell and its share there, as values are drawn (histogram.Filler).
func shareOf(c *coded, cell int) (code int, share float64) {
	place := cell
	if c.Order != nil {
		place = slices.Index(c.Order, cell)
	}
	for code, bin := range c.Bins {
		leaves := c.Leaves[bin[0]:bin[1]]
		for i, share := range histogram.Shares(leaves) {
			if place >= leaves[i].Lo && place < leaves[i].Hi {
				return code, share / float64(leaves[i].Hi-leaves[i].Lo)
			}
		}
	}
	return len(c.Bins), 1
}

// TestBitsAreOfTheRow: to the last bit, alone and in another order; a row that is never drawn has
// the highest score, and none is NaN.
func TestBitsAreOfTheRow(t *testing.T) {
	in := small()
	s, f := asScorer(t, smallModel(t), in)
	f.Columns[0].Numbers[7], f.Columns[0].Numbers[8], f.Columns[1].Codes[9] = 99, math.Inf(-1), -1
	all, err := s.Scores(f)
	must(t, err)
	turned := make([]int, f.Rows)
	for i := range turned {
		turned[i] = f.Rows - 1 - i
	}
	other, err := s.Scores(f.Take(turned))
	must(t, err)
	slices.Reverse(other)
	for i := range all {
		alone, err := s.Scores(f.Slice(i, i+1))
		must(t, err)
		if never := i >= 7 && i <= 9; !(all[i] >= 0) || alone[0] != all[i] || other[i] != all[i] || never != (all[i] == 3*64/math.Ln2) {
			t.Errorf("row %d has score %g, alone %g, in a table turned round %g", i, all[i], alone[0], other[i])
		}
	}
}
