package queries

import (
	"context"
	"fmt"
	"math"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
	"weir/stages/metric"
)

// contest is the answers of one stage against the answers of the synthetic rows.
type contest struct {
	answers         question.Answers
	real, synthetic *columns.Frame
	list            []pipeline.Metric
	tailored, other []metric.Noted
	won, lost       int // questions that the synthetic rows answer better, or worse
	held            coverage
	ranks           bool // the error of a quantile is one of ranks
}

// coverage counts intervals that hold the real answer.
type coverage struct{ hold, of int }

// add judges one question.
func (c *contest) add(ctx context.Context, q question.Resolved, tailored []question.Answer) error {
	column := c.answers.Stage + "." + q.Name
	why := q.Lacks(c.real)
	if why == "" {
		why = q.Lacks(c.synthetic)
	}
	if why != "" {
		c.judge(column, metric.None(why), metric.None(why))
		return nil
	}
	truth, err := q.Of(ctx, c.real)
	if err != nil {
		return err
	}
	other, err := q.Of(ctx, c.synthetic)
	if err != nil {
		return err
	}
	if len(truth) != len(tailored) {
		why := fmt.Sprintf("%d answers were released of %d", len(tailored), len(truth))
		c.judge(column, metric.None(why), metric.None(why))
		return nil
	}
	c.cover(truth, tailored)
	if c.ranks && q.Ask == question.Quantile {
		values := q.Values(c.real)
		c.judge(column, misplaced(q, values, tailored), misplaced(q, values, other))
		return nil
	}
	c.judge(column, answerError(q, truth, tailored, c.real.Rows, c.real.Rows), answerError(q, truth, other, c.real.Rows,
		c.synthetic.Rows))
	return nil
}

func (c *contest) judge(column string, tailored, synthetic metric.Noted) {
	c.tailored, c.other = append(c.tailored, tailored), append(c.other, synthetic)
	c.list = append(c.list,
		pipeline.Metric{Name: "error_tailored", Column: column, Value: tailored.Value, Note: tailored.Note},
		pipeline.Metric{Name: "error_synthetic", Column: column, Value: synthetic.Value, Note: synthetic.Note})
	switch {
	case synthetic.Value < tailored.Value:
		c.won++
	case synthetic.Value > tailored.Value:
		c.lost++
	}
}

// cover counts the intervals that there are.
func (c *contest) cover(truth, tailored []question.Answer) {
	for i, a := range tailored {
		if math.IsNaN(truth[i].Value) || math.IsNaN(a.Low) {
			continue
		}
		c.held.of++
		if a.Low <= truth[i].Value && truth[i].Value <= a.High {
			c.held.hold++
		}
	}
}

// answerError returns the error of answers of a table of so many rows, as a share: see the doc of the
// kind. The answer to a covariance has each number off the diagonal once, which stands in
// the matrix twice.
func answerError(q question.Resolved, truth, answers []question.Answer, real, rows int) metric.Noted {
	if real == 0 || rows == 0 {
		return metric.None("a table is empty")
	}
	sum := 0.0
	for i, a := range answers {
		d := 0.0
		switch q.Ask {
		case question.Count, question.Histogram:
			d = math.Abs(a.Value/float64(rows)-truth[i].Value/float64(real)) / float64(len(answers))
		case question.Covariance:
			d = float64((a.Value - truth[i].Value) * (a.Value - truth[i].Value) * twice(q, i))
		default:
			d = math.Abs(a.Value-truth[i].Value) / (q.Bounds[0][1] - q.Bounds[0][0])
		}
		sum += d
	}
	if q.Ask == question.Covariance {
		sum = math.Sqrt(sum)
	}
	return metric.Or(sum, "no row is asked about")
}

