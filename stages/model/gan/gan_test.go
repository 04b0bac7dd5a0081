package gan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/model/artifact"
)

// conformance lists the cases of every kind.
func conformance(t *testing.T) map[string][]pipelinetest.Case {
	cases := map[string][]pipelinetest.Case{}
	for name, l := range learners(t) {
		removed, group := l.in, l.in
		removed.Header.Terms.Adjacency, removed.Header.Rows = privacy.AddRemove, 0
		if group.Header.Stability == pipeline.Rows(1) {
			group.Header.Stability = pipeline.Rows(2)
		}
		for what, in := range map[string]pipelinetest.Input{"": l.in, " add_remove": removed, " group": group} {
			if name == programName && what == " add_remove" {
				continue // refused: TestProgramRefusals
			}
			cases[l.Kind.Name] = append(cases[l.Kind.Name], pipelinetest.Case{Name: name + what,
				In:    map[string]pipelinetest.Input{"in": in},
				Stage: func() pipeline.Stage { return rated(l.Stage()) }})
		}
	}
	cases["dp_gan"] = dpGANCases(t)
	all := ward(t, 0)
	all.Header.Terms.Adjacency, all.Header.Rows = privacy.AddRemove, 0
	cases["dp_wgan"] = append(cases["dp_wgan"], pipelinetest.Case{Name: "every row in every step",
		In: map[string]pipelinetest.Input{"in": all},
		Stage: func() pipeline.Stage { // without coins, sensitivity is compared wherever a row comes or goes
			s := smallWGAN()
			s.SamplingRate = 1
			return s
		}})
	return cases
}

func TestConformance(t *testing.T) { pipelinetest.CheckKinds(t, Kinds(), conformance(t)) }

// rated gives DP-SGD its rate, which a table without rows does not.
func rated(s pipeline.Stage) pipeline.Stage {
	if w, ok := s.(*DPWGAN); ok && w.Program == nil {
		w.SamplingRate = 0.25
	}
	return s
}

// TestRunSpendsThePlan: a run pays once, and exactly the event that was planned.
// The events are written out by hand: rate 10/40 of 12 steps; with 4 weight tensors half
// the multiplier; of 3 epochs one release each; 12*4 draws of one
// of 5 shards; 12 releases with the multiplier doubled, since the accountant
// halves it under replace_one; 12 draws for a batch of 4, whose multiplier is halved
// (docs/accounting.md sections 3.3, 3.5 and 4).
func TestRunSpendsThePlan(t *testing.T) {
	want := map[string]privacy.Event{
		"dp_wgan": privacy.Repeated{Count: 12, Event: privacy.PoissonSampled{SamplingRate: 0.25,
			Event: privacy.Gaussian{NoiseMultiplier: 1.5}}},
		"dp_wgan tensor": privacy.Repeated{Count: 12, Event: privacy.PoissonSampled{SamplingRate: 0.25,
			Event: privacy.Gaussian{NoiseMultiplier: 0.75}}},
		programName: privacy.Repeated{Count: 3, Event: privacy.Gaussian{NoiseMultiplier: 0.75}},
		"gs_wgan sample": privacy.Repeated{Count: 48, Event: privacy.SampledWithoutReplacement{SampleSize: 1, Population: 5,
			Event: privacy.Gaussian{NoiseMultiplier: 1.5}}},
		"gs_wgan mean": privacy.Repeated{Count: 12, Event: privacy.Gaussian{NoiseMultiplier: 3}},
		"gs_wgan norm": privacy.Repeated{Count: 12, Event: privacy.Gaussian{NoiseMultiplier: 3}},
		"gs_wgan batch": privacy.Repeated{Count: 12, Event: privacy.SampledWithoutReplacement{SampleSize: 1, Population: 5,
			Event: privacy.Gaussian{NoiseMultiplier: 0.75}}},
		"gs_wgan norm after": privacy.Repeated{Count: 12, Event: privacy.SampledWithoutReplacement{SampleSize: 1,
			Population: 5,
			Event:      privacy.Gaussian{NoiseMultiplier: 0.75}}},
		"gs_wgan drawn":  privacy.Repeated{Count: 48, Event: privacy.Gaussian{NoiseMultiplier: 3}}, // no amplification
		"gs_wgan shared": privacy.Repeated{Count: 48, Event: privacy.Gaussian{NoiseMultiplier: 3}},
	}
	for name, l := range learners(t) {
		_, r := l.Trained(t, l.in) // closes its ledger: opened once, used as planned
		if len(r.Ledger.Plan) != 1 || r.Ledger.Taken("train") != 12 {
			t.Errorf("%s: %d mechanisms and %d uses, must be 1 and 12", name, len(r.Ledger.Plan), r.Ledger.Taken("train"))
		}
		if diff := cmp.Diff(want[name], r.Ledger.Plan[0].Event.Event); diff != "" {
			t.Errorf("%s: planned (-want +got):\n%s", name, diff)
		}
	}
}

