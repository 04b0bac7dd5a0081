package evaluate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
)

// regressionSettings declares the regression that is fitted to real and to synthetic rows.
type regressionSettings struct {
	Model      string   `yaml:"model" json:"model" required:"true" enum:"poisson|logistic|linear" doc:"Counts with log link, two categories with logit link, or least squares."`
	Target     string   `yaml:"target" json:"target" required:"true" format:"column" doc:"The response."`
	Columns    []string `yaml:"columns" json:"columns" required:"true" minItems:"1" unique:"true" format:"columns" doc:"Explanatory columns. A coded one has an indicator for each category but the first that both tables hold."`
	Exposure   string   `yaml:"exposure,omitempty" json:"exposure,omitempty" format:"column" doc:"Numeric column whose logarithm is the offset of a Poisson model."`
	Positive   string   `yaml:"positive,omitempty" json:"positive,omitempty" doc:"Category of a logistic target that counts as 1; if omitted, the second one."`
	Scaling    string   `yaml:"scaling" json:"scaling" enum:"raw|standard" doc:"Numbers as they are, or standardised by the real rows (both tables alike)."`
	Level      float64  `yaml:"level" json:"level" exclusiveMin:"0" exclusiveMax:"1" doc:"Level of the confidence intervals; a coefficient is significant where p is below 1 - level."`
	Bootstraps int      `yaml:"bootstraps" json:"bootstraps" min:"0" max:"10000" doc:"Resamples of the real rows, with replacement, to which the model is fitted too: in which share of them what the real rows discover is discovered again. 0 makes none."`
}

// regressionKind declares the kind that asks whether an analyst draws the same conclusions from both tables.
func regressionKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "regression_discovery", Version: 6, Late: true,
		Doc: "Compares what a regression finds in real and in synthetic rows. Fits a declared regression (Poisson with " +
			"offset, logistic, linear; no penalty) to real and to synthetic rows " +
			"and compares coefficients, " +
			"standard errors, the overlap of confidence intervals (Karr et al. 2006), significance and sign. A discovery of " +
			"the real rows is " +
			"reproduced where the synthetic rows give a significant coefficient of the same sign. A category in whose rows " +
			"every count of a " +
			"Poisson model is 0 has no coefficient, which would be minus infinity; the others are as without its rows. Use it " +
			"where the synthetic " +
			"rows will be analysed by regression; the standard errors of the synthetic fit do not account for the noise.",
		In: []pipeline.Port{
			Table("real", "real rows to analyse", false),
			Table("synthetic", "synthetic rows to analyse", false),
		},
		Out: Metrics(), Figures: regressionFigures(),
		New: func() pipeline.Stage { return &regressionSettings{Scaling: string(prediction.ScaleRaw), Level: 0.95} },
	}
}

// Plan implements pipeline.Stage.
func (s *regressionSettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	for _, port := range []string{"real", "synthetic"} {
		d := in[port].Domain
		d.Pick(&ps, "columns", s.Columns)
		s.planColumn(&ps, "target", s.Target, port, d)
		if s.Exposure != "" {
			s.planColumn(&ps, "exposure", s.Exposure, port, d)
		}
	}
	if slices.Contains(s.Columns, s.Target) || s.Exposure != "" && slices.Contains(s.Columns, s.Exposure) {
		ps.Add("columns", "a list with the target or the exposure", "other columns")
	}
	s.planTarget(&ps, in["real"].Domain)
	for i, path := range append(slices.Repeat([]string{"columns"}, len(s.Columns)), "target", "exposure") {
		if used := s.used(); i < len(used) {
			Comparable(&ps, path, used[i], in)
		}
	}
	return Work(in["real"], s.measure), ps.Err()
}

func (s *regressionSettings) planColumn(ps *schema.Problems, path, name, port string, d *domain.Domain) {
	if d.Column(name) == nil {
		ps.Unknown(path, "column of "+port, name, d.Names())
	}
}

