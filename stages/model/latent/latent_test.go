package latent

import (
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/model/artifact"
)

// conformance lists the cases of every kind.
func conformance(t *testing.T) map[string][]pipelinetest.Case {
	cases := map[string][]pipelinetest.Case{}
	all := learners()
	maps.Copy(all, autoGANs())
	maps.Copy(all, rdpGANs())
	for name, l := range all {
		in := ward(t)
		removed, group := in, in
		removed.Header.Terms.Adjacency, removed.Header.Rows = privacy.AddRemove, 0
		group.Header.Stability = pipeline.Rows(2)
		for what, in := range map[string]pipelinetest.Input{"": in, " add_remove": removed, " group": group} {
			cases[l.Kind.Name] = append(cases[l.Kind.Name], pipelinetest.Case{Name: name + what,
				In: map[string]pipelinetest.Input{"in": in}, Stage: l.Stage})
		}
	}
	return cases
}

func TestConformance(t *testing.T) { pipelinetest.CheckKinds(t, Kinds(), conformance(t)) }

// TestRunSpendsThePlan: a run pays once, and exactly the events that were planned,
// written out by hand: rate 10/40 of 12 steps; and for dp_syn one Gaussian of the
// multiplier that takes .2 of the squared loss, the loss of DP-SGD being
// .25^2 12 (exp(1/1.5^2)-1) = .419718 (Bu et al. 2020): sqrt(.8/(.2 .419718)) = 3.08710.
func TestRunSpendsThePlan(t *testing.T) {
	sgd := privacy.Event(privacy.Repeated{Count: 12, Event: privacy.PoissonSampled{SamplingRate: 0.25,
		Event: privacy.Gaussian{NoiseMultiplier: 1.5}}})
	want := map[string][]privacy.Event{"dp_vae": {sgd}, "dp_syn": {sgd, privacy.Gaussian{NoiseMultiplier: 3.08710}}}
	for name, l := range learners() {
		_, r := l.Trained(t, ward(t)) // closes its ledger: opened once, used as planned
		var got []privacy.Event
		for _, p := range r.Ledger.Plan {
			got = append(got, p.Event.Event)
		}
		if diff := cmp.Diff(want[name], got, cmpopts.EquateApprox(1e-5, 0)); diff != "" {
			t.Errorf("%s: planned (-want +got):\n%s", name, diff)
		}
		if n := r.Ledger.Taken("train"); n != 12 {
			t.Errorf("%s: %d steps are used, must be 12", name, n)
		}
		if n := r.Ledger.Taken("mixture"); name == "dp_syn" && n != 3 {
			t.Errorf("%s: %d rounds are used, must be 3", name, n)
		}
	}
}

// TestResumedRunGivesTheSameModel: from each checkpoint, by a payer who knows that
// its noise was drawn.
func TestResumedRunGivesTheSameModel(t *testing.T) {
	for _, l := range learners() {
		l.Resumes(t, ward(t), 2)
	}
}

// TestModelHoldsDecodersOnly: a description and the weights of a decoder for each part,
// of 3 codes, 5 hidden units and 1+1+3+2 outputs. No encoder, no optimiser; a released model.
func TestModelHoldsDecodersOnly(t *testing.T) {
	for name, l := range learners() {
		model, _ := l.Trained(t, ward(t))
		if model.Class != pipeline.Released {
			t.Errorf("%s: the model's class is %s, must be %s", name, model.Class, pipeline.Released)
		}
		files, err := pipeline.ReadFiles(t.Context(), model)
		must(t, err)
		numbers, parts := 0, map[string]int{"dp_vae": 1, "dp_syn": 3}[name]
		for _, f := range files {
			if strings.HasPrefix(f.Name, "weights/") {
				numbers += len(f.Data) / 4
			} else if f.Name != "artifact.json" && f.Name != "model.json" {
				t.Errorf("%s: the model holds %s", name, f.Name)
			}
		}
		if want := parts * ((3+1)*5 + (5+1)*7); numbers != want {
			t.Errorf("%s: the model holds %d weights, must hold %d", name, numbers, want)
		}
	}
}

