// Package queries asks whether declared questions are better put to a synthetic table or to
// mechanisms of their own.
package queries

import (
	"context"
	"strings"

	"weir/pipeline"
	"weir/schema"
	"weir/stages/evaluate"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
	"weir/stages/metric"
)

// settings says how answers are judged; the questions are those that were answered.
type settings struct {
	Quantiles string `yaml:"quantiles" json:"quantiles" enum:"bounds|ranks" doc:"The error of a quantile: its distance over the width of the bounds, or how far its share of the real rows is from the one that was asked for."`
}

// Kinds lists the kind of this question.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{{
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
			evaluate.Table("real", "the real rows that both were made of", false),
			evaluate.Table("synthetic", "the rows to ask", false),
			{Name: "answers", Form: pipeline.FormAnswers, Many: true,
				Doc: "released answers; if omitted, those of every stage above"},
		},
		Out: evaluate.Metrics(), Figures: figures(),
		New: func() pipeline.Stage { return &settings{Quantiles: "bounds"} },
	}}
}

// Plan implements pipeline.Stage.
func (s *settings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	if len(in.All("answers")) == 0 {
		ps.Add("answers", "an empty list", "at least one stage of kind dp_query, dp_covariance, dp_logistic_regression or "+
			"dp_poisson_regression")
	}
	return evaluate.WorkBeside(in["real"], s.measure), ps.Err()
}

func (s *settings) measure(ctx context.Context, env *pipeline.Env, frames evaluate.Frames, in pipeline.Tables) (
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
	return append(overall(list, regressions > 0 && regressions < len(lists)), list...), ctx.Err()
}

// overall averages over stages what has a figure of each, the columns without a point, and the
// accuracies, of which a stage has one; of one stage it has that one's note. Shares and distances of
// coefficients are no errors of one unit, so that where both are there is no mean of them.
func overall(list []pipeline.Metric, mixed bool) (means []pipeline.Metric) {
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
func (s *settings) judged(ctx context.Context, t pipeline.Table, real, synthetic *columns.Frame) (
	list []pipeline.Metric, coefficients bool, err error) {
	r, cond, err := question.ReadRegression(ctx, t)
	if err != nil {
		return nil, false, err
	}
	if cond {
		list, err = regression(ctx, r, real, synthetic)
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
func (s *settings) compared(ctx context.Context, a question.Answers, real, synthetic *columns.Frame) ([]pipeline.Metric,
	error) {
	c := contest{answers: a, real: real, synthetic: synthetic, ranks: s.Quantiles == "ranks"}
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

// figures declares the errors of both kinds of answers, by stage and question.
func figures() pipeline.Figures {
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
		evaluate.RowsFigure(),
	}
}