// TestGroupsArePaid: on rows(2) the bill is the bill of a change of two rows: rate
// 1-(1-q)^2, half the multiplier (docs/accounting.md section 8).
func TestGroupsArePaid(t *testing.T) {
	l := learners(t)["dp_wgan"]
	l.in.Header.Stability = pipeline.Rows(2)
	_, r := l.Trained(t, l.in)
	want := privacy.Repeated{Count: 12, Event: privacy.PoissonSampled{SamplingRate: 1 - 0.75*0.75,
		Event: privacy.Gaussian{NoiseMultiplier: 0.75}}}
	if diff := cmp.Diff(privacy.Event(want), r.Ledger.Plan[0].Event.Event, cmpopts.EquateApprox(1e-14, 0)); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
	l.in.Header.Stability = pipeline.Rows(1)
	if single := l.Pays(t, l.in).Ledger.Plan[0].Event.Event; cmp.Equal(single, r.Ledger.Plan[0].Event.Event) {
		t.Errorf("a table of stability rows(2) pays %v, the price of rows(1)", single)
	}
}

// TestAllCriticsAreScheduled: 0 stands for the number of shards.
func TestAllCriticsAreScheduled(t *testing.T) {
	for scheduled, want := range map[int]int{0: 5, 2: 2} {
		s := smallGSWGAN("mean")
		s.Scheduled = scheduled
		if got := s.config(5, 0).Scheduled; got != want {
			t.Errorf("scheduled %d trains %d of 5 critics at each step, must be %d", scheduled, got, want)
		}
	}
}

// TestResumedRunGivesTheSameModel: from each checkpoint, by a payer who knows that
// its noise was drawn; for any other it begins anew.
func TestResumedRunGivesTheSameModel(t *testing.T) {
	for name, l := range learners(t) {
		whole, r := l.Trained(t, l.in)
		if len(r.States) < 2 {
			t.Fatalf("%s: %d checkpoints of 12 steps, must be at least 2", name, len(r.States))
		}
		for i, state := range r.States {
			again := l.Pays(t, l.in)
			again.Resume, again.Ledger.Drawn = state, 1<<40
			resumed, err := again.Run(t, l.Stage(), l.in)
			must(t, err)
			if want := len(r.States) - 1 - i; len(again.States) != want {
				t.Errorf("%s: resumed from checkpoint %d a run writes %d more, must write %d: it starts anew", name, i,
					len(again.States), want)
			}
			if !bytes.Equal(pipelinetest.Bytes(t, whole), pipelinetest.Bytes(t, resumed)) {
				t.Errorf("%s: the model of a run resumed from checkpoint %d differs", name, i)
			}
		}
		stranger := l.Pays(t, l.in)
		stranger.Resume = r.States[len(r.States)-1]
		anew, err := stranger.Run(t, l.Stage(), l.in)
		must(t, err)
		if len(stranger.States) != len(r.States) || !bytes.Equal(pipelinetest.Bytes(t, whole), pipelinetest.Bytes(t, anew)) {
			t.Errorf("%s: a run continues from uses that nobody took", name)
		}
	}
}

// TestModelHoldsNothingPrivate: the files are the description and one weight or
// bias for each layer of the generator, whose shapes follow from the public
// domain: 3 latents, 8 hidden units, 1+1+3+2 outputs. No critic, no optimiser.
func TestModelHoldsNothingPrivate(t *testing.T) {
	for name, l := range learners(t) {
		model, _ := l.Trained(t, l.in)
		if model.Class != pipeline.Released {
			t.Errorf("%s: the model's class is %s, must be %s", name, model.Class, pipeline.Released)
		}
		files, err := pipeline.ReadFiles(t.Context(), model)
		must(t, err)
		numbers := 0
		for _, f := range files {
			switch f.Name {
			case "artifact.json":
				continue // TestArtifact
			case "model.json":
				checkDescription(t, name, f.Data, l.in.Header.Domain)
				continue
			}
			if !strings.HasPrefix(f.Name, "weights/") {
				t.Errorf("%s: the model holds %s", name, f.Name)
			}
			numbers += len(f.Data) / 4
		}
		want := (3+1)*8 + (8+1)*7
		if name == "gs_wgan drawn" || name == "gs_wgan shared" { // batch norm has 4 numbers a unit; steps 5, 10 and 12
			want = 3 * (want + 4*8)
		}
		if name == "gs_wgan norm after" {
			want += 4 * 8
		}
		if numbers != want {
			t.Errorf("%s: the model holds %d weights, the generator has %d", name, numbers, want)
		}
	}
}