// TestBadLabelIsNamed: a label that cannot divide the rows is an error of the plan.
func TestBadLabelIsNamed(t *testing.T) {
	in := ward(t)
	for want, change := range map[string]func(*DPSYN){
		`label: is "county"`:                     func(s *DPSYN) { s.Label = "county" },
		"label: is column age, which is not one": func(s *DPSYN) { s.Label = "age" },
		"mixture.rounds: is 1":                   func(s *DPSYN) { s.Mixture.Rounds = 1 },
		"mixture.components: is 1, must be at least 2 with": func(s *DPSYN) {
			s.Mixture.Components, s.Mixture.Choice = 1,
				"calinski_harabasz"
		},
		"GiB":                              func(s *DPSYN) { s.Encoder = []int{1 << 20, 1 << 20} },
		"mixture.components: is 1000 of 3": func(s *DPSYN) { s.Mixture.Components, s.LatentDim = 1000, 1000 },
		"max_grad_norm":                    func(s *DPSYN) { s.MaxGradNorm = 1e-300 },
	} {
		s := smallSYN()
		change(s)
		if _, err := s.Plan(pipeline.Headers{"in": in.Header}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must say %s", err, want)
		}
	}
}

// TestHalvesCostAlike: at share 0.5 the two phases of the published spec, q = 128/32561,
// 3000 steps at multiplier 4, have epsilons at delta 5e-6 that are within a quarter of
// each other.
func TestHalvesCostAlike(t *testing.T) {
	s := smallSYN()
	s.Steps, s.Mixture.Share = 3000, 0.5
	rate := 128. / 32561
	all, err := publishedSYN(s, rate).Epsilon(4, 1e-5)
	must(t, err)
	coder, err := publishedVAE(rate, 3000).Epsilon(4, 5e-6)
	must(t, err)
	if math.Abs(coder/(all-coder)-1) > 0.25 {
		t.Errorf("the phases cost %g and %g", coder, all-coder)
	}
}

// TestPublicLabelsAreUnproven: exact shares have no bound (W05), and are what the rows
// have: 27 of 40 from the north, none from the west.
func TestPublicLabelsAreUnproven(t *testing.T) {
	in := ward(t)
	for labels, rule := range map[string]string{"private": "", "public": "W05"} {
		l := learners()["dp_syn"]
		l.Stage = func() pipeline.Stage {
			s := smallSYN()
			s.Labels = labels
			return s
		}
		w, err := l.Stage().Plan(pipeline.Headers{"in": in.Header})
		must(t, err)
		if got := w.Pricing.Unproven.Rule; got != rule {
			t.Errorf("labels %s break %q, must break %q", labels, got, rule)
		}
		model, _ := l.Trained(t, in)
		shares := sharesOf(t, model)
		if exact := math.Abs(shares[0]-27./40) < 1e-9 && shares[2] == 0; exact != (rule != "") {
			t.Errorf("labels %s have shares %v", labels, shares)
		}
	}
}

// TestChosenMixturesAreUnproven: sizes of mixtures that are chosen by codes have no bound (W16), beside labels that are
// public W05 and W16; models have from 1 to as many components as may be chosen.
func TestChosenMixturesAreUnproven(t *testing.T) {
	in := ward(t)
	for labels, rule := range map[string]string{"private": "W16", "public": "W05"} {
		l := learners()["dp_syn"]
		l.Stage = func() pipeline.Stage {
			s := smallSYN()
			s.Labels, s.Mixture.Choice, s.Mixture.Components = labels, "calinski_harabasz", 4
			return s
		}
		w, err := l.Stage().Plan(pipeline.Headers{"in": in.Header})
		must(t, err)
		if u := w.Pricing.Unproven; u.Rule != rule || !strings.Contains(u.Rule+u.Why, "W16") {
			t.Errorf("labels %s break %s: %s", labels, u.Rule, u.Why)
		}
		model, _ := l.Trained(t, in)
		files, err := pipeline.ReadFiles(t.Context(), model)
		must(t, err)
		for _, f := range files {
			var description struct{ Parts []struct{ Prior []any } }
			if f.Name != "model.json" {
				continue
			}
			must(t, json.Unmarshal(f.Data, &description))
			for label, part := range description.Parts {
				if n := len(part.Prior); n < 1 || n > 4 || label == 2 && n != 1 {
					t.Errorf("labels %s: label %d has %d components", labels, label, n)
				}
			}
		}
	}
}