func (s *regressionSettings) planTarget(ps *schema.Problems, d *domain.Domain) {
	c, e := d.Column(s.Target), d.Column(s.Exposure)
	switch {
	case c == nil:
	case s.Model == string(learn.Binomial) && len(c.Categories) != 2:
		ps.Add("target", fmt.Sprintf("%s, a column that is %s", s.Target, c.Type),
			"a column of two categories for a logistic model")
	case s.Model != string(learn.Binomial) && (c.Type.Coded() || c.Type == domain.Text):
		ps.Add("target", fmt.Sprintf("%s, a column that is %s", s.Target, c.Type), "a numeric column for a "+s.Model+" model")
	case s.Positive != "" && !slices.Contains(c.Categories, s.Positive):
		ps.Add("positive", fmt.Sprintf("%q", s.Positive), "a category of the target of a logistic model")
	}
	if s.Exposure != "" && s.Model != string(learn.Poisson) {
		ps.Add("exposure", "given for a "+s.Model+" model", "left out, or the model poisson")
	}
	if e != nil && (e.Type.Coded() || e.Type == domain.Text) {
		ps.Add("exposure", s.Exposure+", a column that is "+string(e.Type), "a numeric column")
	}
}

func (s *regressionSettings) measure(ctx context.Context, env *pipeline.Env, frames Frames) ([]pipeline.Metric, error) {
	used := s.used()
	real, lostReal := completeRows(frames["real"].Select(used), s.Exposure)
	synthetic, lostSynthetic := completeRows(frames["synthetic"].Select(used), s.Exposure)
	rebase(real, synthetic, s.Columns)
	skip := map[string]bool{s.Target: true, s.Exposure: true}
	e := prediction.NewEncoder(prediction.EncoderOptions{Scaling: prediction.Scaling(s.Scaling), DropFirst: true}, skip,
		real)
	run := learn.Run{Workers: env.Workers}
	a, err := s.fit(ctx, e, real, run)
	if err != nil {
		return nil, err
	}
	env.Progress(1, int64(2+s.Bootstraps))
	b, err := s.fit(ctx, e, synthetic, run)
	if err != nil {
		return nil, err
	}
	env.Progress(2, int64(2+s.Bootstraps))
	note := fmt.Sprintf("%d real and %d synthetic rows; left out for missing values: %d and %d", real.Rows, synthetic.Rows,
		lostReal, lostSynthetic)
	again, err := s.bootstrap(ctx, env, e, real, a, run)
	return slices.Concat(compareFits(a, b, s.Level, note), byPrevalence(a, b, prevalence(e, real)), again), err
}

// used returns the columns, the target and the exposure, where there is one.
func (s *regressionSettings) used() []string {
	used := append(slices.Clone(s.Columns), s.Target)
	if s.Exposure != "" {
		used = append(used, s.Exposure)
	}
	return used
}

// completeRows keeps the rows without missing values and with a positive exposure.
func completeRows(f *columns.Frame, exposure string) (*columns.Frame, int) {
	retained := make([]int, 0, f.Rows)
	for i := range f.Rows {
		whole := true
		for j := range f.Columns {
			c := &f.Columns[j]
			whole = whole && !c.Absent(i) && (c.Name != exposure || c.Numbers[i] > 0)
		}
		if whole {
			retained = append(retained, i)
		}
	}
	return f.Take(retained), f.Rows - len(retained)
}

// rebase puts first, in every coded column, a category that both tables hold, so
// that coefficients of both are against the same base.
func rebase(real, synthetic *columns.Frame, columns []string) {
	for _, name := range columns {
		a, b := real.Column(name), synthetic.Column(name)
		if !a.Coded() {
			continue
		}
		base := 0
		for k := range a.Categories {
			if slices.Contains(a.Codes, int32(k)) && slices.Contains(b.Codes, int32(k)) {
				base = k
				break
			}
		}
		list := slices.Clone(a.Categories)
		copy(list[1:], a.Categories[:base])
		list[0] = a.Categories[base]
		*a, *b = a.Recode(list), b.Recode(list)
	}
}

// regressionFit is the fit of one table: coefficients by name of feature.
type regressionFit struct {
	names []string // intercept, then every feature
	fit   *learn.Inference
	place map[string]int    // of a feature among the parameters
	why   map[string]string // a feature has none
	note  string            // there is no fit at all
}

