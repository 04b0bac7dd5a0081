package evaluate

import (
	"context"
	"math"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
)

// asking returns questions about the ward.
func asking() []question.Resolved {
	low := 40.0
	var ps schema.Problems
	list := question.Check(&ps, "questions", []question.Question{
		{Name: "older", Ask: question.Count, Where: []question.Condition{{Column: "age", From: &low}}},
		{Name: "regions", Ask: question.Histogram, Column: "region"},
		{Name: "age", Ask: question.Mean, Column: "age"},
		{Name: "pressure", Ask: question.Quantile, Column: "pressure", Quantile: 0.5},
	}, pipelinetest.WardDomain(), 0)
	full := pipelinetest.WardDomain()
	for i := range full.Columns {
		full.Columns[i].Nullable = false
	}
	cov := question.CheckCovariance(&ps, "columns", []string{"age", "pressure", "smoker"}, full, 0)
	if err := ps.Err(); err != nil {
		panic(err)
	}
	return append(list, cov)
}

// answered returns what a stage released that answers a little beside what the given rows do:
// counts by 3 rows, covariances by a hundredth of off, other numbers by off, in intervals of
// twice that, all within what is possible.
func answered(rows pipelinetest.Input, off float64) pipelinetest.Input {
	f, err := columns.Read(context.Background(), pipeline.FromRecords(rows.Header, rows.Rows))
	if err != nil {
		panic(err)
	}
	a := question.Answers{Stage: "asked", Kind: "dp_query", Of: 5, Asked: asking()}
	for _, q := range a.Asked {
		list, err := q.Of(context.Background(), f)
		if err != nil {
			panic(err)
		}
		for _, x := range list {
			amount, least, most := off, -1e9, 1e9
			switch q.Ask {
			case question.Count, question.Histogram:
				amount = 3
			case question.Covariance:
				amount, least, most = off/100, -0.25, 0.25
			default:
				least, most = q.Bounds[0][0], q.Bounds[0][1]
			}
			in := func(v float64) float64 { return min(max(v, least), most) }
			a.List = append(a.List, question.Answer{Question: x.Question, Cell: x.Cell, Value: in(x.Value + amount),
				Low: in(x.Value - amount), High: in(x.Value + 2*amount)})
		}
	}
	t, err := a.Write(question.Header(rows.Header))
	if err != nil {
		panic(err)
	}
	r, err := pipelinetest.Collect(context.Background(), t)
	if err != nil {
		panic(err)
	}
	return pipelinetest.Input{Header: t.Header, Rows: r}
}

// TestCompareQueries: errors follow the definition. Answers beside the answers of 400 real
// rows by 3 rows are off by 3/400, a mean by 0.5 of a range of 72, a covariance of three
// columns by 0.005 in each of 9 numbers. Synthetic rows that are the real ones have no error
// and win every question; released intervals, made to hold the truth, do.
func TestCompareQueries(t *testing.T) {
	real := pipelinetest.WardInput(pipelinetest.WardRows(1, 400), pipeline.Private)
	got := figures(t, stage("compare_queries", nil), map[string]pipelinetest.Input{"real": real,
		"synthetic": pipelinetest.WardInput(pipelinetest.WardRows(1, 400), pipeline.Released), "answers.0": answered(real,
			0.5)})
	for key, want := range map[string]float64{"error_tailored.asked.older": 3. / 400, "error_tailored.asked.regions": 3. /
		400, "error_tailored.asked.age": 0.5 / 72,
		"error_tailored.asked.pressure": 0.5 / 180, "error_tailored.asked.covariance": 0.015,
		"error_synthetic.asked.covariance": 0, "error_synthetic.asked": 0,
		"synthetic_wins.asked": 1, "synthetic_wins": 1, "error_synthetic": 0, "interval_coverage.asked": 1} {
		if m, ok := got[key]; !ok || math.Abs(m.Value-want) > 1e-12 {
			t.Errorf("%s is %v, must be %g", key, m, want)
		}
	}
	const want = "the synthetic table is the better buy: of 5 questions under a budget for 5 such queries the synthetic " +
		"rows answer 5 better"
	if note := got["synthetic_wins.asked"].Note; !strings.HasPrefix(note, want) {
		t.Errorf("the verdict is %q", note)
	}
}

// TestCompareQueriesByRank: half of 400 real pressures are at most their median, so that an
// answer above all of them is off by the other half; the real rows themselves are not.
func TestCompareQueriesByRank(t *testing.T) {
	real := pipelinetest.WardInput(pipelinetest.WardRows(1, 400), pipeline.Private)
	got := figures(t, stage("compare_queries", overrides{"quantiles": "ranks"}),
		map[string]pipelinetest.Input{"real": real,
			"synthetic": real, "answers.0": answered(real, 1000)})
	if m := got["error_synthetic.asked.pressure"]; m.Value != 0 {
		t.Errorf("the real median is off by %v", m)
	}
	if m := got["error_tailored.asked.pressure"]; m.Value != 0.5 {
		t.Errorf("a median above all values is off by %v, must be 0.5", m)
	}
}

// TestCompareQueriesOfOtherRows: rows that say otherwise lose to answers that are nearly true.
func TestCompareQueriesOfOtherRows(t *testing.T) {
	real := pipelinetest.WardInput(pipelinetest.WardRows(1, 400), pipeline.Private)
	got := figures(t, stage("compare_queries", nil), map[string]pipelinetest.Input{"real": real,
		"synthetic": pipelinetest.WardInput(pipelinetest.BlankWards(pipelinetest.WardRows(1, 400), false), pipeline.Released),
		"answers.0": answered(real,
			1e-6)})
	if m := got["synthetic_wins.asked"]; m.Value > 0.5 || !strings.HasPrefix(m.Note,
		"tailored answers are the better buy") {
		t.Errorf("constants win: %v", m)
	}
}
