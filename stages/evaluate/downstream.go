package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
)

// downstreamSettings says what is learnt from synthetic rows and tested on real ones.
type downstreamSettings struct {
	Target       string   `yaml:"target" json:"target" required:"true" format:"column" doc:"The column to predict: coded columns are classified, numbers regressed."`
	Models       []string `yaml:"models" json:"models" minItems:"1" unique:"true" doc:"Learners, by name."`
	Scores       []string `yaml:"scores,omitempty" json:"scores,omitempty" unique:"true" doc:"Scores; if omitted, the usual ones for the target's type."`
	Positive     string   `yaml:"positive,omitempty" json:"positive,omitempty" doc:"The positive category of a two-category target; if omitted, the second one."`
	Columns      []string `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" unique:"true" doc:"Columns to predict from; if omitted, all others that the tables share."`
	Scaling      string   `yaml:"scaling" json:"scaling" enum:"standard|bounds|raw" doc:"Numbers are standardised by the training rows, scaled to the declared bounds, or left alone."`
	Weights      bool     `yaml:"weights,omitempty" json:"weights,omitempty" doc:"Whether the figure column_weight says how much each column counts, by learner and column: the coefficient of logistic regression for two classes, the importance of trees and forests (shares of the decrease of impurity); other learners say nothing."`
	MaxTrainRows int      `yaml:"max_train_rows" json:"max_train_rows" min:"0" doc:"Larger training tables are sampled down to this many rows at random, and a note says so; 0 means no limit." unit:"rows"`
}

// downstreamKind declares the kind that asks whether what is learnt from synthetic rows predicts real ones.
func downstreamKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "downstream", Version: 7, Late: true,
		Doc: "Trains learners on the synthetic rows and scores them on held-out real ones. With real_train the " +
			"same learners are trained on real rows too, which gives the loss against them and how often two learners rank " +
			"alike " +
			"(Jordon et al. 2018). Metrics are named score.model; the plain score is the mean over learners. Beside every " +
			"score stand the ends of " +
			"its bootstrap interval of 95 % (score_low, score_high) over the test rows, and beside accuracy that of the " +
			"commonest class " +
			"(accuracy_majority). Use it to see whether conclusions of prediction carry over from the synthetic rows. " +
			"Learners of classes: " + strings.Join(prediction.ClassifierNames(), ", ") + "; of numbers: " +
			strings.Join(prediction.RegressorNames(), ", ") +
			". Scores of classes: " + strings.Join(prediction.ClassScores(), ", ") + "; of numbers: " +
			strings.Join(prediction.NumberScores(), ", ") + ".",
		In: []pipeline.Port{
			Table("real", "held-out real rows to test on", false),
			Table("synthetic", "rows to train on", false),
			Table("real_train", "real rows to train on: what the learners can reach", true),
			Baseline(),
		},
		Out: Metrics(), Figures: downstreamFigures(),
		New: func() pipeline.Stage {
			return &downstreamSettings{Models: []string{"logistic_regression"}, Scaling: string(prediction.ScaleStandard),
				MaxTrainRows: 100000}
		},
	}
}

// Predicts implements pipeline.Predictor.
func (s *downstreamSettings) Predicts() string { return s.Target }

// Plan implements pipeline.Stage.
func (s *downstreamSettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	for _, port := range []string{"real", "synthetic", "real_train", "baseline"} {
		if h, ok := in[port]; ok {
			s.planTable(&ps, port, h.Domain)
		}
	}
	if c := in["real"].Domain.Column(s.Target); c != nil {
		s.planTarget(&ps, c)
	}
	Comparable(&ps, "target", s.Target, in)
	return Work(in["real"], s.measure), ps.Err()
}

func (s *downstreamSettings) planTable(ps *schema.Problems, port string, d *domain.Domain) {
	if c := d.Column(s.Target); c == nil {
		ps.Unknown("target", "column of "+port, s.Target, d.Names())
	}
	d.Pick(ps, "columns", s.Columns)
	if slices.Contains(s.Columns, s.Target) {
		ps.Add("columns", "a list with the target "+s.Target, "columns other than the target")
	}
}

