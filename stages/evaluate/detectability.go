package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
)

// detectabilitySettings says on how many rows a model tries to tell synthetic from real ones.
type detectabilitySettings struct {
	MaxRows int     `yaml:"max_rows" json:"max_rows" min:"2" doc:"Larger tables are sampled down to this many rows at random, and a note says so." unit:"rows"`
	Test    float64 `yaml:"test" json:"test" exclusiveMin:"0" exclusiveMax:"1" doc:"Share of the rows that the two-sample classifier is tested on."`
}

// detectabilityKind declares the kind that asks whether a model can tell synthetic rows from real ones.
func detectabilityKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "detectability", Version: 4, Late: true,
		In:  Ports("how well they can be told from `real` is what chance gives"),
		Out: Metrics(), Figures: detectabilityFigures(),
		Doc: "Fits models that tell synthetic rows from real ones. pmse is the propensity score's mean squared error of " +
			"unpenalised logistic regression " +
			"with main effects, with its expectation and ratio where both tables follow one distribution (Snoke et al. 2018); " +
			"pmse_l2 the same for C=1. " +
			"auroc is that of L2 logistic regression on held-out rows, 0.5 where the tables cannot be told apart, with the " +
			"ends of its bootstrap " +
			"interval of 95 % over these rows (auroc_low, auroc_high), and advantage is 2|auroc-0.5|. Missing values are a " +
			"feature of their own. Use it to see whether a simple model finds what gives the synthetic rows away.",
		New: func() pipeline.Stage { return &detectabilitySettings{MaxRows: 50000, Test: 0.3} },
	}
}

// Plan implements pipeline.Stage.
func (s *detectabilitySettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return Work(in["real"], s.measure), nil
}

func (s *detectabilitySettings) measure(ctx context.Context, env *pipeline.Env, frames Frames) ([]pipeline.Metric,
	error) {
	steps := int64(3 * (len(frames) - 1))
	r := &detectionRun{detectabilitySettings: s, env: env, total: steps, note: Dropped(frames["real"])}
	if err := r.pair(ctx, frames["real"], frames["synthetic"], ""); err != nil {
		return nil, err
	}
	for _, port := range []string{"real_train", "baseline"} {
		if frames[port] == nil {
			continue
		}
		r.note = port + " against real"
		if err := r.pair(ctx, frames["real"], frames[port], "_"+port); err != nil {
			return nil, err
		}
	}
	return r.Metrics, nil
}

// detectionRun is one run of Detectability.
type detectionRun struct {
	*detectabilitySettings
	metric.List
	env         *pipeline.Env
	done, total int64
	note        string
}

// pair tells the rows of other from the rows of real.
func (r *detectionRun) pair(ctx context.Context, real, other *columns.Frame, suffix string) error {
	real, noteReal := r.sampled(real, "real rows")
	other, noteOther := r.sampled(other, "rows to judge"+suffix)
	note := metric.Notes(r.note, noteReal, noteOther)
	both := stack(real, other)
	x, y := prediction.NewEncoder(prediction.EncoderOptions{Scaling: prediction.ScaleStandard, DropFirst: true}, nil,
		both).Encode(both), make([]bool, both.Rows)
	for i := real.Rows; i < both.Rows; i++ {
		y[i] = true
	}
	// Columns that are linear combinations of others add nothing to a model, and
	// leave its coefficients undetermined.
	x = x.Pick(metric.IndependentColumns(x))
	reason := Empty(real.Rows, other.Rows)
	if len(x.Cols) == 0 {
		reason = metric.Notes(reason, "no column in common has two values")
	}
	if reason != "" {
		r.done += 3 // as if they were fitted: the bar does not tell of an empty table
		r.env.Progress(min(r.done, r.total), r.total)
		r.noFit(metric.Notes(reason, r.note), suffix, "pmse", "pmse_expected", "pmse_ratio", "pmse_standardised", "pmse_l2",
			"auroc", "advantage")
		return nil
	}
	if err := r.propensity(ctx, x, y, suffix, note); err != nil {
		return err
	}
	return r.twoSample(ctx, x, y, suffix, note)
}