// misplaced returns how far the share of values that are below an answer, or up to it, is from
// the one that was asked for.
func misplaced(q question.Resolved, values []float64, answers []question.Answer) metric.Noted {
	lower, prefix, n, x := 0.0, 0.0, 0.0, answers[0].Value
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		n++
		if v < x {
			lower++
		}
		if v <= x {
			prefix++
		}
	}
	if n == 0 || math.IsNaN(x) {
		return metric.None("no row is asked about")
	}
	return metric.Of(max(0, lower/n-q.Question.Quantile, q.Question.Quantile-prefix/n))
}

// twice returns how often answer i to a covariance stands in its matrix.
func twice(q question.Resolved, i int) float64 {
	for wide := len(q.Columns); wide > 0; wide-- {
		if i == 0 {
			return 1
		}
		if i < wide {
			return 2
		}
		i -= wide
	}
	return 2
}

func (c *contest) summary() []pipeline.Metric {
	stage := c.answers.Stage
	tailored, other := metric.Mean(c.tailored), metric.Mean(c.other)
	wins := metric.Of(float64(c.won)/float64(c.won+c.lost), "")
	if c.won+c.lost == 0 {
		wins = metric.None("no question has two answers that differ")
	}
	covered := metric.Of(float64(c.held.hold)/float64(c.held.of), "")
	if c.held.of == 0 {
		covered = metric.None("no answer has an interval")
	}
	return []pipeline.Metric{
		{Name: "synthetic_wins", Column: stage, Value: wins.Value, Note: metric.Notes(wins.Note, c.verdict(tailored.Value,
			other.Value))},
		{Name: "error_tailored", Column: stage, Value: tailored.Value, Note: tailored.Note},
		{Name: "error_synthetic", Column: stage, Value: other.Value, Note: other.Note},
		{Name: "interval_coverage", Column: stage, Value: covered.Value, Note: covered.Note},
	}
}

// verdict says in words who is better.
func (c *contest) verdict(tailored, synthetic float64) string {
	if c.won+c.lost == 0 || math.IsNaN(tailored) || math.IsNaN(synthetic) {
		return ""
	}
	better := "the synthetic table is the better buy"
	if tailored < synthetic {
		better = "tailored answers are the better buy"
	}
	name := "the whole budget"
	if c.answers.Of > 1 {
		name = fmt.Sprintf("a budget for %d such queries", c.answers.Of)
	}
	return fmt.Sprintf("%s: of %d questions under %s the synthetic rows answer %d better; the mean error is %.3g "+
		"against %.3g", better, c.won+c.lost, name, c.won, synthetic, tailored)
}

// regression returns how a released regression and the same one of the synthetic rows do, beside
// the same one of the real rows. Of a logistic one it says too how often each tells the
// real outcome.
func regression(ctx context.Context, r question.ReleasedRegression, real, synthetic *columns.Frame) ([]pipeline.Metric,
	error) {
	column := r.Stage + "." + r.Model.Target
	c := contest{answers: question.Answers{Stage: r.Stage, Of: r.Queries}}
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
	c.judge(column, metric.Of(r.Model.Distance(r.Coefficients, truth), ""), metric.Of(r.Model.Distance(other, truth), ""))
	list := append(c.summary(), c.list...)
	if r.Model.Kind == question.Logistic {
		for _, entry := range []struct {
			name string
			list []question.Coefficient
		}{{"accuracy_tailored", r.Coefficients}, {"accuracy_synthetic", other}, {"accuracy_real", truth}} {
			list = append(list, pipeline.Metric{Name: entry.name, Column: column, Value: r.Model.Accuracy(entry.list, rows),
				Note: fmt.Sprintf("of %d real rows", real.Rows)})
		}
	}
	return list, nil
}

// answer returns the coefficients of rows that may be looked at.
func answer(ctx context.Context, m question.Regression, rows question.RegressionRows) ([]question.Coefficient, error) {
	b, err := m.Answer(ctx, rows)
	if err != nil {
		return nil, err
	}
	list, _ := m.Coefficients(b)
	return list, nil
}

func answers(list []question.Coefficient) (out []question.Answer) {
	for _, c := range list {
		out = append(out, question.Answer{Value: c.Estimate, Low: c.Low, High: c.High})
	}
	return out
}