func (s *downstreamSettings) planTarget(ps *schema.Problems, c *domain.Column) {
	models, scores := prediction.ClassifierNames(), prediction.ClassScores()
	if !c.Type.Coded() {
		models, scores = prediction.RegressorNames(), prediction.NumberScores()
	}
	if c.Type == domain.Text {
		return
	}
	for i, m := range s.Models {
		if !slices.Contains(models, m) {
			ps.Unknown(fmt.Sprintf("models[%d]", i), "learner of "+string(c.Type)+" columns", m, models)
		}
	}
	for i, n := range s.Scores {
		if !slices.Contains(scores, n) {
			ps.Unknown(fmt.Sprintf("scores[%d]", i), "score of "+string(c.Type)+" columns", n, scores)
		}
	}
	if s.Positive != "" && !(len(c.Categories) == 2 && slices.Contains(c.Categories, s.Positive)) {
		ps.Add("positive", fmt.Sprintf("%q", s.Positive), "a category of a target of two categories, or left out")
	}
}

func (s *downstreamSettings) measure(ctx context.Context, env *pipeline.Env, frames Frames) ([]pipeline.Metric, error) {
	r := &rehearsal{downstreamSettings: s, env: env, test: s.features(frames["real"]), note: Dropped(frames["real"])}
	trains := []string{"synthetic"}
	for _, port := range []string{"real_train", "baseline"} {
		if frames[port] != nil {
			trains = append(trains, port)
		}
	}
	r.total = int64(len(trains) * len(s.Models))
	results := map[string][]map[string]prediction.Score{}
	for _, name := range trains {
		result, err := r.all(ctx, name, s.features(frames[name]))
		if err != nil {
			return nil, err
		}
		results[name] = result
	}
	if real := frames["real_train"]; real != nil {
		r.follows(results["real_train"], s.features(real))
	} else {
		r.follows(results["synthetic"], s.features(frames["synthetic"]))
	}
	return r.metrics(results), nil
}

// features keeps the chosen columns and the target.
func (s *downstreamSettings) features(f *columns.Frame) *columns.Frame {
	if len(s.Columns) == 0 {
		return f
	}
	return f.Select(append(slices.Clone(s.Columns), s.Target))
}

// rehearsal is one run of Downstream.
type rehearsal struct {
	*downstreamSettings
	env         *pipeline.Env
	test        *columns.Frame
	note        string
	done, total int64
	names       []string
	majority    metric.Noted
	certain     string // what the target follows from; "" where it is not certain
	weights     []pipeline.Metric
}

// all scores every learner trained on the given rows.
func (r *rehearsal) all(ctx context.Context, name string, train *columns.Frame) ([]map[string]prediction.Score, error) {
	t := prediction.NewTrainTest(train, r.test, r.Target, prediction.Scaling(r.Scaling), r.MaxTrainRows,
		r.env.Rand("training rows of "+name))
	if t.Notes != "" {
		r.note = metric.Notes(r.note, name+": "+t.Notes)
	}
	r.majority = t.Majority()
	r.names = r.Scores
	if len(r.names) == 0 {
		r.names = prediction.DefaultScores(len(t.Test.Column(r.Target).Categories))
	}
	list := make([]map[string]prediction.Score, len(r.Models))
	for i, m := range r.Models {
		figures, err := r.one(ctx, t, m, name)
		if err != nil {
			return nil, fmt.Errorf("learner %s trained on %s: %w", m, name, err)
		}
		list[i] = figures
		r.done++
		r.env.Progress(r.done, r.total)
	}
	return list, nil
}

