package disclosure

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
)

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
		if hits(truth, i, guessed, n.Row, r.Tolerance*(hi-lo)) {
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

// hits compares a value with a guess; a missing guess is wrong.
func hits(truth *columns.Column, i int, guess *columns.Column, j int, tolerance float64) bool {
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
