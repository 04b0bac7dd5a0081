package evaluate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"weir/pipeline"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
)

// dimensionSettings says how each column is predicted from the others.
type dimensionSettings struct {
	Columns      []string  `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" unique:"true" doc:"Columns to predict, each from all the others of this list; if omitted, all columns that the tables share."`
	Apart        []string  `yaml:"apart,omitempty" json:"apart,omitempty" format:"columns" unique:"true" doc:"Columns that the means of categories and of numbers leave out, such as a target that is told alone."`
	Classifier   string    `yaml:"classifier" json:"classifier" doc:"Learner for coded columns, named as in downstream."`
	Regressor    string    `yaml:"regressor" json:"regressor" doc:"Learner for numbers, named as in downstream."`
	Alpha        float64   `yaml:"alpha" json:"alpha" exclusiveMin:"0" doc:"Penalty of lasso and elastic net, in standard deviations of the column to predict."`
	Scaling      string    `yaml:"scaling" json:"scaling" enum:"standard|bounds|raw" doc:"How the numbers to predict from are scaled."`
	BinaryScore  string    `yaml:"binary_score" json:"binary_score" enum:"auroc|average_precision|f1|f1_macro|accuracy" doc:"Score for columns with two categories."`
	ManyScore    string    `yaml:"many_score" json:"many_score" enum:"f1_macro|f1_micro|f1_weighted|accuracy|auroc" doc:"Score for columns with more than two categories."`
	Shares       []float64 `yaml:"shares,omitempty" json:"shares,omitempty" unique:"true" doc:"Means over the coded columns of which at least this share of the real training rows lie outside the commonest category, one for each share from 0 to 1, such as 0.05: with 0 all coded columns."`
	MinCount     int       `yaml:"min_count" json:"min_count" min:"1" doc:"A coded column is skipped where fewer rows than this, in the training or the test table, lie outside its commonest category: nothing can be learnt about so sparse a column." unit:"rows"`
	MaxTrainRows int       `yaml:"max_train_rows" json:"max_train_rows" min:"0" doc:"Larger training tables are sampled down to this many rows at random, and a note says so; 0 means no limit." unit:"rows"`
}

// dimensionKind declares the kind that asks column by column whether its relation to the others survives.
func dimensionKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "dimension_wise_prediction", Version: 6, Late: true,
		Doc: "Learns each column from the others, once on real and once on synthetic rows. For each column, learns it from " +
			"the others once on real and once on synthetic rows and scores both on the " +
			"same real test rows " +
			"(Choi et al. 2017; Tantipongpipat et al. 2019). Metrics are real.column, synthetic.column and difference.column, " +
			"with the ends of " +
			"their bootstrap intervals of 95 % over the test rows (real_low.column and so on), and sum_of_squares and " +
			"mean_absolute_difference over " +
			"the columns, the latter of categories and of numbers alone too, and no_diversity, the columns that real rows " +
			"teach and synthetic rows, of one category, cannot. Use it to see which columns keep their relations.",
		In: []pipeline.Port{
			Table("real", "held-out real rows to test on", false),
			Table("synthetic", "synthetic rows to train on", false),
			Table("real_train", "real rows to train on", false),
			Baseline(),
		},
		Out: Metrics(), Figures: dimensionFigures(),
		New: func() pipeline.Stage {
			return &dimensionSettings{
				Classifier: "random_forest", Regressor: "lasso", Alpha: 0.01, Scaling: string(prediction.ScaleBounds),
				BinaryScore: "auroc", ManyScore: "f1_macro", MinCount: 2, MaxTrainRows: 100000,
			}
		},
	}
}

// Plan implements pipeline.Stage.
func (s *dimensionSettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	for _, port := range []string{"real", "synthetic", "real_train", "baseline"} {
		if h, ok := in[port]; ok {
			h.Domain.Pick(&ps, "columns", s.Columns)
		}
	}
	in["real"].Domain.Pick(&ps, "apart", s.Apart)
	if names := prediction.ClassifierNames(); !slices.Contains(names, s.Classifier) {
		ps.Unknown("classifier", "learner of coded columns", s.Classifier, names)
	}
	if names := prediction.RegressorNames(); !slices.Contains(names, s.Regressor) {
		ps.Unknown("regressor", "learner of numbers", s.Regressor, names)
	}
	for i, share := range s.Shares {
		if !(share >= 0 && share <= 1) {
			ps.Add(fmt.Sprintf("shares[%d]", i), fmt.Sprint(share), "a share from 0 to 1")
		}
	}
	return Work(in["real"], s.measure), ps.Err()
}

