package evaluate

import (
	"context"
	"fmt"
	"math"
	"strings"

	"weir/pipeline"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
	"weir/stages/metric"
)

// querySettings says how answers are judged; the questions are those that were answered.
type querySettings struct {
	Quantiles string `yaml:"quantiles" json:"quantiles" enum:"bounds|ranks" doc:"The error of a quantile: its distance over the width of the bounds, or how far its share of the real rows is from the one that was asked for."`
}

// queriesKind declares the kind that asks whether declared questions are better put to a synthetic table or to
// mechanisms of their own.
func queriesKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "compare_queries", Version: 3,
		Doc: "Compares released answers with what the synthetic rows answer. Puts the questions of released answers " +
			"(dp_query, dp_covariance, dp_logistic_regression, " +
			"dp_poisson_regression) to the synthetic rows too, and compares both with what the real rows answer. " +
			"Errors are shares, so that questions can be averaged (a regression's are not, so that beside other answers no " +
			"mean over stages is given): of a count or a cell of the rows, of a mean or a quantile of the width of its " +
			"bounds; of a covariance it is the Frobenius norm of the difference, columns scaled to [0, 1]; of a regression " +
			"the mean distance of coefficients, numbers scaled to [-1, 1], and of a logistic one accuracy_tailored, " +
			"accuracy_synthetic and accuracy_real are the shares of real rows whose outcome each tells. " +
			"error_tailored and error_synthetic are named STAGE.QUESTION, their means STAGE, and the means over stages, those " +
			"of accuracies too, have no name behind them; synthetic_wins is the share of a stage's questions that the " +
			"synthetic rows answer better, and its note says it in words. " +
			"Use it to see from how many questions on a synthetic table is the better buy: give the stage that learns the " +
			"table and those that answer equal epsilons, and the latter queries. " +
			"interval_coverage is the share of released intervals that hold the real answer.",
		In: []pipeline.Port{
			Table("real", "the real rows that both were made of", false),
			Table("synthetic", "the rows to ask", false),
			{Name: "answers", Form: pipeline.FormAnswers, Many: true,
				Doc: "released answers; if omitted, those of every stage above"},
		},
		Out: Metrics(), Figures: queryFigures(),
		New: func() pipeline.Stage { return &querySettings{Quantiles: "bounds"} },
	}
}

// Plan implements pipeline.Stage.
func (s *querySettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	if len(in.All("answers")) == 0 {
		ps.Add("answers", "an empty list", "at least one stage of kind dp_query, dp_covariance, dp_logistic_regression or "+
			"dp_poisson_regression")
	}
	return WorkBeside(in["real"], s.measure), ps.Err()
}

func (s *querySettings) measure(ctx context.Context, env *pipeline.Env, frames Frames, in pipeline.Tables) (
	[]pipeline.Metric, error) {
	var list []pipeline.Metric
	lists, regressions := in.All("answers"), 0
	for i, t := range lists {
		more, coefficients, err := s.judged(ctx, t, frames["real"], frames["synthetic"])
		if err != nil {
			return nil, err
		}
		if coefficients {
			regressions++
		}
		list = append(list, more...)
		env.Progress(int64(i+1), int64(len(lists)))
	}
	return append(meansOverStages(list, regressions > 0 && regressions < len(lists)), list...), ctx.Err()
}

// meansOverStages averages over stages what has a figure of each, the columns without a point, and the
// accuracies, of which a stage has one; of one stage it has that one's note. Shares and distances of
// coefficients are no errors of one unit, so that where both are there is no mean of them.
func meansOverStages(list []pipeline.Metric, mixed bool) (means []pipeline.Metric) {
	for _, name := range []string{"synthetic_wins", "error_tailored", "error_synthetic", "accuracy_tailored",
		"accuracy_synthetic", "accuracy_real"} {
		var each []metric.Noted
		for _, m := range list {
			if m.Name == name && (strings.HasPrefix(name, "accuracy") || !strings.Contains(m.Column, ".")) {
				each = append(each, metric.Of(m.Value, m.Note))
			}
		}
		if len(each) > 0 {
			m := metric.Mean(each)
			if mixed && strings.HasPrefix(name, "error") {
				m = metric.None("shares and distances of coefficients have no mean; see each stage")
			}
			means = append(means, pipeline.Metric{Name: name, Value: m.Value, Note: m.Note})
		}
	}
	return means
}

// judged reads what one stage released, answers or coefficients, and compares it.
func (s *querySettings) judged(ctx context.Context, t pipeline.Table, real, synthetic *columns.Frame) (
	list []pipeline.Metric, coefficients bool, err error) {
	r, cond, err := question.ReadRegression(ctx, t)
	if err != nil {
		return nil, false, err
	}
	if cond {
		list, err = judgeRegression(ctx, r, real, synthetic)
		return list, true, err
	}
	a, err := question.Read(ctx, t)
	if err != nil {
		return nil, false, err
	}
	list, err = s.compared(ctx, a, real, synthetic)
	return list, false, err
}