func sharesOf(t *testing.T, model pipeline.Table) (shares []float64) {
	t.Helper()
	files, err := pipeline.ReadFiles(t.Context(), model)
	must(t, err)
	for _, f := range files {
		if f.Name == "model.json" {
			var about struct{ Parts []struct{ Share float64 } }
			must(t, json.Unmarshal(f.Data, &about))
			for _, p := range about.Parts {
				shares = append(shares, p.Share)
			}
		}
	}
	return shares
}

// TestLearnsWhoSmokes: of 600 rows those from the south smoke, a third; drawn rows have that,
// near enough, and hardly a label that no row has. Keys are fixed, so this cannot flake; of
// 2000 rows a share has a standard error of 0.011 at most.
func TestLearnsWhoSmokes(t *testing.T) {
	in := crowd(t, 600, func(i int) int { return i % 3 / 2 })
	for name, l := range learners() {
		quick := l.Stage
		l.Stage = func() pipeline.Stage {
			s := quick()
			coder := &Coder{}
			switch s := s.(type) {
			case *DPVAE:
				coder = &s.Coder
			case *DPSYN:
				coder = &s.Coder
			}
			coder.Steps, coder.ExpectedBatchSize, coder.MaxGradNorm, coder.LearningRate, coder.CheckpointEvery = 300, 150, 3,
				0.02, 2000
			return s
		}
		model, _ := l.Trained(t, in)
		m, err := artifact.Read[artifact.Model](t.Context(), model, pipeline.ReadersOf(Kinds()))
		must(t, err)
		draw, err := m.Draw(artifact.Drawing{Rows: 2000, Random: func(purpose string) *rand.Rand {
			return rand.New(rand.NewPCG(7, uint64(len(purpose))))
		}})
		must(t, err)
		rows, err := draw(2000)
		must(t, err)
		region, smoker := rows.Column(2).(*array.Int32).Int32Values(), rows.Column(3).(*array.Int32).Int32Values()
		var count [3][2]float64
		for i, r := range region {
			count[r][smoker[i]]++
		}
		south := (count[1][0] + count[1][1]) / 2000
		if !(math.Abs(south-1./3) < 0.08) || !(count[2][0]+count[2][1] < 0.05*2000) || !(count[1][1] > 3*count[1][0]) ||
			!(count[0][0] > 3*count[0][1]) {
			t.Errorf("%s: by region and smoker the rows are %v, must be near 1333, 667 on the diagonal", name, count)
		}
	}
}

// TestGoldenPrintedEpsilons: at the batch and steps that the specs infer, the paper's
// arithmetic gives what Tantipongpipat et al. 2021 print, rounded up to two decimals, and
// one step more would not: 1.01, .51, .36 for DP-VAE at noise 2, 4, 5; half of 1.4, .8,
// .5 for the autoencoders of DP-SYN at noise 4, and 1.4, .8, .5 in all.
func TestGoldenPrintedEpsilons(t *testing.T) {
	const rate = 128. / 32561
	vae := func(steps int64, noise, delta float64) float64 {
		e, err := publishedVAE(rate, steps).Epsilon(noise, delta)
		must(t, err)
		return e
	}
	for _, c := range []struct {
		steps                 int64
		noise, delta, printed float64
	}{{9410, 2, 1e-5, 1.01}, {10961, 4, 1e-5, .51}, {8697, 5, 1e-5, .36}, {19407, 4, 5e-6, .7}, {6369, 4, 5e-6, .4},
		{2478, 4, 5e-6, .25}} {
		if at, past := vae(c.steps, c.noise, c.delta), vae(c.steps+1, c.noise, c.delta); !(at <= c.printed &&
			c.printed < past) {
			t.Errorf("%d steps at noise %g: epsilon %g, and %g after one more, must have %g between them", c.steps, c.noise, at,
				past, c.printed)
		}
	}
	for steps, printed := range map[int]float64{19407: 1.4, 6369: .8, 2478: .5} {
		s := smallSYN()
		s.Steps, s.Mixture.Share = steps, 0.5
		e, err := publishedSYN(s, rate).Epsilon(4, 1e-5)
		must(t, err)
		if math.Ceil(e*100)/100 != printed {
			t.Errorf("%d steps: epsilon %g in all, must be printed as %g", steps, e, printed)
		}
	}
}
