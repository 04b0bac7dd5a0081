package anomaly

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/internal/columns"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// thesis returns the program of the thesis for fewer rows and epochs.
func thesis(epsilon float64) *Detector {
	return &Detector{Program: &Program{Epsilon: epsilon, Epochs: 2}, Settings: training.Settings{
		Sampling:  training.Sampling{ExpectedBatchSize: 16, MaxGradNorm: 0.1},
		Optimiser: "sgd", LearningRate: 0.01, CheckpointEvery: 3}}
}

func published(h *pipeline.Header) { h.Terms.Claims = pipeline.ClaimsPublished }

// TestProgramPaysForOneStep: at e = 0.1 the noise is one clip, 0.1; the thesis calls that 0.1 for all steps,
// at 0.02 five times as much. Of 40 rows in batches of 16 there are three steps an epoch.
func TestProgramPaysForOneStep(t *testing.T) {
	for epsilon, noise := range map[float64]float64{0.1: 0.1, 0.02: 0.5} {
		in := changed(visitors(40), published)
		w, err := thesis(epsilon).Plan(pipeline.Headers{"in": in.Header})
		must(t, err)
		m := w.Spends[0].Mechanism(w.Pricing.Scale).(train.ClippedMean)
		if math.Abs(m.Deviation()-noise) > 1e-15 || m.Uses() != 6 || w.Out["model"].Class != pipeline.Released {
			t.Errorf("epsilon %g: deviation %g, %d uses, class %s", epsilon, m.Deviation(), m.Uses(), w.Out["model"].Class)
		}
		stated, err := w.Pricing.Published.Epsilon(w.Pricing.Scale, 1e-6)
		must(t, err)
		if math.Abs(stated-epsilon) > 1e-12 || w.Pricing.Unproven.Rule != "W14" || !strings.Contains(w.Pricing.Unproven.Why,
			"W38") {
			t.Errorf("epsilon %g: the thesis says %g, unproven %+v", epsilon, stated, w.Pricing.Unproven)
		}
		want := privacy.Event(privacy.Repeated{Count: 2, Event: privacy.Gaussian{NoiseMultiplier: 0.1 / epsilon}})
		if diff := cmp.Diff(want, m.Event(privacy.ReplaceOne)); diff != "" {
			t.Errorf("event (-want +got):\n%s", diff)
		}
	}
}

// TestProgramReleasesNoisySteps: the weights that are released are the weights of its loop, from standard normal ones,
// and the noise is what was paid for.
func TestProgramReleasesNoisySteps(t *testing.T) {
	in := changed(visitors(40), published)
	// an attempt pays for a multiplier of 1.5
	l := pipelinetest.Learner{Kind: anomalyDetectorKind(), Stage: func() pipeline.Stage { return thesis(0.1 / 1.5) }}
	table, r := l.Trained(t, in)
	if n := r.Ledger.Taken(training.Spend); n != 6 {
		t.Errorf("%d uses, must be 6", n)
	}
	d, _ := read(t, table, in)
	again, _ := l.Trained(t, in)
	same, _ := read(t, again, in)
	if !slices.Equal(d.(*autoencoder).weights, same.(*autoencoder).weights) {
		t.Error("a second run has other weights")
	}
	l.Resumes(t, in, 2)
}

// TestProgramWithoutNoise: the detector is private and costs nothing; its weights are
// the weights of plain gradient descent.
func TestProgramWithoutNoise(t *testing.T) {
	in := changed(visitors(40), published)
	s := thesis(0)
	w, err := s.Plan(pipeline.Headers{"in": in.Header})
	must(t, err)
	if w.Out["model"].Class != pipeline.Private || len(w.Spends) > 0 || w.Pricing.Published != nil {
		t.Errorf("class %s, %d spends", w.Out["model"].Class, len(w.Spends))
	}
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(1), pipeline.Tables{"in": pipeline.FromRecords(in.Header,
		in.Rows)})
	must(t, err)
	d, frame := read(t, out["model"], in)
	want := descended(t, in, frame)
	for i, w := range d.(*autoencoder).weights {
		if math.Abs(float64(w-want[i])) > 1e-5 {
			t.Fatalf("weight %d is %g, must be %g", i, w, want[i])
		}
	}
	removal, err := (&Remove{Placement: "pre", Rows: number(2)}).Plan(pipeline.Headers{"in": in.Header,
		"detector": out["model"].Header})
	must(t, err)
	if h := removal.Out["out"]; h.Stability != pipeline.Unbounded() || len(removal.Findings) != 1 ||
		removal.Findings[0].Rule != "W04" {
		t.Errorf("rows that it removes from have stability %s, findings %v", h.Stability, removal.Findings)
	}
}

// descended returns the weights after two epochs by the reference of package train, a Poisson loop of rate 1 on each
// batch, whose clip never binds and whose steps are scaled as the mean's clip does.
func descended(t *testing.T, in pipelinetest.Input, f *columns.Frame) []float32 {
	t.Helper()
	n, err := autoencoderNet(in.Header.Domain)
	must(t, err)
	w := make([]float32, n.Params())
	train.StandardNormal(w, pipelinetest.Env(1).Rand("weights"))
	pass := n.NewPass(16)
	for step := range 6 {
		from := step % 3 * 16
		rows, err := code(in.Header.Domain, f.Slice(from, min(from+16, 40)))
		must(t, err)
		x := net.NewMatrix(rows.Len(), n.In())
		rows.Gather(x, countFrom(0, rows.Len()))
		pass.Input(rows.Len()).CopyFrom(x)
		y := pass.Forward(w, net.Mode{Train: true})
		net.MSE(pass.OutGrad(), y, x, nil)
		pass.Backward(w)
		grad, square := make([]float32, len(w)), 0.0
		pass.Accumulate(grad, nil)
		for i := range grad {
			grad[i] /= float32(rows.Len())
			square += float64(grad[i]) * float64(grad[i])
		}
		for i, g := range grad {
			w[i] -= float32(0.01 * math.Min(1, 0.1/math.Sqrt(square)) * float64(g))
		}
	}
	return w
}

// TestProgramRefuses: what it cannot run on, all at once; a proof it has none.
func TestProgramRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		set    func(*Detector)
		change func(*pipeline.Header)
	}{
		"given under adjacency add_remove, must be given under replace_one": {func(*Detector) {},
			func(h *pipeline.Header) { h.Terms.Adjacency = privacy.AddRemove }},
		"the row count of the table is private": {func(*Detector) {},
			func(h *pipeline.Header) { h.Rows = 0 }},
		"given together with optimiser: adam and average: 0": {func(s *Detector) { s.Optimiser = "adam" },
			func(*pipeline.Header) {}},
		"given together with sampling_rate or noise_multiplier": {func(s *Detector) { s.NoiseMultiplier = 1 },
			func(*pipeline.Header) {}},
		"expected_batch_size: is 41, must be a whole number": {
			func(s *Detector) { s.ExpectedBatchSize = 41 }, func(*pipeline.Header) {}},
		"program.epsilon: is missing under claims: proven, so that rows would": {func(s *Detector) { s.Program.Epsilon = 0 },
			func(h *pipeline.Header) { h.Terms.Claims = pipeline.ClaimsProven }},
	} {
		s, in := thesis(0.1), changed(changed(visitors(40), published), c.change)
		c.set(s)
		if _, err := s.Plan(pipeline.Headers{"in": in.Header}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must say %s", err, want)
		}
	}
}