// one scores one learner. All are judged on the same resamples of the test rows, so
// that their differences have intervals too.
func (r *rehearsal) one(ctx context.Context, t *prediction.TrainTest, model, name string) (map[string]prediction.Score,
	error) {
	run := learn.Run{Rand: r.env.Rand(model + " on " + name), Workers: r.env.Workers}
	resampled := t.Resampled(r.env.Rand("resampled test rows"))
	if target := t.Test.Column(r.Target); target.Coded() {
		scores, weights, err := t.ScoreAndWeigh(ctx, prediction.Classifiers()[model], r.positive(target), r.names, resampled,
			run)
		r.weigh(t, model, name, weights)
		return scores, err
	}
	return t.ScoreNumbers(ctx, prediction.Regressors()[model], r.names, resampled, run)
}

// weigh keeps how much each column counts for a learner that was trained on the given rows.
func (r *rehearsal) weigh(t *prediction.TrainTest, model, name string, weights []float64) {
	if !r.Weights {
		return
	}
	title := weightName
	if name != "synthetic" {
		title = pipeline.Role(name).Name(weightName)
	}
	for i, v := range weights {
		r.weights = append(r.weights, pipeline.Metric{Name: title, Column: model + ":" + t.Features()[i], Value: v})
	}
}

func (r *rehearsal) positive(target *columns.Column) int {
	if r.Positive == "" {
		return 1
	}
	return slices.Index(target.Categories, r.Positive)
}

// metrics lists score.model, the mean over learners, and what other rows to train on
// add.
func (r *rehearsal) metrics(results map[string][]map[string]prediction.Score) []pipeline.Metric {
	var out []pipeline.Metric
	for _, n := range r.names {
		synthetic, note := scoresNamed(results["synthetic"], n), r.note
		if n == auroc {
			note = metric.Notes(r.certain, note)
		}
		out = append(out, r.table(n, synthetic, note)...)
		if n == "accuracy" {
			out = append(out, pipeline.Metric{Name: pipeline.Majority.Name(n), Value: r.majority.Value,
				Note: r.majority.Note})
		}
		if real, ok := results["real_train"]; ok {
			reached := scoresNamed(real, n)
			out = append(out, r.table(pipeline.RealTrain.Name(n), reached, "")...)
			out = append(out, rankAgreement(n, synthetic, reached)...)
		}
		if other, ok := results["baseline"]; ok {
			out = append(out, r.table(pipeline.Baseline.Name(n), scoresNamed(other, n),
				"learnt from independent columns at the same epsilon")...)
		}
	}
	return append(out, r.weights...)
}

func scoresNamed(results []map[string]prediction.Score, name string) []prediction.Score {
	list := make([]prediction.Score, len(results))
	for i, f := range results {
		list[i] = f[name]
	}
	return list
}

func (r *rehearsal) table(name string, scores []prediction.Score, note string) []pipeline.Metric {
	out := prediction.Mean(scores).Metrics(name, "", note)
	for i, s := range scores {
		out = append(out, s.Metrics(name, r.Models[i])...)
	}
	return out
}

// downstreamFigures declares each score with its references, and what real rows teach beyond it.
func downstreamFigures() pipeline.Figures {
	var list pipeline.Figures
	for _, name := range append(prediction.ClassScores(), prediction.NumberScores()...) {
		f := scoreFigure(name)
		f.Name, f.Parts, f.Pair, f.Learnt, f.Interval = name, "learner", name, true, true
		f.Few, f.Beside = true, append([]pipeline.Role{pipeline.RealTrain, pipeline.Baseline}, f.Beside...)
		list = append(list, f,
			pipeline.Figure{Name: lossName(name), Better: pipeline.BetterPlain, Interval: true,
				Doc: "by how much the score of learners of real rows exceeds that of synthetic rows"},
			pipeline.Figure{Name: agreementName(name), Better: pipeline.BetterHigh,
				Doc: "share of pairs of learners that synthetic rows rank as real rows do, 1 is best"})
	}
	list = append(list, pipeline.Figure{Name: weightName, Parts: "learner and column", Better: pipeline.BetterPlain,
		Beside: []pipeline.Role{pipeline.RealTrain, pipeline.Baseline},
		Doc:    "how much a column counts for a learner of synthetic rows: its coefficient, or its importance"})
	return append(list, RowsFigure())
}