func (s *dimensionSettings) measure(ctx context.Context, env *pipeline.Env, frames Frames) ([]pipeline.Metric, error) {
	note := Dropped(frames["real"])
	if len(s.Columns) > 0 {
		for port := range frames {
			frames[port] = frames[port].Select(s.Columns)
		}
	}
	var out []pipeline.Metric
	var all []scoresByPort
	c := s.contest(env, frames)
	for i, name := range frames["real"].Names() {
		one, err := c.column(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
		out, all = append(out, s.metrics(frames["real"].Column(name), one)...), append(all, one)
		env.Progress(int64(i+1), int64(len(frames["real"].Columns)))
	}
	differences := dimensionLosses(frames["real"], all, "synthetic")
	summary := dimensionSummary(differences, note)
	if frames["baseline"] != nil {
		m := dimensionSummary(dimensionLosses(frames["real"], all, "baseline"), "independent columns at the same epsilon")[1]
		m.Name = pipeline.Baseline.Name(m.Name)
		summary = append(summary, m)
	}
	return slices.Concat(summary, s.byKind(frames["real"], differences), s.byShare(frames["real_train"], all), out), nil
}

// dimensionLosses returns what each column's score loses where it is learnt from the rows of a port and not from real
// ones.
func dimensionLosses(real *columns.Frame, all []scoresByPort, port string) (list []metric.Noted) {
	for i, one := range all {
		list = append(list, prediction.Minus(one["real_train"], one[port]).With(real.Columns[i].Name))
	}
	return list
}

// byKind returns the mean size of the differences of coded columns and of numbers, which are scored by different
// measures (Tantipongpipat et al. 2021, figure 4). Columns that share no score are left out, and those apart.
func (s *dimensionSettings) byKind(real *columns.Frame, differences []metric.Noted) (list []pipeline.Metric) {
	sizes := map[bool][]metric.Noted{}
	for i, name := range real.Names() {
		if !slices.Contains(s.Apart, name) {
			d := differences[i]
			coded := real.Column(name).Coded()
			sizes[coded] = append(sizes[coded], metric.Of(math.Abs(d.Value), d.Note))
		}
	}
	for _, kind := range []string{ofCategories, ofNumbers} {
		m := metric.Mean(sizes[kind == ofCategories])
		if len(sizes[kind == ofCategories]) == 0 {
			m = metric.None("there is no such column")
		}
		list = append(list, pipeline.Metric{Name: kindDifference, Column: kind, Value: m.Value, Note: m.Note})
	}
	return list
}

// Name and parts of the figure of byKind.
const (
	kindDifference = "mean_difference_of"
	ofCategories   = "categories"
	ofNumbers      = "numbers"
)

// dimensionSummary returns the sum of squares, as the code of DP-auto-GAN, and the mean size.
func dimensionSummary(differences []metric.Noted, note string) []pipeline.Metric {
	var squares, sizes []metric.Noted
	for _, d := range differences {
		squares = append(squares, metric.Of(d.Value*d.Value, d.Note))
		sizes = append(sizes, metric.Of(math.Abs(d.Value), d.Note))
	}
	square, size, defined := metric.Mean(squares), metric.Mean(sizes), 0.0
	for _, d := range differences {
		if !math.IsNaN(d.Value) {
			defined++
		}
	}
	if len(differences) == 0 {
		note = metric.Notes("the tables share no column", note)
	}
	return []pipeline.Metric{
		{Name: "sum_of_squares", Value: square.Value * defined, Note: metric.Notes(square.Note, note)},
		{Name: "mean_absolute_difference", Value: size.Value, Note: metric.Notes(size.Note, note)},
	}
}

// metrics returns the metrics of one column: of real and synthetic rows, and their difference.
func (s *dimensionSettings) metrics(c *columns.Column, one scoresByPort) []pipeline.Metric {
	real, synthetic, score := one["real_train"], one["synthetic"], s.score(c)
	return slices.Concat(withNote(score, real.Metrics("real", c.Name)), withNote(score, synthetic.Metrics("synthetic",
		c.Name)),
		withNote("real minus synthetic "+score, prediction.Minus(real, synthetic).Metrics("difference", c.Name)))
}

// withNote puts a note before the note of the first metric.
func withNote(note string, list []pipeline.Metric) []pipeline.Metric {
	list[0].Note = metric.Notes(note, list[0].Note)
	return list
}

func (s *dimensionSettings) score(c *columns.Column) string {
	switch {
	case !c.Coded():
		return "r2"
	case len(c.Categories) <= 2:
		return s.BinaryScore
	}
	return s.ManyScore
}

// regressor returns the named learner, penalties in units of the target's spread.
func (s *dimensionSettings) regressor(y []float64) learn.Regressor {
	_, sd := learn.Moments(y)
	switch s.Regressor {
	case "lasso":
		return learn.ElasticNet{Alpha: s.Alpha * sd, L1Ratio: 1}
	case "elastic_net":
		return learn.ElasticNet{Alpha: s.Alpha * sd, L1Ratio: 0.5}
	}
	return prediction.Regressors()[s.Regressor]
}

// dimensionFigures declares the scores of each column as learnt from real and from synthetic rows.
func dimensionFigures() pipeline.Figures {
	return pipeline.Figures{
		{Name: "sum_of_squares", Better: pipeline.BetterLow,
			Doc: "predicting each column: sum of squared losses of the score, 0 is best"},
		{Name: "mean_absolute_difference", Better: pipeline.BetterLow, Beside: []pipeline.Role{pipeline.Baseline},
			Doc: "predicting each column: mean difference of the scores of what real and synthetic rows teach, 0 is best",
			Verdict: &pipeline.Verdict{Label: "Predicting each column: mean difference", Joint: true, Good: 0.03,
				Fair: 0.1}},
		{Name: kindDifference, Parts: "kind of column", Better: pipeline.BetterLow,
			Doc: "predicting each column: mean difference of the scores, of categories and of numbers, 0 is best"},
		{Name: noDiversity, Better: pipeline.BetterLow,
			Doc: "predicting each column: columns of categories that real rows teach and synthetic rows, which hold one " +
				"category, do not"},
		{Name: columnsAbove, Parts: "share", Better: pipeline.BetterPlain,
			Doc: "predicting each column: columns with this share of rows outside the commonest category that real rows teach"},
		{Name: realAbove, Parts: "share", Better: pipeline.BetterPlain,
			Doc: "predicting each column with this share: mean score of what real rows teach"},
		{Name: syntheticAbove, Parts: "share", Better: pipeline.BetterHigh, Learnt: true, Real: realAbove,
			Doc: "predicting each column with this share: mean score of what synthetic rows teach"},
		{Name: differenceAbove, Parts: "share", Better: pipeline.BetterLow,
			Doc: "predicting each column with this share: mean difference of the scores, 0 is best"},
		{Name: "real", Parts: "column", Better: pipeline.BetterHigh, Interval: true,
			Doc: "predicting the column: score of what real rows teach"},
		{Name: "synthetic", Parts: "column", Better: pipeline.BetterHigh, Interval: true, Learnt: true, Worst: true,
			Real: "real", Pair: "score",
			Doc: "predicting the column: score of what synthetic rows teach"},
		{Name: "difference", Parts: "column", Better: pipeline.BetterPlain, Interval: true,
			Doc: "predicting the column: by how much real rows teach more"},
		RowsFigure(),
	}
}

// dimensionContest is each column learnt from each table but the one of the test rows, and scored on these.
type dimensionContest struct {
	*dimensionSettings
	env   *pipeline.Env
	desks map[string]*prediction.Desk // by port
	test  *columns.Frame
	draws *prediction.Draws // of test rows
}

// scoresByPort holds the scores of one column, by the port of the table that it is learnt from.
type scoresByPort map[string]prediction.Score

// taughtPorts returns the ports of tables to learn from.
func taughtPorts() []string { return []string{"real_train", "synthetic", "baseline"} }

func (s *dimensionSettings) contest(env *pipeline.Env, frames map[string]*columns.Frame) *dimensionContest {
	c := &dimensionContest{dimensionSettings: s, env: env, desks: map[string]*prediction.Desk{}, test: frames["real"]}
	for _, port := range taughtPorts() {
		if f := frames[port]; f != nil {
			c.desks[port] = prediction.NewDesk(f, c.test, prediction.Scaling(s.Scaling), s.MaxTrainRows,
				env.Rand("rows of "+port))
		}
	}
	c.draws = prediction.NewDraws(c.test.Rows, func(width int) *rand.Rand {
		return env.Rand(fmt.Sprintf("resampled test rows for %d categories", width))
	})
	return c
}

// column scores one column as learnt from each table.
func (c *dimensionContest) column(ctx context.Context, name string) (scoresByPort, error) {
	list := scoresByPort{}
	resampled := c.resampled(name)
	for _, port := range taughtPorts() {
		if c.desks[port] == nil {
			continue
		}
		f, err := c.one(ctx, port, name, resampled)
		if err != nil {
			return nil, fmt.Errorf("trained on %s: %w", port, err)
		}
		list[port] = f
	}
	return list, nil
}

// resampled returns resamples of the test rows that have a value in the column.
func (c *dimensionContest) resampled(name string) *prediction.Resamples {
	target := c.test.Column(name)
	if missing := target.Missing(); missing > 0 {
		rng := c.env.Rand("resampled test rows of " + name)
		return prediction.NewDraws(c.test.Rows-missing, func(int) *rand.Rand { return rng }).Of(len(target.Categories))
	}
	return c.draws.Of(len(target.Categories))
}

func (c *dimensionContest) one(ctx context.Context, port, name string,
	resampled *prediction.Resamples) (prediction.Score,
	error) {
	t := c.desks[port].TrainTest(name)
	target, run := t.Test.Column(name), learn.Run{Rand: c.env.Rand(name + " from " + port), Workers: c.env.Workers}
	score := c.score(target)
	if !target.Coded() {
		f, err := t.ScoreNumbers(ctx, c.regressor(t.Train.Column(name).Numbers), []string{score}, resampled, run)
		return f[score], err
	}
	if why := c.sparse(t, name); why != "" && t.Impossible() == "" {
		return prediction.Score{Noted: metric.None(why)}, nil
	}
	f, err := t.ScoreClasses(ctx, prediction.Classifiers()[c.Classifier], min(1, len(target.Categories)-1),
		[]string{score}, resampled, run)
	return f[score], err
}

// sparse says which table has too few rows outside the commonest category.
func (c *dimensionContest) sparse(t *prediction.TrainTest, column string) string {
	for i, f := range []*columns.Frame{t.Train, t.Test} {
		of, name := f.Column(column), [2]string{"training", "test"}[i]
		if f.Rows-commonestRows(of) < c.MinCount {
			return fmt.Sprintf("fewer than %d %s rows are outside the commonest category", c.MinCount, name)
		}
	}
	return ""
}

// commonestRows returns how many rows have the commonest category.
func commonestRows(c *columns.Column) int {
	n, most := make([]int, len(c.Categories)), 0
	for _, k := range c.Codes {
		if k >= 0 {
			n[k]++
			most = max(most, n[k])
		}
	}
	return most
}

// Names of the figures of byShare.
const (
	noDiversity     = "no_diversity"
	columnsAbove    = "columns_above"
	realAbove       = "real_above"
	syntheticAbove  = "synthetic_above"
	differenceAbove = "difference_above"
)

// byShare returns the points of a plot of scores (Tantipongpipat et al. 2021, figure 4 and its counterpart for a binary
// table): how many columns real rows teach and synthetic rows, which hold one category of them, do not; and, of the
// columns that have at least a share of rows outside their commonest category, how many real rows teach, and the means
// of the scores of those that both do.
func (s *dimensionSettings) byShare(train *columns.Frame, all []scoresByPort) []pipeline.Metric {
	var list metric.List
	removed := 0.
	for i, one := range all {
		if train.Columns[i].Coded() && one.taught("real_train") && !one.taught("synthetic") {
			removed++
		}
	}
	list.Add(noDiversity, "", metric.Of(removed))
	for _, share := range s.Shares {
		s.recordAbove(&list, train, all, share)
	}
	return list.Metrics
}

// taught reports whether a score came out of the rows of a port.
func (s scoresByPort) taught(port string) bool { return !math.IsNaN(s[port].Value) }

func (s *dimensionSettings) recordAbove(list *metric.List, train *columns.Frame, all []scoresByPort, share float64) {
	var real, synthetic, size []metric.Noted
	n := 0.
	for i, one := range all {
		if c := &train.Columns[i]; !c.Coded() || outsideCommonest(c) < share || !one.taught("real_train") {
			continue
		}
		if n++; one.taught("synthetic") {
			a, b := one["real_train"].Noted, one["synthetic"].Noted
			real, synthetic, size = append(real, a), append(synthetic, b), append(size, metric.Of(math.Abs(a.Value-b.Value)))
		}
	}
	name := fmt.Sprint(share)
	list.Add(columnsAbove, name, metric.Of(n))
	list.Add(realAbove, name, meanTaught(real))
	list.Add(syntheticAbove, name, meanTaught(synthetic))
	list.Add(differenceAbove, name, meanTaught(size))
}

func meanTaught(values []metric.Noted) metric.Noted {
	if len(values) == 0 {
		return metric.None("there is no such column that both tables teach")
	}
	return metric.Of(metric.Mean(values).Value, fmt.Sprintf("%d columns that both tables teach", len(values)))
}

// outsideCommonest returns the share of the rows with a value that lie outside the commonest category; 0 where no row
// has one.
func outsideCommonest(c *columns.Column) float64 {
	rows := len(c.Codes) - c.Missing()
	if rows == 0 {
		return 0
	}
	return 1 - float64(commonestRows(c))/float64(rows)
}