// fit leaves out features that those before them determine (such as a category
// without rows) until the model has a unique fit.
func (s *regressionSettings) fit(ctx context.Context, e *prediction.Encoder, f *columns.Frame,
	run learn.Run) (*regressionFit, error) {
	a := &regressionFit{names: append([]string{"intercept"}, e.Names()...), why: map[string]string{}}
	y, why := s.response(f.Column(s.Target))
	if why != "" || f.Rows == 0 {
		a.note = metric.Notes(why, map[bool]string{true: "no row is complete"}[f.Rows == 0])
		return a, nil
	}
	d := &regressionDesign{x: e.Encode(f).Dense(), names: slices.Clone(e.Names()), y: y, offset: s.offset(f)}
	if s.Model == string(learn.Poisson) {
		d.leaveBarren(a.why)
	}
	for {
		fit, err := learn.FitGLM(ctx, learn.Family(s.Model), d.x, d.y, d.offset, run)
		var no *learn.NotEstimable
		switch {
		case err == nil:
			a.fit, a.place = fit, map[string]int{"intercept": 0}
			for j, name := range d.names {
				a.place[name] = j + 1
			}
			return a, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.As(err, &no) || no.Column < 0:
			a.note = learn.Declined(err)
			return a, nil
		}
		a.why[d.names[no.Column]] = "not estimable: " + no.Reason
		d.drop(no.Column)
	}
}

// regressionDesign is what a model is fitted to.
type regressionDesign struct {
	x         learn.Matrix
	names     []string // of the columns of x
	y, offset []float64
}

func (d *regressionDesign) drop(j int) {
	d.names = slices.Delete(d.names, j, j+1)
	d.x.Cols = slices.Delete(slices.Clone(d.x.Cols), j, j+1)
}

// leaveBarren leaves out the indicators of a Poisson model in whose rows every count is 0, and these rows: the
// coefficient is minus infinity, where the rows have no part in the likelihood, so that all others are as without them.
func (d *regressionDesign) leaveBarren(why map[string]string) {
	removed := make([]bool, d.x.Rows)
	for j := len(d.names) - 1; j >= 0; j-- {
		if barren(d.x.Cols[j], d.y) {
			for i, v := range d.x.Cols[j] {
				removed[i] = removed[i] || v == 1
			}
			why[d.names[j]] = "not estimable: every count of its rows is 0, so it is minus infinity"
			d.drop(j)
		}
	}
	if !slices.Contains(removed, true) || !slices.Contains(removed, false) {
		return
	}
	d.x.Cols = slices.Clone(d.x.Cols)
	for j, c := range d.x.Cols {
		d.x.Cols[j] = dropRemoved(c, removed)
	}
	d.y, d.offset = dropRemoved(d.y, removed), dropRemoved(d.offset, removed)
	d.x.Rows = len(d.y)
}

// barren reports whether a column is an indicator in all of whose rows y is 0.
func barren(c, y []float64) bool {
	some := false
	for i, v := range c {
		if v != 0 && v != 1 || v == 1 && y[i] != 0 {
			return false
		}
		some = some || v == 1
	}
	return some
}

// dropRemoved returns the numbers of the rows that are not gone.
func dropRemoved(v []float64, removed []bool) []float64 {
	retained := v[:0:0]
	for i, x := range v {
		if !removed[i] {
			retained = append(retained, x)
		}
	}
	return retained
}

// response returns the target as numbers, or why the model does not take it.
func (s *regressionSettings) response(c *columns.Column) ([]float64, string) {
	if !c.Coded() {
		for _, v := range c.Numbers {
			if s.Model == string(learn.Poisson) && v < 0 {
				return nil, "the target holds negative numbers, which are not counts"
			}
		}
		return c.Numbers, ""
	}
	one := 1
	if s.Positive != "" {
		one = slices.Index(c.Categories, s.Positive)
	}
	y := make([]float64, len(c.Codes))
	for i, v := range c.Codes {
		if int(v) == one {
			y[i] = 1
		}
	}
	return y, ""
}

func (s *regressionSettings) offset(f *columns.Frame) []float64 {
	if s.Exposure == "" {
		return nil
	}
	o := slices.Clone(f.Column(s.Exposure).Numbers)
	for i, v := range o {
		o[i] = bitmath.Log(v)
	}
	return o
}