// weightName is the name of the figure that setting weights adds.
const weightName = "column_weight"

func lossName(score string) string      { return score + "_loss" }
func agreementName(score string) string { return score + "_rank_agreement" }

// scoreFigure says what a score means.
func scoreFigure(name string) pipeline.Figure {
	const learnt = "learnt from synthetic rows: "
	high := func(doc string) pipeline.Figure {
		return pipeline.Figure{Better: pipeline.BetterHigh, Doc: learnt + doc}
	}
	low := func(doc string) pipeline.Figure {
		return pipeline.Figure{Better: pipeline.BetterLow, Doc: learnt + doc}
	}
	first := func(f pipeline.Figure, label string, chance *float64, beside ...pipeline.Role) pipeline.Figure {
		f.Headline, f.Beside, f.Verdict = true, beside, &pipeline.Verdict{Label: label, Chance: chance}
		return f
	}
	return map[string]pipeline.Figure{
		"auroc": first(pipeline.Figure{Better: pipeline.BetterHigh,
			Doc: "learnt from synthetic rows, tried on real ones; .5 is chance, 1 is best"},
			"Learning: AUROC on real rows", pipeline.KnownValue(0.5)),
		"auroc_weighted":    high("AUROC of each class against the rest, weighted by its rows; .5 is chance, 1 is best"),
		"auroc_ovo":         high("AUROC, mean over pairs of classes; .5 is chance, 1 is best"),
		"average_precision": high("mean precision over recall, 1 is best"),
		"auprc_trapezoid":   high("area under precision and recall by trapezoids, 1 is best"),
		"accuracy": first(high("share of real rows that it gets right"),
			"Learning: accuracy on real rows", nil, pipeline.Majority),
		"balanced_accuracy": high("share of real rows that it gets right, mean over classes"),
		"precision":         high("share of the real rows called positive that are, 1 is best"),
		"recall":            high("share of the positive real rows that it finds, 1 is best"),
		"f1":                high("harmonic mean of precision and recall, 1 is best"),
		"f1_micro":          high("F1 over all decisions, 1 is best"),
		"f1_macro":          high("F1, mean over classes, 1 is best"),
		"f1_weighted":       high("F1, mean over classes weighted by their rows, 1 is best"),
		"matthews":          high("correlation of prediction and truth, 0 is chance, 1 is best"),
		"cohen_kappa":       high("agreement beyond chance, 0 is chance, 1 is best"),
		"log_loss":          low("mean surprise at the real classes, in nats, 0 is best"),
		"brier":             low("mean squared error of the chances, 0 is best"),
		"r2": first(high("share of the real variance explained, 1 is best"),
			"Learning: R² on real rows", pipeline.KnownValue(0)),
		"explained_variance":    high("share of the real variance explained, bias aside, 1 is best"),
		"mse":                   low("mean squared error on real rows, 0 is best"),
		"rmse":                  low("root of the mean squared error on real rows, 0 is best"),
		"mae":                   low("mean error on real rows, 0 is best"),
		"median_absolute_error": low("median error on real rows, 0 is best"),
		"max_error":             low("greatest error on real rows, 0 is best"),
	}[name]
}

// auroc names the score that shows whether a target follows from other columns.
const auroc = "auroc"

// certainAUROC is the AUROC from which a target of two classes is taken to follow from other columns: in print it is
// 1.000.
const certainAUROC = 0.9995

