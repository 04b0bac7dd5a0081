package graphical

import (
	"math"
	"testing"

	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// gains returns a column of 100,000 values, two to a cell of its grid, of which one is a heap.
func gains(n int) pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{{Name: "gain", Type: domain.Integer, Bounds: &[2]float64{0, 99999}}}}
	values := make([]any, n)
	for i := range values {
		if values[i] = 0; i%5 == 0 {
			values[i] = i * 7919 % 100_000
		}
	}
	return pipelinetest.Input{Header: header(d, n), Rows: pipelinetest.Rows(d, values)}
}

// TestHeapsKeepTheirPoint in what is made of a release: the listing names the point, a
// file of it gives the heap again, and the scores of all values are probabilities.
func TestHeapsKeepTheirPoint(t *testing.T) {
	in := gains(4000)
	table, _ := attempt{stage: independentKind().New(), in: in, multiplier: 0.5}.run(t)
	again, err := fromText(t, in.Header.Domain, string(read(t, table).listing()), 4000)
	must(t, err)
	for what, m := range map[string]*released{"model": read(t, table), "fitted again": read(t, fitted(t, table)),
		"from its listing": again} {
		zeros, rec := 0, drawRows(t, m, 1000)
		for i := range 1000 {
			if number(rec.Column(0), i) == 0 {
				zeros++
			}
		}
		if zeros < 780 || zeros > 830 {
			t.Errorf("%s: %d of 1000 rows are 0, must be some 800", what, zeros)
		}
	}
	values := make([]any, 100_000)
	for i := range values {
		values[i] = i
	}
	sum := 0.0
	scores := scored(t, table, pipelinetest.Input{Header: in.Header, Rows: pipelinetest.Rows(in.Header.Domain, values)})
	for _, x := range scores {
		sum += math.Exp(x)
	}
	if math.Abs(sum-1) > 1e-9 || math.Abs(math.Exp(scores[0])-0.8) > 0.03 {
		t.Errorf("probabilities sum to %.12f, and 0 has %.3f, must be 1 and some .8", sum, math.Exp(scores[0]))
	}
}
