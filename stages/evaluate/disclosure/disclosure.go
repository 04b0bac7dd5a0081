// Package disclosure asks how close synthetic rows come to individual real ones.
package disclosure

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/schema"
	"weir/stages/evaluate"
	"weir/stages/internal/columns"
	"weir/stages/metric"
)

// settings says how distances to real rows are measured and which attacks are tried.
type settings struct {
	Distance          string   `yaml:"distance" json:"distance" enum:"euclidean|gower" doc:"euclidean: root of squared differences over the declared range plus differing categories; gower: mean over columns of differences or mismatch."`
	MaxRows           int      `yaml:"max_rows" json:"max_rows" min:"2" doc:"Rows of each table, drawn at random, whose nearest rows are sought, fewer in tables of more than 20 columns; matches are counted over all rows." unit:"rows"`
	FalsePositiveRate float64  `yaml:"false_positive_rate" json:"false_positive_rate" exclusiveMin:"0" exclusiveMax:"1" doc:"Of the membership attack: the share of non-members that it may take for members."`
	Secrets           []string `yaml:"secrets,omitempty" json:"secrets,omitempty" format:"columns" unique:"true" doc:"Columns that the attribute attack guesses from all others; if omitted, every column in turn."`
	Tolerance         float64  `yaml:"tolerance" json:"tolerance" min:"0" max:"1" doc:"A guessed number counts as right within this share of the column's range."`
}

// Kinds lists the kind of this question.
func Kinds() []pipeline.Kind {
	return []pipeline.Kind{{
		Name: "disclosure", Version: 4, Late: true,
		In: []pipeline.Port{
			evaluate.Table("real", "held-out real rows, the control; without real_train the rows that the model learnt from",
				false),
			evaluate.Table("synthetic", "the rows to judge", false),
			evaluate.Table("real_train", "the real rows that the model learnt from", true),
		},
		Out: evaluate.Metrics(), Figures: figures(),
		Doc: "Measures how close synthetic rows come to individual real ones. Measures are exact matches, matches of " +
			"unique rows, " +
			"distance to the closest record (dcr) and its " +
			"ratio to the second closest (nndr) against a held-out control, a membership attack by distance and an attribute " +
			"attack by the nearest " +
			"synthetic row, with intervals of 95 % (Clopper-Pearson of shares, bootstrap of membership_auroc). This is no " +
			"proof of privacy, and a low figure is no evidence of it: it says that these " +
			"weak attacks failed on these rows (W34). What bounds disclosure is epsilon. The figures are private. Use it to " +
			"catch a model that copies.",
		New: func() pipeline.Stage {
			return &settings{Distance: "euclidean", MaxRows: 2000, FalsePositiveRate: 0.05, Tolerance: 0.05}
		},
	}}
}

// Plan implements pipeline.Stage.
func (s *settings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	in["real"].Domain.Pick(&ps, "secrets", s.Secrets)
	work := evaluate.Work(in["real"], s.measure)
	work.Findings = []pipeline.Finding{{Rule: "W34", Level: pipeline.LevelNote,
		Message: "the attacks of this stage are weak; that they fail is no evidence of privacy",
		Fix:     "state their power and confidence interval beside epsilon, never in place of it"}}
	return work, ps.Err()
}

func (s *settings) measure(ctx context.Context, env *pipeline.Env, frames evaluate.Frames) ([]pipeline.Metric, error) {
	r := &disclosureRun{settings: s, env: env, train: frames["real_train"], control: frames["real"],
		synth: frames["synthetic"], note: evaluate.Dropped(frames["real"])}
	if r.train == nil {
		r.train, r.control = r.control, nil
		r.note = metric.Notes("real_train is not connected: real stands for the rows that the model learnt from", r.note)
	}
	r.metric = map[string]metric.RowDistance{"euclidean": metric.EuclideanMixed, "gower": metric.Gower}[s.Distance]
	secrets, _ := r.secrets()
	r.total = int64(parts + searches + 2*len(secrets))
	for _, part := range []func(context.Context) error{r.matches, r.distances, r.closer, r.membership, r.attributes} {
		if err := part(ctx); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.step()
	}
	return r.Metrics, nil
}

// parts and searches count steps of progress: the parts of Run, and searches outside the attribute attack.
const parts, searches = 5, 4

// disclosureRun is one run of Disclosure. control is nil where there is none.
type disclosureRun struct {
	*settings
	metric.List
	env                   *pipeline.Env
	metric                metric.RowDistance
	train, control, synth *columns.Frame
	note                  string
	done, total           int64
}

func (r *disclosureRun) step() {
	r.done++
	r.env.Progress(min(r.done, r.total), r.total)
}

// A search over more than treeColumns columns is no faster than a full scan, so
// that fewer rows are sought there: about scanValues compared values a search
// (under a second on one core), but at least leastRows rows.
const (
	treeColumns = 20
	scanValues  = 100_000_000
	leastRows   = 100
)

