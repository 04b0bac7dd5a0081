package evaluate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
)

// disclosureSettings says how distances to real rows are measured and which attacks are tried.
type disclosureSettings struct {
	Distance          string   `yaml:"distance" json:"distance" enum:"euclidean|gower" doc:"euclidean: root of squared differences over the declared range plus differing categories; gower: mean over columns of differences or mismatch."`
	MaxRows           int      `yaml:"max_rows" json:"max_rows" min:"2" doc:"Rows of each table, drawn at random, whose nearest rows are sought, fewer in tables of more than 20 columns; matches are counted over all rows." unit:"rows"`
	FalsePositiveRate float64  `yaml:"false_positive_rate" json:"false_positive_rate" exclusiveMin:"0" exclusiveMax:"1" doc:"Of the membership attack: the share of non-members that it may take for members."`
	Secrets           []string `yaml:"secrets,omitempty" json:"secrets,omitempty" format:"columns" unique:"true" doc:"Columns that the attribute attack guesses from all others; if omitted, every column in turn."`
	Tolerance         float64  `yaml:"tolerance" json:"tolerance" min:"0" max:"1" doc:"A guessed number counts as right within this share of the column's range."`
}

// disclosureKind declares the kind that asks how close synthetic rows come to individual real ones.
func disclosureKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "disclosure", Version: 4, Late: true,
		In: []pipeline.Port{
			Table("real", "held-out real rows, the control; without real_train the rows that the model learnt from",
				false),
			Table("synthetic", "the rows to judge", false),
			Table("real_train", "the real rows that the model learnt from", true),
		},
		Out: Metrics(), Figures: disclosureFigures(),
		Doc: "Measures how close synthetic rows come to individual real ones. Measures are exact matches, matches of " +
			"unique rows, " +
			"distance to the closest record (dcr) and its " +
			"ratio to the second closest (nndr) against a held-out control, a membership attack by distance and an attribute " +
			"attack by the nearest " +
			"synthetic row, with intervals of 95 % (Clopper-Pearson of shares, bootstrap of membership_auroc). This is no " +
			"proof of privacy, and a low figure is not evidence of it: it says that these " +
			"weak attacks failed on these rows (W34). What bounds disclosure is epsilon. The figures are private. Use it to " +
			"catch a model that copies.",
		New: func() pipeline.Stage {
			return &disclosureSettings{Distance: "euclidean", MaxRows: 2000, FalsePositiveRate: 0.05, Tolerance: 0.05}
		},
	}
}

// Plan implements pipeline.Stage.
func (s *disclosureSettings) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	in["real"].Domain.Pick(&ps, "secrets", s.Secrets)
	work := Work(in["real"], s.measure)
	work.Findings = []pipeline.Finding{{Rule: "W34", Level: pipeline.LevelNote,
		Message: "the attacks of this stage are weak; that they fail is not evidence of privacy",
		Fix:     "state their power and confidence interval beside epsilon, never in place of it"}}
	return work, ps.Err()
}