// checkDescription: net and the domain that went in; no other key.
func checkDescription(t *testing.T, name string, data []byte, domain *domain.Domain) {
	t.Helper()
	var keys map[string]json.RawMessage
	must(t, json.Unmarshal(data, &keys))
	if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(slices.DeleteFunc(got,
		func(k string) bool { return k == "steps" }), []string{"domain", "parts"}) {
		t.Errorf("%s: the model describes %v, must describe domain, parts and at most steps", name, got)
	}
	want, err := json.Marshal(domain)
	must(t, err)
	var a, b any
	must(t, json.Unmarshal(want, &a))
	must(t, json.Unmarshal(keys["domain"], &b))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("%s: the model's domain is not the public one (-want +got):\n%s", name, diff)
	}
}

// TestWithoutRows: a private table without rows trains on noise alone and is
// released like any other; refusing it would tell that it is empty.
func TestWithoutRows(t *testing.T) {
	for name, l := range learners(t) {
		in := l.in
		in.Rows = in.Rows.NewSlice(0, 0)
		model, r := l.Trained(t, in)
		if n := r.Ledger.Taken("train"); n != 12 {
			t.Errorf("%s: an empty table takes %d uses, must take all 12", name, n)
		}
		if _, err := artifact.Read[artifact.Model](t.Context(), model, pipeline.ReadersOf(Kinds())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMoreRowsThanExpected: where the row count is private it may be any number, so a
// batch far above expected_batch_size is no error, and neighbours on both sides of
// the largest batch that is summed in float32 (111 for 1 expected: 1 + 10 + 100) move
// the sum by no more than one clip.
func TestMoreRowsThanExpected(t *testing.T) {
	for _, n := range []int{110, 111, 112, 900} {
		in := crowd(t, n, 0)
		in.Header.Terms.Adjacency, in.Header.Rows = privacy.AddRemove, 0
		pipelinetest.Check(t, dpWGANKind(), pipelinetest.Case{Name: fmt.Sprint(n, " rows"), In: map[string]pipelinetest.Input{
			"in": in}, Stage: func() pipeline.Stage {
			s := smallWGAN()
			s.SamplingRate, s.ExpectedBatchSize, s.Steps = 1, 1, 6
			return s
		}})
	}
}

// TestRefusals: tables that a kind has no proof or no numbers for.
func TestRefusals(t *testing.T) {
	rows := ward(t, 0).Header
	unknown := rows
	unknown.Rows = 0
	raw := rows
	raw.Domain = raw.Domain.Clone()
	raw.Domain.Columns[0].Encoding = nil
	for _, c := range []struct {
		stage pipeline.Stage
		h     pipeline.Header
		want  string
	}{
		{smallWGAN(), unknown, "W05"},
		{smallWGAN(), raw, "column age"},
		{smallGSWGAN("mean"), rows, "W22"},
		{smallGSWGAN("mean"), raw, "column age"},
	} {
		_, err := c.stage.Plan(pipeline.Headers{"in": c.h})
		if text, _ := json.Marshal(err); err == nil || !strings.Contains(err.Error()+string(text), c.want) {
			t.Errorf("%T on %s: %v, must be a refusal with %s", c.stage, c.h.Stability, err, c.want)
		}
	}
}

// TestProgramIsUnproven: its first rule is the rule of the shuffled batches, and no setting of
// the proven variants has one.
func TestProgramIsUnproven(t *testing.T) {
	h := pipeline.Headers{"in": ward(t, 0).Header}
	for name, want := range map[string]string{"dp_wgan": "", "dp_wgan tensor": "", programName: "W08"} {
		w, err := learners(t)[name].Stage().Plan(h)
		must(t, err)
		if got := w.Pricing.Unproven.Rule; got != want {
			t.Errorf("%s: rule %q, want %q", name, got, want)
		}
	}
}

// TestProgramTakesItsBranch: on 27,253 rows at delta 1/n^2 the noise of each branch, and
// for .3 a stop when delta is spent, after a quarter of 10 epochs of 426 batches, since
// each of the 4 tensors is charged.
func TestProgramTakesItsBranch(t *testing.T) {
	h := ward(t, 0).Header
	h.Rows, h.Terms.Delta = 27253, 1/(27253.0*27253)
	for epsilon, want := range map[float64]struct {
		noise float64
		steps int64
	}{0.3: {math.NaN(), 1065}, 1: {3, 4260}, 8: {1, 4260}} {
		s := programWGAN()
		s.ExpectedBatchSize, s.Program = 64, &Program{Epsilon: epsilon, Epochs: 10}
		w, err := s.Plan(pipeline.Headers{"in": h})
		must(t, err)
		m := w.Spends[0].Mechanism(w.Pricing.Scale)
		if m.Uses() != want.steps || !math.IsNaN(want.noise) && w.Pricing.Scale != want.noise {
			t.Errorf("budget %g: %d steps at noise multiplier %g, want %d at %g", epsilon, m.Uses(), w.Pricing.Scale, want.steps,
				want.noise)
		}
		if reported, err := w.Pricing.Published.Epsilon(w.Pricing.Scale, h.Terms.Delta); err != nil ||
			!(reported <= epsilon) {
			t.Errorf("budget %g: its accountant reports %g (%v)", epsilon, reported, err)
		}
	}
}

// TestProgramNeedsAreToldAtOnce: whoever turns it on is told in one go all that it takes,
// its budget among it.
func TestProgramNeedsAreToldAtOnce(t *testing.T) {
	h := ward(t, 0).Header
	h.Terms.Adjacency, h.Terms.Claims = privacy.AddRemove, pipeline.ClaimsProven
	s := programWGAN()
	s.Clip, s.NoiseMultiplier, s.Program.Epsilon = "", 2, 0.8
	_, err := s.Plan(pipeline.Headers{"in": h})
	text, _ := json.Marshal(err)
	for _, want := range []string{"replace_one", "privacy.claims", `"clip"`, "noise_multiplier", "program.epsilon"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s: nothing of %s", text, want)
		}
	}
}

// TestProgramCountsTensors: the tensors whose budget is checked are the tensors of the net that is trained.
func TestProgramCountsTensors(t *testing.T) {
	for _, critic := range [][]int{{3}, {5, 4}} {
		s := programWGAN()
		s.Critic = critic
		net, _, err := s.nets(ward(t, 0).Header.Domain)
		must(t, err)
		if got := len(net.Tensors()); s.tensors() != got {
			t.Errorf("%v: %d tensors are checked, %d trained", critic, s.tensors(), got)
		}
	}
}

func TestProgramRefusals(t *testing.T) {
	fit := ward(t, 0).Header
	removed, unknown, exact := fit, fit, fit
	removed.Terms.Adjacency, unknown.Rows, exact.Terms.Delta = privacy.AddRemove, 0, 0
	for name, c := range map[string]struct {
		h      pipeline.Header
		change func(*DPWGAN)
		want   string
	}{
		"add_remove":        {removed, func(*DPWGAN) {}, "replace_one"},
		"no public rows":    {unknown, func(*DPWGAN) {}, "W05"},
		"no delta":          {exact, func(*DPWGAN) {}, "privacy.delta"},
		"one clip":          {fit, func(s *DPWGAN) { s.Clip = "" }, "clip"},
		"noise of the spec": {fit, func(s *DPWGAN) { s.NoiseMultiplier = 2 }, "noise_multiplier"},
		"part of a row":     {fit, func(s *DPWGAN) { s.ExpectedBatchSize = 9.5 }, "expected_batch_size"},
		"too little":        {fit, func(s *DPWGAN) { s.Program.Epsilon = 0.8 }, "program.epsilon"},
	} {
		s := programWGAN()
		s.Program.Rows = 0
		c.change(s)
		_, err := s.Plan(pipeline.Headers{"in": c.h})
		if text, _ := json.Marshal(err); err == nil || !strings.Contains(err.Error()+string(text), c.want) {
			t.Errorf("%s: %v, must be a refusal with %s", name, err, c.want)
		}
	}
}

// TestBaselineEpsilons: DP-WGAN of DP-auto-GAN's paper has psi 27.5, 19 and 9 at .37, .51 and 1.01; the steps of
// specs/dp-wgan-adult are the last epoch of 508.8 batches of 64 within them. Log moments to 32 begin at
// ln(1e5)/32 = .3598, so that .36 allows five epochs.
func TestBaselineEpsilons(t *testing.T) {
	const rate, epoch = 64. / 32561, 509
	for _, c := range []struct {
		epsilon, psi float64
		steps        int64
	}{{0.36, 27.5, 2544}, {0.37, 27.5, 121087}, {0.51, 19, 849137}, {1.01, 9, 883733}} {
		point, err := publishedBaseline(rate, c.steps).Epsilon(c.psi, 1e-5)
		must(t, err)
		later, err := publishedBaseline(rate, c.steps+epoch).Epsilon(c.psi, 1e-5)
		must(t, err)
		if !(point <= c.epsilon && later > c.epsilon) {
			t.Errorf("psi %g: %g after %d steps, %g an epoch later; the paper has %g", c.psi, point, c.steps, later, c.epsilon)
		}
	}
}