// regressionFigures declares what is concluded from both tables, and the fits by feature.
func regressionFigures() pipeline.Figures {
	return append(append(append(conclusionFigures(), coefficientFigures()...), resampleFigures()...), RowsFigure())
}

// resampleFigures returns the figures of rarity and of resamples.
func resampleFigures() pipeline.Figures {
	return pipeline.Figures{
		{Name: errorByPrevalence, Parts: "quarter", Better: pipeline.BetterLow,
			Doc: "mean distance of the coefficients of categories, from the quarter with fewest real rows (1) to the one with " +
				"most (4)"},
		{Name: bootstrapAll, Better: pipeline.BetterHigh,
			Doc: "share of resamples of the real rows that give all their discoveries again"},
		{Name: bootstrapShare, Parts: "feature", Better: pipeline.BetterHigh,
			Doc: "share of resamples of the real rows in which the coefficient is significant with the sign that the real " +
				"rows give it"},
	}
}

func conclusionFigures() pipeline.Figures {
	return pipeline.Figures{
		{Name: "reproduced_share", Better: pipeline.BetterHigh, Headline: true,
			Doc: "share of what the real rows discover that synthetic rows discover too, 1 is best",
			Verdict: &pipeline.Verdict{Label: "Regression: discoveries reproduced", Chance: pipeline.KnownValue(0),
				Best: pipeline.KnownValue(1)}},
		{Name: "mean_standardised_difference", Better: pipeline.BetterLow, Headline: true,
			Doc: "mean distance of coefficients, in standard errors of the real rows; 0 is best"},
		{Name: "mean_interval_overlap", Better: pipeline.BetterHigh,
			Doc: "mean overlap of the confidence intervals of both fits, 1 is best"},
		{Name: "sign_agreement", Better: pipeline.BetterHigh,
			Doc: "share of coefficients of the same sign in both fits, 1 is best"},
		{Name: "discoveries_real", Better: pipeline.BetterPlain,
			Doc: "significant coefficients of the real rows, the intercept left out"},
		{Name: "discoveries_synthetic", Better: pipeline.BetterPlain, Real: "discoveries_real",
			Doc: "significant coefficients of the synthetic rows, the intercept left out"},
		{Name: "discoveries_reproduced", Better: pipeline.BetterHigh,
			Doc: "coefficients that are significant in both with the same sign"},
		{Name: "discoveries_lost", Better: pipeline.BetterLow,
			Doc: "coefficients that are significant in the real rows, not so in the synthetic ones or with another sign"},
		{Name: "discoveries_false", Better: pipeline.BetterLow,
			Doc: "coefficients that are significant in the synthetic rows, not so in the real ones or with another sign"},
	}
}

func coefficientFigures() pipeline.Figures {
	feature := func(name string, better pipeline.Better, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Parts: "feature", Better: better, Doc: doc}
	}
	coefficient := feature("coefficient_synthetic", pipeline.BetterPlain,
		"coefficient of the feature in the synthetic rows")
	coefficient.Real, coefficient.Pair, coefficient.Worst = "coefficient_real", "coefficient", true
	deviation := feature("standard_error_synthetic", pipeline.BetterPlain,
		"standard error of the coefficient in the synthetic rows, noise left out")
	deviation.Real, deviation.Pair = "standard_error_real", "standard_error"
	return pipeline.Figures{
		coefficient, feature("coefficient_real", pipeline.BetterPlain, "coefficient of the feature in the real rows"),
		deviation, feature("standard_error_real", pipeline.BetterPlain,
			"standard error of the coefficient in the real rows"),
		feature("p_real", pipeline.BetterPlain, "p-value of the coefficient in the real rows"),
		feature("p_synthetic", pipeline.BetterPlain, "p-value of the coefficient in the synthetic rows"),
		feature("interval_overlap", pipeline.BetterHigh, "overlap of the confidence intervals of both fits, 1 is best"),
		feature("standardised_difference", pipeline.BetterLow,
			"distance of the coefficients, in standard errors of the real rows, 0 is best"),
	}
}