func (r *detectionRun) sampled(f *columns.Frame, purpose string) (*columns.Frame, string) {
	if f.Rows <= r.MaxRows {
		return f, ""
	}
	return f.Take(r.env.Rand(purpose).Perm(f.Rows)[:r.MaxRows]), fmt.Sprintf("%d of %d %s, drawn at random", r.MaxRows,
		f.Rows, purpose)
}

// stack puts the rows of b below the rows of a; the frames are aligned.
func stack(a, b *columns.Frame) *columns.Frame {
	out := &columns.Frame{Rows: a.Rows + b.Rows, Columns: append([]columns.Column(nil), a.Columns...)}
	for i := range out.Columns {
		c := &out.Columns[i]
		c.Numbers = append(append([]float64(nil), c.Numbers...), b.Columns[i].Numbers...)
		c.Codes = append(append([]int32(nil), c.Codes...), b.Columns[i].Codes...)
	}
	return out
}

// fit returns the chances of being synthetic under logistic regression.
func (r *detectionRun) fit(ctx context.Context, c float64, x learn.Matrix, y []bool) (learn.Scorer, error) {
	labels := learn.Labels{Y: make([]int, len(y)), Classes: 2}
	for i, v := range y {
		if v {
			labels.Y[i] = 1
		}
	}
	s, err := learn.Logistic{C: c, Penalty: learn.L2}.Fit(ctx, x, labels, learn.Run{Workers: r.env.Workers})
	r.done++
	r.env.Progress(min(r.done, r.total), r.total)
	return s, err
}

// separatedChance is a chance so near 0 or 1 that only rows which the model sorts
// without error have it.
const separatedChance = 1e-7

func (r *detectionRun) propensity(ctx context.Context, x learn.Matrix, y []bool, suffix, note string) error {
	share := 0.0
	for _, v := range y {
		if v {
			share += 1 / float64(len(y))
		}
	}
	free, limit, err := r.chances(ctx, x, y, share, suffix)
	if why := learn.Declined(err); why != "" {
		r.noFit(why, suffix, "pmse", "pmse_expected", "pmse_ratio", "pmse_standardised")
		return nil
	}
	if err != nil {
		return err
	}
	d := metric.NewPMSE(free, share, len(x.Cols)+1)
	r.Add("pmse"+suffix, "", metric.Of(d.Value, limit, note))
	r.Add("pmse_expected"+suffix, "", metric.Of(d.Expected))
	r.Add("pmse_ratio"+suffix, "", metric.Or(d.Ratio, "every column is constant").With(
		fmt.Sprintf("two independent samples of one distribution give %.3g on average", metric.IndependentPMSERatio(share))))
	r.Add("pmse_standardised"+suffix, "", metric.Or(d.Standardised, "every column is constant"))
	return nil
}

// chances returns those under maximum likelihood; on the way it records the figure of
// C=1.
func (r *detectionRun) chances(ctx context.Context, x learn.Matrix, y []bool, share float64, suffix string) ([]float64,
	string, error) {
	penalised, err := r.fit(ctx, 1, x, y)
	if err != nil {
		r.noFit(learn.Declined(err), suffix, "pmse_l2")
		return nil, "", err
	}
	p := penalised.Scores(x).Cols[1]
	r.Add("pmse_l2"+suffix, "", metric.Of(metric.NewPMSE(p, share, 1).Value))
	return r.unpenalised(ctx, x, y, p)
}

func (r *detectionRun) noFit(why, suffix string, names ...string) {
	for _, name := range names {
		r.Add(name+suffix, "", metric.None(why))
	}
}