func (s *disclosureSettings) measure(ctx context.Context, env *pipeline.Env, frames Frames) ([]pipeline.Metric, error) {
	r := &disclosureRun{disclosureSettings: s, env: env, train: frames["real_train"], control: frames["real"],
		synth: frames["synthetic"], note: Dropped(frames["real"])}
	if r.train == nil {
		r.train, r.control = r.control, nil
		r.note = metric.Notes("real_train is not connected: real stands for the rows that the model learnt from", r.note)
	}
	r.metric = map[string]metric.RowDistance{"euclidean": metric.EuclideanMixed, "gower": metric.Gower}[s.Distance]
	secrets, _ := r.secrets()
	r.total = int64(disclosureParts + disclosureSearches + 2*len(secrets))
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

// disclosureParts and searches count steps of progress: the parts of Run, and searches outside the attribute attack.
const disclosureParts, disclosureSearches = 5, 4

// disclosureRun is one run of Disclosure. control is nil where there is none.
type disclosureRun struct {
	*disclosureSettings
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
	return metric.Notes(Empty(r.train.Rows, r.synth.Rows), control)
}

func shareOf(k, n int) float64 { return float64(k) / float64(n) }

// matches counts synthetic rows that equal a real one.
func (r *disclosureRun) matches(context.Context) error {
	if reason := r.lacking(false); reason != "" {
		r.Add("exact_matches", "", metric.None(reason, r.note))
		r.Add("unique_matches", "", metric.None(reason))
		return nil
	}
	train := metric.NewMatches(r.train)
	r.Add("exact_matches", "", metric.Of(shareOf(train.Of(r.synth), r.synth.Rows),
		"share of synthetic rows that equal a training row", r.note))
	unique, matched := train.Unique(r.synth)
	r.Add("unique_matches", "", metric.Or(shareOf(matched, unique), "no training row is unique").With(
		fmt.Sprintf("share of the %d unique training rows that some synthetic row equals", unique)))
	if r.control != nil && r.control.Rows > 0 {
		r.Add("exact_matches_control", "", metric.Of(shareOf(train.Of(r.control), r.control.Rows),
			"share of held-out real rows that equal a training row: what chance gives"))
	}
	return nil
}

// disclosureFigures declares matches, distances and attacks. What finds nothing is not evidence of privacy.
func disclosureFigures() pipeline.Figures {
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
	return append(list, RowsFigure())
}

const weakNote = "one weak attack: no evidence of privacy (W34)"

// membership guesses whether a row was trained on by its distance to the nearest
// synthetic row.
func (r *disclosureRun) membership(context.Context) error {
	names := []string{"membership_auroc", "membership_power", "membership_false_positive_rate"}
	reason := r.lacking(true)
	if reason == "" && r.control.Rows < 2 {
		reason = "needs two held-out rows"
	}
	if reason != "" {
		for _, n := range names {
			r.Add(n, "", metric.None(reason))
		}
		return nil
	}
	space := metric.NewSpace(r.metric, r.train)
	members, others := r.nearness(space, r.sample(r.train, "members")), r.nearness(space, r.sample(r.control, "others"))
	y := make([]bool, len(members)+len(others))
	for i := range members {
		y[i] = true
	}
	a := prediction.AUROC(y, slices.Concat(members, others), r.env.Rand("resampled members and others"), r.env.Workers)
	r.Metrics = append(r.Metrics, a.Metrics(names[0], "", "0.5 is a guess", weakNote)...)
	m := metric.NewMembership(members, others, r.FalsePositiveRate)
	r.rate(names[1], m.Power, fmt.Sprintf("share of %d members found by a threshold meant for a false positive rate of %g",
		m.Power.N, r.FalsePositiveRate), "")
	r.rate(names[2], m.FalsePositive, fmt.Sprintf("of that threshold, on %d held-out rows that were not used to set it",
		m.FalsePositive.N), "")
	return nil
}

// nearness returns minus the distance to the nearest synthetic row.
func (r *disclosureRun) nearness(space *metric.Space, f *columns.Frame) []float64 {
	out := make([]float64, f.Rows)
	for i, n := range metric.NearestAll(space, f, r.synth, r.env.Workers) {
		out[i] = -n.First
	}
	r.step()
	return out
}

// attributes guesses one column of a row from the synthetic row that is nearest
// in all others, for members and for held-out rows.
func (r *disclosureRun) attributes(ctx context.Context) error {
	if reason := r.lacking(false); reason != "" || len(r.train.Columns) < 2 {
		r.Add("attribute_inference", "", metric.None(reason, "needs two columns"))
		return nil
	}
	members := r.sample(r.train, "members")
	var others *columns.Frame
	if r.control != nil && r.control.Rows > 0 {
		others = r.sample(r.control, "others")
	}
	var names []string
	var hit, base, gain []metric.Noted
	secrets, purpose := r.secrets()
	for _, name := range secrets {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, b := r.guess(name, members), metric.Of(math.NaN(), noControl)
		if others != nil {
			b = r.guess(name, others)
		}
		names, hit, base = append(names, name), append(hit, a), append(base, b)
		gain = append(gain, metric.Of(a.Value-b.Value, nanNote(a), nanNote(b)))
	}
	r.AddAll("attribute_inference", names, hit, metric.Notes("share of members guessed right", purpose, weakNote))
	r.AddAll("attribute_inference_control", names, base, "")
	r.AddAll("attribute_inference_advantage", names, gain, "members minus held-out rows")
	return nil
}

// mostSecrets is the most columns that are guessed where none are named: each
// costs a search of its own.
const mostSecrets = 15

// secrets returns the columns to guess.
func (r *disclosureRun) secrets() (names []string, note string) {
	all := r.train.Names()
	if len(r.Secrets) > 0 {
		return slices.DeleteFunc(all, func(n string) bool { return !slices.Contains(r.Secrets, n) }), ""
	}
	if len(all) <= mostSecrets {
		return all, ""
	}
	places := r.env.Rand("secrets").Perm(len(all))[:mostSecrets]
	slices.Sort(places)
	for _, i := range places {
		names = append(names, all[i])
	}
	return names, fmt.Sprintf("%d of %d columns, drawn at random", mostSecrets, len(all))
}

func nanNote(f metric.Noted) string {
	if math.IsNaN(f.Value) {
		return f.Note
	}
	return ""
}

// guess returns the share of rows with the secret known whose nearest synthetic row,
// in the other columns, has it too; the note gives the interval.
func (r *disclosureRun) guess(secret string, targets *columns.Frame) metric.Noted {
	others := slices.DeleteFunc(r.train.Names(), func(n string) bool { return n == secret })
	space := metric.NewSpace(r.metric, r.train.Select(others))
	near := metric.NearestAll(space, targets.Select(others), r.synth.Select(others), r.env.Workers)
	truth, guessed := targets.Column(secret), r.synth.Column(secret)
	lo, hi := metric.ColumnExtent(r.train.Column(secret))
	right, known := 0, 0
	for i, n := range near {
		if truth.Absent(i) {
			continue
		}
		known++
		if guessHits(truth, i, guessed, n.Row, r.Tolerance*(hi-lo)) {
			right++
		}
	}
	r.step()
	v := metric.NewRate(right, known)
	if known == 0 {
		return metric.None("no row has a value to guess")
	}
	return metric.Of(v.Share, fmt.Sprintf("%.4f to %.4f (95 %%) of %d rows", v.Low, v.High, v.N))
}

// guessHits compares a value with a guess; a missing guess is wrong.
func guessHits(truth *columns.Column, i int, guess *columns.Column, j int, tolerance float64) bool {
	if truth.Coded() {
		return truth.Codes[i] == guess.Codes[j]
	}
	return math.Abs(truth.Numbers[i]-guess.Numbers[j]) <= tolerance
}

// distances describes how far synthetic rows are from training rows, beside how
// far held-out rows are from them.
func (r *disclosureRun) distances(context.Context) error {
	if reason := r.lacking(false); reason != "" {
		r.Add("dcr", "median", metric.None(reason))
		r.Add("nndr", "median", metric.None(reason))
		return nil
	}
	space := metric.NewSpace(r.metric, r.train)
	r.describe("", space, r.sample(r.synth, "synthetic rows"))
	if r.control != nil && r.control.Rows > 0 {
		r.describe("_control", space, r.sample(r.control, "held-out rows"))
	}
	return nil
}

func (r *disclosureRun) describe(suffix string, space *metric.Space, from *columns.Frame) {
	var dcr, nndr []float64
	for _, n := range metric.NearestAll(space, from, r.train, r.env.Workers) {
		dcr, nndr = append(dcr, n.First), append(nndr, n.NNDR())
	}
	for _, d := range []struct {
		name string
		x    []float64
	}{{"dcr", dcr}, {"nndr", nndr}} {
		s := metric.SummariseDistances(d.x)
		for _, v := range []struct {
			name  string
			value float64
		}{{"min", s.Min}, {"p5", s.P5}, {"p25", s.P25}, {"median", s.Median}, {"mean", s.Mean}} {
			f := metric.Or(v.value, "there are fewer than two training rows")
			if v.name == "median" {
				f = f.With(fmt.Sprintf("of %d rows", s.N))
			}
			r.Add(d.name+suffix, v.name, f)
		}
	}
	r.step()
}

// closer asks whether synthetic rows are nearer to training rows than to as many
// held-out ones; a model that copies nothing gives a half.
func (r *disclosureRun) closer(context.Context) error {
	if reason := r.lacking(true); reason != "" {
		r.Add("closer_to_train", "", metric.None(reason))
		return nil
	}
	n := min(r.train.Rows, r.control.Rows)
	train := r.train.Take(r.env.Rand("training rows of the comparison").Perm(r.train.Rows)[:n])
	control := r.control.Take(r.env.Rand("held-out rows of the comparison").Perm(r.control.Rows)[:n])
	space, synth := metric.NewSpace(r.metric, r.train), r.sample(r.synth, "synthetic rows")
	a := metric.NearestAll(space, synth, train, r.env.Workers)
	b := metric.NearestAll(space, synth, control, r.env.Workers)
	nearer, trials := 0, 0
	for i := range a {
		if a[i].First != b[i].First {
			trials++
		}
		if a[i].First < b[i].First {
			nearer++
		}
	}
	rate := metric.NewRate(nearer, trials)
	r.rate("closer_to_train", rate, fmt.Sprintf("share of %d synthetic rows nearer to training rows than to as many "+
		"held-out ones, ties aside; 0.5 is chance", trials),
		"all synthetic rows are as near to training as to held-out rows")
	return nil
}

// rate records a share and its interval.
func (r *disclosureRun) rate(name string, v metric.Rate, note, reason string) {
	r.Add(name, "", metric.Or(v.Share, reason).With(note))
	low, high := pipeline.IntervalEnds(name)
	r.Add(low, "", metric.Or(v.Low, reason))
	r.Add(high, "", metric.Or(v.High, reason))
}