// follows notes from which column the target follows, where learners of these rows reach an AUROC that is sure. Such a
// score says nothing of what else a table has kept.
func (r *rehearsal) follows(results []map[string]prediction.Score, train *columns.Frame) {
	target := r.test.Column(r.Target)
	reached := prediction.Mean(scoresNamed(results, auroc)).Value
	if !(reached >= certainAUROC) || !target.Coded() || len(target.Categories) != 2 {
		return
	}
	best, name := 0.0, ""
	for i := range r.test.Columns {
		c := &r.test.Columns[i]
		if c.Name == r.Target || train.Column(c.Name) == nil {
			continue
		}
		if v := r.alone(c, train, target); v > best {
			best, name = v, "column "+c.Name+" alone"
		}
		if v := r.absence(c, target); v > best {
			best, name = v, "which rows lack column "+c.Name
		}
	}
	source := "the other columns together"
	if best >= certainAUROC {
		source = name
	}
	r.certain = fmt.Sprintf("%.3f is reached: the target follows from %s, so that the score tells nothing of the rest; "+
		"leave such columns out by columns", reached, source)
}

// alone returns the AUROC of the target among the test rows by one column: by the size of a number, whichever way it
// points, or by the share of positive rows that a category has among the training rows.
func (r *rehearsal) alone(c *columns.Column, train *columns.Frame, target *columns.Column) float64 {
	var shares map[string]float64
	if c.Coded() {
		shares = r.shares(train.Column(c.Name), train.Column(r.Target))
	}
	var truth []bool
	var factors []float64
	for i := range r.test.Rows {
		if c.Absent(i) || target.Absent(i) {
			continue
		}
		truth = append(truth, target.Codes[i] == 1)
		if c.Coded() {
			factors = append(factors, shares[c.Categories[c.Codes[i]]])
		} else {
			factors = append(factors, c.Numbers[i])
		}
	}
	v := learn.AUROC(truth, factors)
	if !c.Coded() {
		v = math.Max(v, 1-v)
	}
	return v
}

// absence returns the AUROC of the target among the test rows by whether a column has a value.
func (r *rehearsal) absence(c, target *columns.Column) float64 {
	var truth []bool
	var factors []float64
	for i := range r.test.Rows {
		if target.Absent(i) {
			continue
		}
		truth, factors = append(truth, target.Codes[i] == 1), append(factors, 0)
		if c.Absent(i) {
			factors[len(factors)-1] = 1
		}
	}
	v := learn.AUROC(truth, factors)
	return math.Max(v, 1-v)
}

// shares returns the share of rows of the target's second category, by category of a column.
func (r *rehearsal) shares(c, target *columns.Column) map[string]float64 {
	rows, positive := map[string]float64{}, map[string]float64{}
	for i, code := range c.Codes {
		if code < 0 || target.Absent(i) {
			continue
		}
		rows[c.Categories[code]]++
		if target.Codes[i] == 1 {
			positive[c.Categories[code]]++
		}
	}
	for name, n := range rows {
		positive[name] /= n
	}
	return positive
}

// rankAgreement compares learners trained on synthetic and on real rows: the mean
// loss of the score, and the share of pairs of learners in the same strict order
// (synthetic ranking agreement, Jordon, Yoon, van der Schaar 2018).
func rankAgreement(name string, synthetic, real []prediction.Score) []pipeline.Metric {
	var differences []prediction.Score
	same, pairs := 0, 0
	for i := range real {
		differences = append(differences, prediction.Minus(real[i], synthetic[i]))
		for j := range i {
			a, b := real[i].Value-real[j].Value, synthetic[i].Value-synthetic[j].Value
			if math.IsNaN(a * b) {
				continue
			}
			pairs++
			if a*b > 0 {
				same++
			}
		}
	}
	out := prediction.Mean(differences).Metrics(lossName(name), "", "real_train minus synthetic")
	if len(real) < 2 {
		return out
	}
	m := pipeline.Metric{Name: agreementName(name), Value: float64(same) / float64(pairs),
		Note: "share of pairs of learners in the same strict order"}
	if pairs == 0 {
		m.Value, m.Note = math.NaN(), "no two learners have a score on both"
	}
	return append(out, m)
}
