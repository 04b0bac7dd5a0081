package sample

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/stages/model/graphical"
)

// tree is a released model of marginals of two columns, with noise of some 14 rows a
// cell.
func tree(t *testing.T, n int) pipeline.Table {
	t.Helper()
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{1, 4}},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
	}}
	columns := make([][]any, 2)
	for i := range n {
		columns[0], columns[1] = append(columns[0], 1+i%4), append(columns[1], []string{"no", "yes"}[i/4%3%2])
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n), OwnRows: true,
		Terms: pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
	var learner pipeline.Kind
	for _, k := range graphical.Kinds() {
		if k.Name == "independent" {
			learner = k
		}
	}
	s, headers := learner.New(), pipeline.Headers{"in": h}
	w, err := s.Plan(headers)
	must(t, err)
	plan, err := compile.Price(&learner, headers, w, 14, privacy.ReplaceOne)
	must(t, err)
	env := pipelinetest.Env(1)
	env.Privacy = &pipelinetest.Ledger{Key: noise.Key{7, 5, 6}, Plan: plan}
	out, err := pipelinetest.Run(t, s, env, pipeline.Tables{"in": pipeline.FromRecords(h, pipelinetest.Rows(d, columns...))})
	must(t, err)
	return out["model"]
}

// TestCopiesCarryTheNoise: the share of smokers differs between copies about as the
// released count of them may be off. Several tables drawn from one model would not
// differ at all, since rows are rounded: their spread must never pass for the noise.
func TestCopiesCarryTheNoise(t *testing.T) {
	const rows, copies = 4000, 60
	s := &Stage{Rows: number(rows), Copies: copies, Categorical: "sample"}
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(1, families()...), pipeline.Tables{"in": tree(t, rows)})
	must(t, err)
	if h := out["out"].Header; h.Rows != rows*copies || h.Class != pipeline.Released {
		t.Errorf("%d rows, %s, must be %d, released", h.Rows, h.Class, rows*copies)
	}
	rec, err := out["out"].Collect(t.Context())
	must(t, err)
	smokers := make([]float64, copies)
	for i := range int(rec.NumRows()) {
		k := rec.Column(2).(*array.Int64).Value(i)
		if k != int64(i/rows+1) {
			t.Fatalf("row %d is of copy %d", i, k)
		}
		smokers[k-1] += float64(rec.Column(1).(*array.Int32).Value(i))
	}
	mean, squares := 0.0, 0.0
	for _, x := range smokers {
		mean += x / copies
	}
	for _, x := range smokers {
		squares += (x - mean) * (x - mean) / (copies - 1)
	}
	// independent at a multiplier of 14 under replace_one: mu^2 = 4/14^2, of which the two
	// columns of 4 and 2 cells get shares 4^(2/3) and 2^(2/3). Two cells are measured with
	// variance 2/part each, and their sum is public, so a count has half of it.
	part := math.Pow(2, 2./3) / (math.Pow(2, 2./3) + math.Pow(4, 2./3))
	want := math.Sqrt(2 / (4. / 14 / 14 * part) / 2)
	if sd := math.Sqrt(squares); sd < want*0.6 || sd > want*1.6 {
		t.Errorf("counts of %d copies have a standard deviation of %.1f, must be near %.1f", copies, sd, want)
	}
}

// TestCopiesNeedMarginals: a model that does not know its noise has none, and a table
// with a column of that name cannot have another.
func TestCopiesNeedMarginals(t *testing.T) {
	s := &Stage{Rows: number(3), Copies: 2, Categorical: "sample"}
	if _, err := s.Plan(pipeline.Headers{"in": generator(t).Header}); err == nil || !strings.Contains(err.Error(), "copies: is given for a model that learned encoded columns") {
		t.Errorf("copies of a network: %v", err)
	}
	h := tree(t, 8).Header
	h.Domain = &domain.Domain{Columns: []domain.Column{{Name: "copy", Type: domain.Integer, Bounds: &[2]float64{0, 1}}}}
	if _, err := s.Plan(pipeline.Headers{"in": h}); err == nil || !strings.Contains(err.Error(), "has a column copy") {
		t.Errorf("copies of a table with a column copy: %v", err)
	}
}

func number(n int64) *int64 { return &n }
