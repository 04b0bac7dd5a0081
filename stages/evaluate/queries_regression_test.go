package evaluate

import (
	"context"
	"math"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
)

// smoking explains who smokes.
func smoking() question.Regression {
	return question.Regression{Kind: question.Logistic, Target: "smoker", Positive: "yes", PriorDeviation: 2.5,
		Columns: []question.RegressionColumn{{Name: "age", Bounds: [2]float64{18, 90}},
			{Name: "region", Categories: pipelinetest.WardDomain().Column("region").Categories}}}
}

// regressed returns what a stage released whose coefficients, but for the intercept, equal the coefficients of
// the given rows and more by a tenth, of a number by a tenth for half of its bounds.
func regressed(rows pipelinetest.Input) pipelinetest.Input {
	f, err := columns.Read(context.Background(), pipeline.FromRecords(rows.Header, rows.Rows))
	if err != nil {
		panic(err)
	}
	m := smoking()
	b, err := m.Answer(context.Background(), m.Rows(f))
	if err != nil {
		panic(err)
	}
	r := question.ReleasedRegression{Stage: "fit", Queries: 1, Steps: 6, Model: m}
	r.Coefficients, r.Covariance = m.Coefficients(b)
	for j := range r.Coefficients[1:] {
		off := 0.1
		if r.Coefficients[1+j].Column == "age" {
			off /= 36
		}
		r.Coefficients[1+j].Estimate += off
		r.Coefficients[1+j].High += off
	}
	table, err := r.Write(question.RegressionHeader(rows.Header))
	if err != nil {
		panic(err)
	}
	files, err := pipelinetest.Collect(context.Background(), table)
	if err != nil {
		panic(err)
	}
	return pipelinetest.Input{Header: table.Header, Rows: files}
}

// TestCompareRegressions: coefficients that are off by a tenth have that error; synthetic
// rows that are the real ones have none, win, and tell the outcome as often as these do; coefficients of
// another table are off. Rows without a column that is asked about cannot be judged.
func TestCompareRegressions(t *testing.T) {
	real := pipelinetest.WardInput(pipelinetest.WardRows(1, 400), pipeline.Private)
	judge := func(synthetic pipelinetest.Input) map[string]pipeline.Metric {
		return figures(t, stage("compare_queries", nil), map[string]pipelinetest.Input{"real": real, "synthetic": synthetic,
			"answers.0": regressed(real)})
	}
	got := judge(pipelinetest.WardInput(pipelinetest.WardRows(1, 400), pipeline.Released))
	for key, want := range map[string]float64{"error_tailored.fit.smoker": 0.1, "error_synthetic.fit.smoker": 0,
		"synthetic_wins.fit": 1, "interval_coverage.fit": 1,
		"accuracy_synthetic.fit.smoker": got["accuracy_real.fit.smoker"].Value,
		"accuracy_synthetic":            got["accuracy_real"].Value, "accuracy_real": got["accuracy_real.fit.smoker"].Value} {
		if m, ok := got[key]; !ok || !(math.Abs(m.Value-want) < 1e-9) {
			t.Errorf("%s is %v, must be %g", key, m, want)
		}
	}
	if a := got["accuracy_real.fit.smoker"].Value; !(a > 0.5 && a < 1) {
		t.Errorf("the real rows tell the outcome with accuracy %g", a)
	}
	other := judge(pipelinetest.WardInput(pipelinetest.WardRows(2, 400), pipeline.Released))
	if e := other["error_synthetic.fit.smoker"].Value; !(e > 0.01) {
		t.Errorf("other rows have the error %g", e)
	}
}

// TestErrorsOfOneUnitHaveAMean: shares of rows and distances of coefficients are averaged by stage alone.
func TestErrorsOfOneUnitHaveAMean(t *testing.T) {
	real := pipelinetest.WardInput(pipelinetest.WardRows(1, 400), pipeline.Private)
	got := figures(t, stage("compare_queries", nil), map[string]pipelinetest.Input{"real": real, "synthetic": real,
		"answers.0": regressed(real), "answers.1": answered(real, 0.5)})
	for _, name := range []string{"error_tailored", "error_synthetic"} {
		if m := got[name]; !math.IsNaN(m.Value) || m.Note == "" || math.IsNaN(got[name+".fit"].Value) ||
			math.IsNaN(got[name+".asked"].Value) {
			t.Errorf("%s is %v, of stages %v and %v: must be of stages alone", name, m, got[name+".fit"], got[name+".asked"])
		}
	}
	if m := got["synthetic_wins"]; m.Value != 1 {
		t.Errorf("synthetic_wins is %v, must be 1", m)
	}
}
