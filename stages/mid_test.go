package stages

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/internal/columns"
	"weir/stages/model/anomaly"
	"weir/stages/model/artifact"
	"weir/stages/model/gan"
	"weir/stages/model/latent"
	"weir/stages/model/votes"
	"weir/stages/prep"
)

// kindOf returns a kind of the list.
func kindOf(t *testing.T, name string) pipeline.Kind {
	t.Helper()
	i := slices.IndexFunc(modelKinds(), func(k pipeline.Kind) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("no kind %s", name)
	}
	return modelKinds()[i]
}

// patients returns 40 made-up rows before encode; the last weighs so much.
func patients(heavy float64) pipelinetest.Input {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}, Step: 0.5},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "grade", Type: domain.Ordinal, Categories: []string{"low", "middle", "high"}},
	}}
	columns := make([][]any, 5)
	for i := range 40 {
		row := []any{20 + i%30, 60.5 + float64(i%7), any([]string{"north", "south"}[i%3/2]), []string{"no", "yes"}[i/20],
			[]string{"low", "middle"}[i%4/3]}
		if i == 39 {
			row[1] = heavy
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: 40,
		OwnRows: true,
		Terms:   pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven, Delta: 1e-5}})
	return pipelinetest.Input{Header: h, Rows: pipelinetest.Rows(d, columns...)}
}

