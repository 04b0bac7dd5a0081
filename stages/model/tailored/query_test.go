package tailored

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/bill"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/stages/internal/columns"
	"weir/stages/internal/question"
)

// watching keeps what goes into each release and what comes out.
type watching struct{ seen []privacy.Released }

func (w *watching) Release(r privacy.Released) any {
	w.seen = append(w.seen, r)
	return r.Out
}

// run carries a stage out at a noise multiplier, which its bill has too.
func run(t *testing.T, s pipeline.Stage, k pipeline.Kind, in pipelinetest.Input, multiplier float64,
	key byte) (question.Answers, []privacy.Released) {
	t.Helper()
	h := pipeline.Headers{"in": in.Header}
	w, err := s.Plan(h)
	must(t, err)
	plan, err := bill.Price(&k, h, w, multiplier, in.Header.Terms.Adjacency)
	must(t, err)
	probe, env := &watching{}, pipelinetest.Env(1)
	ledger := &pipelinetest.Ledger{Key: noise.Key{key, 1}, Plan: plan, Probe: probe}
	env.Privacy = ledger
	out, err := w.Run(t.Context(), env, pipeline.Tables{"in": pipeline.FromRecords(in.Header, in.Rows)})
	must(t, err)
	must(t, ledger.Close())
	answers, err := question.Read(t.Context(), out["out"])
	must(t, err)
	return answers, probe.seen
}

// residuals returns the noise of every number that was released over runs of a stage, over the
// deviation that theory gives it.
func residuals(t *testing.T, stage func() pipeline.Stage, k pipeline.Kind, in pipelinetest.Input, multiplier,
	sigma float64) (all []float64) {
	t.Helper()
	for key := range byte(100) {
		_, seen := run(t, stage(), k, in, multiplier, key)
		for _, r := range seen {
			before, after := r.In.(privacy.Round).In.([]int64), r.Out.([]int64)
			for i := range before {
				all = append(all, float64(after[i]-before[i])/sigma)
			}
		}
	}
	return all
}

// normal returns the p-value of numbers as standard normal ones, by ten bins.
func normal(x []float64) float64 {
	counts, p := make([]int, 10), slices.Repeat([]float64{0.1}, 10)
	for _, v := range x {
		counts[min(int(10*distuv.UnitNormal.CDF(v)), 9)]++
	}
	return stattest.ChiSquare(counts, p, len(x))
}

// TestNoiseOfTallies: the noise of second moments of d columns under multiplier M, one
// of T, is normal of deviation sqrt(T) M (d+1) over 2^16. Where rows are exchanged it is
// less by sqrt(2): they move sqrt(2) as far, and M stands for twice. The noise of two means
// among K = 2 questions is sqrt(2 K T) M over 2^20. Published noise is
// M sqrt(d(d-1)/2) whatever T is. Each fails at a rate of 1e-6; noise of half fails each.
func TestNoiseOfTallies(t *testing.T) {
	removable := wards()["add_remove"]
	means := []question.Question{{Name: "dose", Ask: question.Mean, Column: "dose"}, {Name: "age", Ask: question.Mean,
		Column: "age"}}
	for name, c := range map[string]struct {
		stage func() pipeline.Stage
		kind  pipeline.Kind
		in    pipelinetest.Input
		sigma float64
	}{
		"moments":           {covarianceOf(func(*Covariance) {}), covarianceKind(), removable, 2 * 4 * 0x1p16},
		"moments, exchange": {covarianceOf(func(*Covariance) {}), covarianceKind(), ward(40), 2 * 4 * 0x1p16 / math.Sqrt2},
		"moments, one of 9": {covarianceOf(func(s *Covariance) { s.Queries = 9 }), covarianceKind(), removable,
			3 * 2 * 4 * 0x1p16},
		"published, 1 of 9": {covarianceOf(func(s *Covariance) { s.Queries, s.Mechanism = 9, "published" }), covarianceKind(),
			ward(40), 2 * math.Sqrt(3) * 0x1p16},
		"means":           {queryOf(1, means...), queryKind(), removable, 2 * 2 * 0x1p20},
		"means, one of 9": {queryOf(9, means...), queryKind(), removable, 3 * 2 * 2 * 0x1p20},
	} {
		x := residuals(t, c.stage, c.kind, c.in, 2, c.sigma)
		if p := normal(x); p < 1e-6 {
			t.Errorf("%s: the noise is not as theory has it: p = %g", name, p)
		}
		for i := range x {
			x[i] *= 0.5
		}
		if p := normal(x); p > 1e-6 {
			t.Errorf("%s: the test takes noise of half: p = %g", name, p)
		}
	}
}