// unpenalised returns the chances under maximum likelihood; p are the chances at C=1.
// Where rows are sorted without error there is no optimum, and limit says what
// stands for it: 0 and 1 where all rows are, or the fit of the largest C that
// converges.
func (r *detectionRun) unpenalised(ctx context.Context, x learn.Matrix, y []bool, p []float64) (chances []float64,
	limit string, err error) {
	if learn.AUROC(y, p) == 1 {
		chances = make([]float64, len(y))
		for i, v := range y {
			if v {
				chances[i] = 1
			}
		}
		return chances, "all rows are told apart without error; the value is the limit of maximum likelihood", nil
	}
	for _, c := range []float64{metric.UnpenalisedPenalty, 1e6, 1e4, 1e2} {
		var s learn.Scorer
		if s, err = r.fit(ctx, c, x, y); err != nil {
			if ctx.Err() != nil {
				return nil, "", err
			}
			continue
		}
		chances = s.Scores(x).Cols[1]
		for _, v := range chances {
			if v < separatedChance || v > 1-separatedChance {
				return chances, fmt.Sprintf("some rows are told apart without error, so that maximum likelihood has no optimum; "+
					"the fit of C=%.0g stands for its limit", c), nil
			}
		}
		if c != metric.UnpenalisedPenalty {
			limit = fmt.Sprintf("maximum likelihood does not converge; the fit of C=%.0g stands for it", c)
		}
		return chances, limit, nil
	}
	return nil, "", err
}

// detectabilityFigures declares how well rows are told apart, the synthetic ones and the rows of other tables.
func detectabilityFigures() pipeline.Figures {
	list := pipeline.Figures{
		{Name: "auroc", Better: pipeline.BetterHalf, Interval: true, Headline: true,
			Doc:     "telling real rows from synthetic ones; .5 is best, nobody can; 1 is always",
			Verdict: &pipeline.Verdict{Label: "Telling real from synthetic: AUROC", Good: 0.05, Fair: 0.2}},
		{Name: "pmse_ratio", Better: pipeline.BetterLow, Headline: true,
			Doc: "how well rows are told apart, 1 as by chance"},
		{Name: "pmse", Better: pipeline.BetterLow,
			Doc: "mean squared distance of the chances of being synthetic from their share, 0 is best"},
		{Name: "pmse_expected", Better: pipeline.BetterPlain,
			Doc: "what pmse is on average where both tables follow one distribution"},
		{Name: "pmse_standardised", Better: pipeline.BetterLow,
			Doc: "pmse in standard deviations from what it is by chance, 0 as by chance"},
		{Name: "pmse_l2", Better: pipeline.BetterLow, Doc: "pmse of a model with penalty C=1, 0 is best"},
		{Name: "advantage", Better: pipeline.BetterLow, Doc: "2|auroc-0.5|: 0 is best, nobody can tell"},
	}
	for i := range list {
		list[i].Beside = []pipeline.Role{pipeline.RealTrain, pipeline.Baseline}
	}
	return append(list, RowsFigure())
}

// twoSample fits on one part of the rows and scores the other.
func (r *detectionRun) twoSample(ctx context.Context, x learn.Matrix, y []bool, suffix, note string) error {
	order := r.env.Rand("two-sample split" + suffix).Perm(len(y))
	covered := int(math.Round(r.Test * float64(len(y))))
	test, train := order[:covered], order[covered:]
	if !mixedClasses(y, train) || !mixedClasses(y, test) {
		why := "one part of the split holds rows of only one table"
		r.Add("auroc"+suffix, "", metric.None(why, note))
		r.Add("advantage"+suffix, "", metric.None(why))
		return nil
	}
	s, err := r.fit(ctx, 1, x.Take(train), selectAt(y, train))
	if why := learn.Declined(err); why != "" {
		r.noFit(why, suffix, "auroc", "advantage")
		return nil
	}
	if err != nil {
		return err
	}
	a := prediction.AUROC(selectAt(y, test), s.Scores(x.Take(test)).Cols[1], r.env.Rand("resampled held-out rows"),
		r.env.Workers)
	r.Metrics = append(r.Metrics, a.Metrics("auroc"+suffix, "", fmt.Sprintf("on %d held-out rows", covered), note)...)
	r.Add("advantage"+suffix, "", metric.Of(metric.Advantage(a.Value)))
	return nil
}

func selectAt(y []bool, places []int) []bool {
	out := make([]bool, len(places))
	for k, i := range places {
		out[k] = y[i]
	}
	return out
}

func mixedClasses(y []bool, places []int) bool {
	classes := selectAt(y, places)
	return slices.Contains(classes, true) && slices.Contains(classes, false)
}