// sought returns the most rows of a table whose nearest rows are sought.
func (r *disclosureRun) sought() int {
	width, rows := len(r.train.Columns), max(r.train.Rows, r.synth.Rows, 1)
	if width <= treeColumns {
		return r.MaxRows
	}
	return min(r.MaxRows, max(leastRows, scanValues/(rows*width)))
}

// sample returns up to sought rows of f, at random.
func (r *disclosureRun) sample(f *columns.Frame, purpose string) *columns.Frame {
	n := r.sought()
	if f.Rows <= n {
		return f
	}
	return f.Take(r.env.Rand(purpose).Perm(f.Rows)[:n])
}

const noControl = "needs held-out rows: real_train must be the rows that the model learnt from, and real others"

// lacking says what is missing for a figure; "" where nothing is.
func (r *disclosureRun) lacking(needsControl bool) string {
	var control string
	switch {
	case len(r.train.Columns) == 0:
		return "the tables have no column in common"
	case needsControl && r.control == nil:
		return noControl
	case needsControl && r.control.Rows == 0:
		control = "the control has no rows"
	}
	return metric.Notes(evaluate.Empty(r.train.Rows, r.synth.Rows), control)
}

func share(k, n int) float64 { return float64(k) / float64(n) }

// matches counts synthetic rows that equal a real one.
func (r *disclosureRun) matches(context.Context) error {
	if reason := r.lacking(false); reason != "" {
		r.Add("exact_matches", "", metric.None(reason, r.note))
		r.Add("unique_matches", "", metric.None(reason))
		return nil
	}
	train := metric.NewMatches(r.train)
	r.Add("exact_matches", "", metric.Of(share(train.Of(r.synth), r.synth.Rows),
		"share of synthetic rows that equal a training row", r.note))
	unique, matched := train.Unique(r.synth)
	r.Add("unique_matches", "", metric.Or(share(matched, unique), "no training row is unique").With(
		fmt.Sprintf("share of the %d unique training rows that some synthetic row equals", unique)))
	if r.control != nil && r.control.Rows > 0 {
		r.Add("exact_matches_control", "", metric.Of(share(train.Of(r.control), r.control.Rows),
			"share of held-out real rows that equal a training row: what chance gives"))
	}
	return nil
}

// figures declares matches, distances and attacks. What finds nothing is no evidence of privacy.
func figures() pipeline.Figures {
	attack := func(name, label string, chance float64, doc string) pipeline.Figure {
		return pipeline.Figure{Name: name, Better: pipeline.BetterChance, Interval: true, Doc: doc,
			Verdict: &pipeline.Verdict{Label: label, Chance: pipeline.KnownValue(chance), Good: 0.02, Fair: 0.1}}
	}
	advantage := attack("attribute_inference_advantage", "Guessing a column of members: advantage", 0,
		"by how much more often a column of training rows is guessed than of held-out ones; 0 is chance")
	advantage.Parts, advantage.Worst, advantage.Interval = "column", true, false
	list := pipeline.Figures{
		{Name: "exact_matches", Better: pipeline.BetterLow, Headline: true,
			Doc: "synthetic rows that equal a real one"},
		{Name: "exact_matches_control", Better: pipeline.BetterPlain,
			Doc: "share of held-out real rows that equal a training row: what chance gives"},
		{Name: "unique_matches", Better: pipeline.BetterLow,
			Doc: "share of the unique training rows that some synthetic row equals"},
		attack("membership_auroc", "Membership attack: AUROC", 0.5,
			"telling training rows from held-out ones by their distance to synthetic rows; .5 is chance"),
		attack("closer_to_train", "Rows nearer to training than to held-out rows", 0.5,
			"share of synthetic rows nearer to training than to held-out rows; .5 is chance"),
		{Name: "membership_power", Better: pipeline.BetterLow, Interval: true,
			Doc: "share of training rows that the membership attack finds"},
		{Name: "membership_false_positive_rate", Better: pipeline.BetterPlain, Interval: true,
			Doc: "share of held-out rows that the membership attack takes for training rows"},
		{Name: "attribute_inference", Parts: "column", Better: pipeline.BetterLow,
			Doc: "share of training rows whose column is guessed right"},
		{Name: "attribute_inference_control", Parts: "column", Better: pipeline.BetterPlain,
			Doc: "share of held-out rows whose column is guessed right: what the table tells of anyone"},
		advantage,
	}
	for _, d := range []struct{ name, doc string }{
		{"dcr", "distance to the closest training row"},
		{"nndr", "distance to the closest training row over that to the second closest"},
	} {
		list = append(list, pipeline.Figure{Name: d.name, Parts: "quantile", Better: pipeline.BetterPlain,
			Doc: d.doc + ", of synthetic rows; compare it with that of held-out ones"},
			pipeline.Figure{Name: d.name + "_control", Parts: "quantile", Better: pipeline.BetterPlain,
				Doc: d.doc + ", of held-out rows"})
	}
	for i := range list {
		list[i].Few = true
	}
	return append(list, evaluate.RowsFigure())
}