// TestQuestionsShareTheBudget: of K questions each has a K-th of the squares, and of T
// queries each a T-th: the filter has multiplier M sqrt(K/tallies), and T selections of a
// quantile are charged, each of epsilon 2 mu/sqrt(K T) for mu = 1/M, or 2/M where rows are
// exchanged.
func TestQuestionsShareTheBudget(t *testing.T) {
	const m, queries = 3.0, 5
	for adjacency, mu := range map[privacy.Adjacency]float64{privacy.AddRemove: 1 / m, privacy.ReplaceOne: 2 / m} {
		in := ward(40)
		in.Header.Terms.Adjacency = adjacency
		w, err := queryOf(queries, everything()...)().Plan(pipeline.Headers{"in": in.Header})
		must(t, err)
		if len(w.Spends) != 3 {
			t.Fatalf("%d mechanisms, must be one of tallies and two quantiles", len(w.Spends))
		}
		if g := w.Spends[0].Mechanism(m).Event(adjacency).(privacy.Gaussian); math.Abs(g.NoiseMultiplier-m*math.Sqrt(8./6)) >
			1e-12 {
			t.Errorf("%s: tallies have multiplier %g", adjacency, g.NoiseMultiplier)
		}
		r := w.Spends[1].Mechanism(m).Event(adjacency).(privacy.Repeated)
		want := 2 * mu / math.Sqrt(8*queries)
		if e := r.Event.(privacy.Exponential).Epsilon; r.Count != queries || math.Abs(e-want) > 1e-12 {
			t.Errorf("%s: a quantile is charged for %d selections of epsilon %g, must be %d of %g", adjacency, r.Count, e,
				queries, want)
		}
	}
}

// TestAnswersWithoutNoise: at next to no noise answers are the answers of the rows, which ward
// makes: ages 18 + 7i mod 73 for i below 40, one region in four missing.
func TestAnswersWithoutNoise(t *testing.T) {
	answers, _ := run(t, queryOf(1, everything()...)(), queryKind(), ward(40), 1e-4, 1)
	age, n := 0.0, 0.0
	for i := range 40 {
		a := 18 + (i*7)%73
		age += float64(a) / 40
		if a >= 30 && a <= 60 && i/20%2 == 1 {
			n++
		}
	}
	for _, a := range answers.List {
		want, within := 0.0, 0.5
		switch a.Question {
		case "older smokers":
			want = n
		case "regions":
			want = 10
		case "age":
			want, within = age, 1e-2
		default:
			continue
		}
		if math.Abs(a.Value-want) > within {
			t.Errorf("%s %s is %g, must be %g", a.Question, a.Cell, a.Value, want)
		}
	}
	if len(answers.List) != 1+4+3+3+2 || len(answers.Asked) != 8 || answers.Kind != queryName {
		t.Errorf("answers are %+v", answers)
	}
}

// TestQuestionSettings: all that is wrong is told at once, with its place.
func TestQuestionSettings(t *testing.T) {
	low, high := 3.0, 1.0
	_, err := queryOf(1,
		question.Question{Name: "a", Ask: question.Mean, Column: "agee"},
		question.Question{Name: "a", Ask: question.Mean, Column: "score"},
		question.Question{Name: "b", Ask: question.Quantile, Column: "region"},
		question.Question{Name: "c", Ask: question.Histogram, Column: "weight", Edges: []float64{1, 1}},
		question.Question{Name: "d", Ask: question.Count},
		question.Question{Name: "e", Ask: question.Count,
			Where: []question.Condition{{Column: "region", In: []string{"nort"}},
				{Column: "age", In: []string{"1"}}, {Column: "age", From: &low, To: &high}}},
	)().Plan(pipeline.Headers{"in": ward(40).Header})
	if err == nil {
		t.Fatal("is accepted")
	}
	for _, want := range []string{`questions[0].column: is "agee", an unknown column of the table`,
		`questions[1].name: is "a", the name of an earlier question`,
		"questions[1].column: is score, a number without bounds", "questions[2].column: is region, which is categorical",
		"questions[2].quantile: is 0 for a quantile",
		"questions[3].edges: is [1 1] for weight", "questions[4].where: is a count of all rows, whose number is public",
		`questions[5].where[0].in[0]: is "nort", an unknown category of region`,
		"questions[5].where[1]: is a condition on age, which is integer", "questions[5].where[2].from: is 3, above to, 1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

// TestIntervalsOfTheStageHold: over 100 runs, of 11 intervals each, 95 in 100 hold what the
// rows answer, or more: a binomial test at 1e-6, which intervals of 90 % fail. Rows come or
// go, so means are over noisy numbers of rows.
func TestIntervalsOfTheStageHold(t *testing.T) {
	in, covers, total := wards()["add_remove"], 0, 0
	f, err := columns.Read(t.Context(), pipeline.FromRecords(in.Header, in.Rows))
	must(t, err)
	for key := range byte(100) {
		answers, _ := run(t, queryOf(1, everything()[:6]...)(), queryKind(), in, 0.7, key)
		var truth []question.Answer
		for _, q := range answers.Asked {
			list, err := q.Of(t.Context(), f)
			must(t, err)
			truth = append(truth, list...)
		}
		for i, a := range answers.List {
			total++
			if a.Low <= truth[i].Value && truth[i].Value <= a.High {
				covers++
			}
		}
	}
	if total != 1100 || float64(covers) < 0.95*float64(total) && stattest.Binomial(covers, total, 0.95) < 1e-6 {
		t.Errorf("%d of %d intervals hold", covers, total)
	}
	if stattest.Binomial(covers, total, 0.9) > 1e-6 {
		t.Errorf("%d of %d intervals hold, as those of 90 %% might", covers, total)
	}
}