// encodedOf returns what encode makes of a table, in so many shards.
func encodedOf(t *testing.T, in pipelinetest.Input, shards int) pipelinetest.Input {
	t.Helper()
	stages := []pipeline.Stage{&prep.Encode{OneHot: []string{"region", "smoker"}, MinMax: [2]float64{-1, 1},
		Missing:  "category",
		Standard: map[string]prep.Moments{"weight": {Mean: 75, SD: 15}}}}
	if shards > 0 {
		stages = append([]pipeline.Stage{&prep.Shard{Shards: shards, By: "random"}}, stages...)
	}
	table := pipeline.FromRecords(in.Header, in.Rows)
	for _, s := range stages {
		out, err := pipelinetest.Run(t, s, pipelinetest.Env(1), pipeline.Tables{"in": table})
		must(t, err)
		table = out["out"]
	}
	r, err := pipelinetest.Collect(t.Context(), table)
	must(t, err)
	return pipelinetest.Input{Header: table.Header, Rows: r}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// trained returns what a small forest releases on a table.
func trained(t *testing.T, in pipelinetest.Input) pipelinetest.Input {
	t.Helper()
	learner := pipelinetest.Learner{Kind: kindOf(t, "anomaly_forest"),
		Stage: func() pipeline.Stage { return &anomaly.Forest{Trees: 3, Depth: 4} }}
	table, _ := learner.Trained(t, in)
	r, err := pipelinetest.Collect(t.Context(), table)
	must(t, err)
	return pipelinetest.Input{Header: table.Header, Rows: r}
}

// byWeight scores rows by their weight.
type byWeight struct{ artifact.Scorer }

func (byWeight) Scores(f *columns.Frame) ([]float64, error) { return f.Column("weight").Numbers, nil }

// weighed returns a detector that scores by weight, and the kind of it.
func weighed(t *testing.T, in pipelinetest.Input) (pipelinetest.Input, pipeline.Kind) {
	t.Helper()
	h := pipeline.Header{Form: pipeline.FormDetector,
		Domain: &domain.Domain{Columns: in.Header.Domain.Columns}, Class: pipeline.Released, Terms: in.Header.Terms}
	table, err := artifact.Pack(h, "weight", 1, []pipeline.File{{Name: "nothing", Data: []byte("x")}})
	must(t, err)
	r, err := pipelinetest.Collect(t.Context(), table)
	must(t, err)
	return pipelinetest.Input{Header: h, Rows: r}, pipeline.Kind{Name: "weight",
		Readers: []pipeline.Reader{artifact.ScorerDecoder{Format: 1,
			Decode: func(map[string][]byte) (artifact.Scorer, error) { return byWeight{}, nil }}}}
}

// loops returns quick versions of the kinds whose batches may leave anomalies out, and in how many shards
// their table is. Each takes every row in some batch.
func loops() map[string]struct {
	shards int
	quick  func(pipeline.Stage)
} {
	return map[string]struct {
		shards int
		quick  func(pipeline.Stage)
	}{
		"dp_wgan": {0, func(s pipeline.Stage) {
			w := s.(*gan.DPWGAN)
			w.Steps, w.ExpectedBatchSize, w.SamplingRate, w.GeneratedBatch, w.LatentDim, w.Generator, w.Critic,
				w.CheckpointEvery = 12, 10, 0.25, 8, 3, []int{8}, []int{6}, 5
			w.RemoveAnomalies = 2
		}},
		"dp_wgan tensor": {0, func(s pipeline.Stage) {
			w := s.(*gan.DPWGAN)
			w.Steps, w.ExpectedBatchSize, w.SamplingRate, w.GeneratedBatch, w.LatentDim, w.Generator, w.Critic,
				w.CheckpointEvery = 12, 10, 0.25, 8, 3, []int{8}, []int{6}, 5
			w.RemoveAnomalies, w.Clip, w.MaxGradNorm = 2, "tensor", 0.01
		}},
		"dp_gan": {0, func(s pipeline.Stage) {
			w := s.(*gan.DPGAN)
			w.Label, w.Steps, w.ExpectedBatchSize, w.SamplingRate, w.MaxGradNorm, w.GeneratedBatch, w.CheckpointEvery = "region",
				12, 10, 0.25, 0.02, 8, 5
			w.LatentDim, w.Generator, w.Critic, w.Dropout, w.RemoveAnomalies = 3, []int{8}, []int{6}, 0.3, 2
		}},
		"rdp_cgan": {0, func(s pipeline.Stage) {
			w := s.(*latent.RDPCGAN)
			w.Label, w.Autoencoder.Code, w.CheckpointEvery, w.RemoveAnomalies = "region", 3, 3, 2
			a, g := &w.Autoencoder, &w.GAN
			a.Steps, a.ExpectedBatchSize, a.SamplingRate, a.MaxGradNorm = 8, 10, 0.25, 0.05
			g.Steps, g.ExpectedBatchSize, g.SamplingRate, g.MaxGradNorm = 12, 10, 0.25, 0.05
			w.Autoencoder.Encoder, w.Autoencoder.Decoder = []latent.Convolution{{Filters: 2, Kernel: 3, Stride: 2}},
				[]latent.Convolution{{Filters: 2, Kernel: 3}}
			w.GAN.CriticSteps, w.GAN.GeneratedBatch, w.GAN.LatentDim = 2, 8, 2
			w.GAN.Generator, w.GAN.Critic = []latent.Convolution{{Filters: 2, Kernel: 2}},
				[]latent.Convolution{{Filters: 2, Kernel: 3, Padding: 1}}
		}},
		"dp_auto_gan": {0, func(s pipeline.Stage) {
			w := s.(*latent.DPAutoGAN)
			a, g := &w.Autoencoder, &w.GAN
			a.Steps, a.ExpectedBatchSize, a.SamplingRate, a.MaxGradNorm = 8, 10, 0.25, 0.05
			g.Steps, g.ExpectedBatchSize, g.SamplingRate, g.MaxGradNorm = 12, 10, 0.25, 0.05
			w.Autoencoder.Hidden, w.Autoencoder.Code, w.CheckpointEvery, w.RemoveAnomalies = []int{5}, 3, 3, 2
			w.GAN.CriticSteps, w.GAN.GeneratedBatch, w.GAN.LatentDim, w.GAN.Generator, w.GAN.Critic = 2, 8, 3, []int{3}, []int{6}
		}},
		"gs_wgan": {5, func(s pipeline.Stage) {
			w := s.(*gan.GSWGAN)
			w.Steps, w.BatchSize, w.Scheduled, w.LatentDim, w.Generator, w.Critic, w.CheckpointEvery = 12, 6, 2, 3, []int{8},
				[]int{6}, 5
			w.MaxGradNorm, w.LearningRate, w.WarmSteps, w.RemoveAnomalies = 0.02, 0.03, 30, 4
		}},
		"pate_gan": {5, func(s pipeline.Stage) {
			w := s.(*votes.PATEGAN)
			w.Steps, w.BatchSize, w.LatentDim, w.Generator, w.Student, w.CheckpointEvery = 12, 6, 3, []int{8}, []int{6}, 5
			w.RemoveAnomalies = 2
		}},
		"dp_vae": {0, func(s pipeline.Stage) {
			w := s.(*latent.DPVAE)
			w.Steps, w.ExpectedBatchSize, w.SamplingRate, w.MaxGradNorm, w.Encoder, w.Decoder, w.LatentDim,
				w.CheckpointEvery = 12, 10, 0.25, 0.5, []int{6}, []int{5}, 3, 5
			w.RemoveAnomalies = 2
		}},
		"dp_syn": {0, func(s pipeline.Stage) {
			w := s.(*latent.DPSYN)
			w.Steps, w.ExpectedBatchSize, w.SamplingRate, w.MaxGradNorm, w.Encoder, w.Decoder, w.LatentDim,
				w.CheckpointEvery = 12, 10, 0.25, 0.5, []int{6}, []int{5}, 3, 5
			w.Label, w.Mixture.Components, w.Mixture.Rounds, w.RemoveAnomalies = "region", 2, 3, 2
		}},
	}
}

// kindName returns the kind of a case such as "dp_wgan tensor".
func kindName(name string) string {
	kind, _, _ := strings.Cut(name, " ")
	return kind
}

// TestEveryLoopIsTried: a kind that takes a detector has a case here.
func TestEveryLoopIsTried(t *testing.T) {
	tried := map[string]bool{"remove_anomalies": true} // is no loop
	for name := range loops() {
		tried[kindName(name)] = true
	}
	for _, k := range modelKinds() {
		if k.InByKey("detector") != nil && !tried[k.Name] {
			t.Errorf("kind %s takes a detector, and is not tried", k.Name)
		}
	}
}

// TestLoopsWithoutAnomaliesConform: kinds that leave anomalies out of their batches keep every promise, the
// one of sensitivity on neighbouring tables first, with a detector that was trained, under either
// adjacency and for groups.
func TestLoopsWithoutAnomaliesConform(t *testing.T) {
	for name, l := range loops() {
		k, raw := kindOf(t, kindName(name)), patients(120)
		detector := trained(t, raw)
		in := encodedOf(t, raw, l.shards)
		removed, group := in, in
		removed.Header.Terms.Adjacency, removed.Header.Rows = privacy.AddRemove, 0
		if in.Header.Stability == pipeline.Rows(1) {
			group.Header.Stability = pipeline.Rows(2)
		}
		var cases []pipelinetest.Case
		for what, in := range map[string]pipelinetest.Input{"": in, " add_remove": removed, " group": group} {
			cases = append(cases, pipelinetest.Case{Name: name + what, Kinds: modelKinds(), In: map[string]pipelinetest.Input{
				"in": in, "detector": detector},
				Stage: func() pipeline.Stage {
					s := k.New()
					l.quick(s)
					return s
				}})
		}
		t.Run(name, func(t *testing.T) { pipelinetest.Check(t, k, cases...) })
	}
}

// TestPlantedAnomalyNeverLearned: what a kind releases is the same to the last byte whether the
// heaviest row, which a batch leaves out first, has 70 or 199 kilograms; without removal it is not.
func TestPlantedAnomalyNeverLearned(t *testing.T) {
	for name, l := range loops() {
		k := kindOf(t, kindName(name))
		release := func(heavy float64, leaves bool) []byte {
			raw := patients(heavy)
			detector, weight := weighed(t, raw)
			learner := pipelinetest.Learner{Kind: k, Kinds: []pipeline.Kind{weight}, Beside: map[string]pipelinetest.Input{
				"detector": detector}, Stage: func() pipeline.Stage {
				s := k.New()
				l.quick(s)
				return s
			}}
			if !leaves {
				learner.Beside, learner.Stage = nil, func() pipeline.Stage {
					s := k.New()
					l.quick(s)
					forget(s)
					return s
				}
			}
			model, _ := learner.Trained(t, encodedOf(t, raw, l.shards))
			return pipelinetest.Bytes(t, model)
		}
		if name != "dp_syn" && !bytes.Equal(release(70, true), release(199, true)) { // the mixtures of dp_syn see every row
			t.Errorf("%s: what is released tells the heaviest row's weight", name)
		}
		if bytes.Equal(release(70, false), release(199, false)) {
			t.Errorf("%s: the heaviest row makes no difference even where it stays", name)
		}
	}
}

// forget sets a stage to leave nothing out.
func forget(s pipeline.Stage) {
	switch s := s.(type) {
	case *gan.DPWGAN:
		s.RemoveAnomalies = 0
	case *gan.GSWGAN:
		s.RemoveAnomalies = 0
	case *gan.DPGAN:
		s.RemoveAnomalies = 0
	case *latent.DPAutoGAN:
		s.RemoveAnomalies = 0
	case *latent.RDPCGAN:
		s.RemoveAnomalies = 0
	case *votes.PATEGAN:
		s.RemoveAnomalies = 0
	case *latent.DPVAE:
		s.RemoveAnomalies = 0
	case *latent.DPSYN:
		s.RemoveAnomalies = 0
	}
}

// TestLoopsContinue: an interrupted training that leaves anomalies out ends in the same model.
func TestLoopsContinue(t *testing.T) {
	for name, l := range loops() {
		raw, k := patients(120), kindOf(t, kindName(name))
		detector := trained(t, raw)
		checkpoints := map[string]int{"dp_wgan": 2, "dp_wgan tensor": 2, "dp_gan": 2, "dp_vae": 2, "pate_gan": 2,
			"dp_auto_gan": 6, "rdp_cgan": 6}[name]
		if checkpoints == 0 {
			continue // write checkpoints by other rules; their loops equal the loops of the others
		}
		pipelinetest.Learner{Kind: k, Kinds: modelKinds(), Beside: map[string]pipelinetest.Input{"detector": detector},
			Stage: func() pipeline.Stage {
				s := k.New()
				l.quick(s)
				return s
			}}.Resumes(t, encodedOf(t, raw, l.shards), checkpoints)
	}
}

// TestRemovalRefusals: what cannot be left out of batches is told before a row is read.
func TestRemovalRefusals(t *testing.T) {
	raw := patients(120)
	good, _ := weighed(t, raw)
	in := encodedOf(t, raw, 0)
	other := func(change func(h *pipeline.Header)) *pipeline.Header {
		h := good.Header
		h.Domain = h.Domain.Clone()
		change(&h)
		return &h
	}
	for want, c := range map[string]struct {
		detector *pipeline.Header
		rows     int
	}{
		"detector: is missing, with remove_anomalies given":  {nil, 2},
		"remove_anomalies: is missing, with detector given":  {&good.Header, 0},
		"remove_anomalies: is 8, of generated_batch 8":       {&good.Header, 8},
		"remove_anomalies: is 10, of expected_batch_size 10": {&good.Header, 10},
		"detector: is fitted on private rows without a charge": {
			other(func(h *pipeline.Header) { h.Class = pipeline.Private }), 2},
		"detector: is a table whose column weight has other bounds": {
			other(func(h *pipeline.Header) { h.Domain.Columns[1].Bounds = &[2]float64{0, 1} }), 2},
		"detector: is a table whose column height is missing": {
			other(func(h *pipeline.Header) { h.Domain.Columns[1].Name = "height" }), 2},
		"detector: is a table whose column region has other categories": {
			other(func(h *pipeline.Header) { h.Domain.Columns[2].Categories = []string{"east"} }), 2},
	} {
		s := kindOf(t, "dp_wgan").New().(*gan.DPWGAN)
		loops()["dp_wgan"].quick(s)
		s.RemoveAnomalies = c.rows
		h := pipeline.Headers{"in": in.Header}
		if c.detector != nil {
			h["detector"] = *c.detector
		}
		if _, err := s.Plan(h); err == nil || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("error %v, must say %s", err, want)
		}
	}
	// Under claims: published a detector that nobody paid for runs, and the bill says what is not proven.
	h := pipeline.Headers{"in": in.Header, "detector": *other(func(h *pipeline.Header) { h.Class = pipeline.Private })}
	published := h["in"]
	published.Terms.Claims = pipeline.ClaimsPublished
	h["in"] = published
	s := kindOf(t, "dp_wgan").New().(*gan.DPWGAN)
	loops()["dp_wgan"].quick(s)
	w, err := s.Plan(h)
	must(t, err)
	if w.Pricing.Unproven.Rule != "W04" {
		t.Errorf("unproven by %q, must be W04", w.Pricing.Unproven.Rule)
	}
}

// TestModelsWithoutLoopsSayWhere: a model whose batches leave nothing out says where else anomalies are removed.
func TestModelsWithoutLoopsSayWhere(t *testing.T) {
	for _, name := range []string{"mst", "independent", "auto", "mixture", "dp_logistic_regression"} {
		if said := kindOf(t, name).Elsewhere["remove_anomalies"]; !strings.Contains(said, "placement: pre") ||
			!strings.Contains(said, "placement: post") {
			t.Errorf("%s says %q", name, said)
		}
	}
	for _, name := range []string{"dp_wgan", "anomaly_detector", "remove_anomalies"} {
		if kindOf(t, name).Elsewhere != nil {
			t.Errorf("%s says that it has no loop", name)
		}
	}
}