// compared returns how one stage's answers and the answers of the synthetic rows compare.
func (s *querySettings) compared(ctx context.Context, a question.Answers, real,
	synthetic *columns.Frame) ([]pipeline.Metric,
	error) {
	c := answerContest{answers: a, real: real, synthetic: synthetic, ranks: s.Quantiles == "ranks"}
	rest := a.List
	for _, q := range a.Asked {
		n := 0
		for n < len(rest) && rest[n].Question == q.Name {
			n++
		}
		if err := c.add(ctx, q, rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	return append(c.summary(), c.list...), nil
}

// queryFigures declares the errors of both kinds of answers, by stage and question.
func queryFigures() pipeline.Figures {
	const answer = "answer"
	accuracy := func(name, pair, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Parts: answer, Better: pipeline.BetterHigh, Headline: true,
			Real: "accuracy_real", Pair: pair, Doc: doc}
	}
	return pipeline.Figures{
		{Name: "synthetic_wins", Parts: answer, Better: pipeline.BetterPlain, Headline: true,
			Doc: "share of the declared questions that synthetic rows answer better than the tailored answers"},
		{Name: "error_tailored", Parts: answer, Better: pipeline.BetterLow, Headline: true,
			Doc: "mean error of the tailored answers, 0 is best"},
		{Name: "error_synthetic", Parts: answer, Better: pipeline.BetterLow, Headline: true,
			Doc: "mean error of the same questions put to synthetic rows, 0 is best"},
		accuracy("accuracy_tailored", "", "the released regression: share of real outcomes that it tells"),
		accuracy("accuracy_synthetic", "accuracy",
			"the same regression of the synthetic rows: share of real outcomes that it tells"),
		{Name: "accuracy_real", Parts: answer, Better: pipeline.BetterHigh,
			Doc: "the same regression of the real rows: share of real outcomes that it tells"},
		{Name: "interval_coverage", Parts: answer, Better: pipeline.BetterHigh,
			Doc: "share of the released intervals that hold the real answer"},
		RowsFigure(),
	}
}

// answerContest is the answers of one stage against the answers of the synthetic rows.
type answerContest struct {
	answers         question.Answers
	real, synthetic *columns.Frame
	list            []pipeline.Metric
	tailored, other []metric.Noted
	won, lost       int // questions that the synthetic rows answer better, or worse
	held            intervalCoverage
	ranks           bool // the error of a quantile is one of ranks
}

// intervalCoverage counts intervals that hold the real answer.
type intervalCoverage struct{ hold, of int }

// add judges one question.
func (c *answerContest) add(ctx context.Context, q question.Resolved, tailored []question.Answer) error {
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
		c.judge(column, rankError(q, values, tailored), rankError(q, values, other))
		return nil
	}
	c.judge(column, answerError(q, truth, tailored, c.real.Rows, c.real.Rows), answerError(q, truth, other, c.real.Rows,
		c.synthetic.Rows))
	return nil
}

func (c *answerContest) judge(column string, tailored, synthetic metric.Noted) {
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
func (c *answerContest) cover(truth, tailored []question.Answer) {
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

// answerError returns the error of answers of a table of the given number of rows, as a share: see the doc of the
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
			d = float64((a.Value - truth[i].Value) * (a.Value - truth[i].Value) * timesInMatrix(q, i))
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

// rankError returns how far the share of values that are below an answer, or up to it, is from
// the one that was asked for.
func rankError(q question.Resolved, values []float64, answers []question.Answer) metric.Noted {
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

// timesInMatrix returns how often answer i to a covariance stands in its matrix.
func timesInMatrix(q question.Resolved, i int) float64 {
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

func (c *answerContest) summary() []pipeline.Metric {
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
func (c *answerContest) verdict(tailored, synthetic float64) string {
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

// judgeRegression returns how a released regression and the same one of the synthetic rows do, beside
// the same one of the real rows. Of a logistic one it says too how often each tells the
// real outcome.
func judgeRegression(ctx context.Context, r question.ReleasedRegression, real,
	synthetic *columns.Frame) ([]pipeline.Metric,
	error) {
	column := r.Stage + "." + r.Model.Target
	c := answerContest{answers: question.Answers{Stage: r.Stage, Of: r.Queries}}
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
	truth, err := fitCoefficients(ctx, r.Model, rows)
	if err != nil {
		return nil, err
	}
	other, err := fitCoefficients(ctx, r.Model, r.Model.Rows(synthetic))
	if err != nil {
		return nil, err
	}
	c.cover(coefficientAnswers(truth), coefficientAnswers(r.Coefficients))
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

// fitCoefficients returns the coefficients of rows that may be looked at.
func fitCoefficients(ctx context.Context, m question.Regression, rows question.RegressionRows) ([]question.Coefficient,
	error) {
	b, err := m.Answer(ctx, rows)
	if err != nil {
		return nil, err
	}
	list, _ := m.Coefficients(b)
	return list, nil
}

func coefficientAnswers(list []question.Coefficient) (out []question.Answer) {
	for _, c := range list {
		out = append(out, question.Answer{Value: c.Estimate, Low: c.Low, High: c.High})
	}
	return out
}
