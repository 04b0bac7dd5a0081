package queries

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/stages/internal/ask"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric"
	"weir/stages/internal/regress"
)

// regression is how a released regression and the same one of the synthetic rows do, beside
// the same one of the real rows. Of a logistic one it says too how often each tells the
// real outcome.
func regression(ctx context.Context, r regress.Released, real, synthetic *columns.Frame) ([]pipeline.Metric, error) {
	column := r.Stage + "." + r.Model.Target
	c := contest{answers: ask.Answers{Stage: r.Stage, Of: r.Queries}}
	why := r.Model.Lacks(real)
	if why == "" {
		why = r.Model.Lacks(synthetic)
	}
	if why == "" && (real.Rows == 0 || synthetic.Rows == 0) {
		why = "a table is empty"
	}
	if why != "" {
		c.judge(column, metric.None(why), metric.None(why))
		return append(c.summary(), c.list...), nil
	}
	rows := r.Model.Rows(real)
	truth, err := answer(ctx, r.Model, rows)
	if err != nil {
		return nil, err
	}
	other, err := answer(ctx, r.Model, r.Model.Rows(synthetic))
	if err != nil {
		return nil, err
	}
	c.cover(answers(truth), answers(r.Coefficients))
	c.judge(column, metric.Of(r.Model.Apart(r.Coefficients, truth), ""), metric.Of(r.Model.Apart(other, truth), ""))
	list := append(c.summary(), c.list...)
	if r.Model.Kind == regress.Logistic {
		for _, of := range []struct {
			name string
			list []regress.Coefficient
		}{{"accuracy_tailored", r.Coefficients}, {"accuracy_synthetic", other}, {"accuracy_real", truth}} {
			list = append(list, pipeline.Metric{Name: of.name, Column: column, Value: r.Model.Accuracy(of.list, rows), Note: fmt.Sprintf("of %d real rows", real.Rows)})
		}
	}
	return list, nil
}

// answer is the coefficients of rows that may be looked at.
func answer(ctx context.Context, m regress.Model, rows regress.Rows) ([]regress.Coefficient, error) {
	b, err := m.Answer(ctx, rows)
	if err != nil {
		return nil, err
	}
	list, _ := m.Coefficients(b)
	return list, nil
}

func answers(list []regress.Coefficient) (out []ask.Answer) {
	for _, c := range list {
		out = append(out, ask.Answer{Value: c.Estimate, Low: c.Low, High: c.High})
	}
	return out
}
