package latent

import (
	"testing"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/model/internal/training"
	"weir/stages/prep"
)

// ward returns an encoded table of 40 made-up rows: a tanh column, a standardised one
// and two one-hot groups. No row is from the west.
func ward(t *testing.T) pipelinetest.Input {
	return crowd(t, 40, func(i int) int { return i / 20 % 2 })
}

// crowd returns such a table of n rows; smokes tells who smokes. Every third row is from the
// south.
func crowd(t *testing.T, n int, smokes func(i int) int) pipelinetest.Input {
	t.Helper()
	encode := &prep.Encode{OneHot: []string{"region", "smoker"}, MinMax: [2]float64{-1, 1}, Missing: "error",
		Standard: map[string]prep.Moments{"weight": {Mean: 75, SD: 15}}}
	people := pipelinetest.People(n, pipeline.ClaimsProven, func(i int) (region, smoking int) {
		return i % 3 / 2,
			smokes(i)
	})
	return pipelinetest.After(t, people, encode)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func learners() map[string]pipelinetest.Learner {
	return map[string]pipelinetest.Learner{
		"dp_vae": {Kind: dpVAEKind(), Stage: func() pipeline.Stage { return smallVAE() }},
		"dp_syn": {Kind: dpSYNKind(), Stage: func() pipeline.Stage { return smallSYN() }},
	}
}

func smallVAE() *DPVAE {
	s := dpVAEKind().New().(*DPVAE)
	s.Coder = small(s.Coder)
	return s
}

func smallSYN() *DPSYN {
	s := dpSYNKind().New().(*DPSYN)
	s.Coder = small(s.Coder)
	s.Label, s.Mixture.Components, s.Mixture.Rounds = "region", 2, 3
	return s
}

func small(c Coder) Coder {
	c.Encoder, c.Decoder, c.LatentDim, c.CheckpointEvery = []int{6}, []int{5}, 3, 5
	c.Sampling = training.Sampling{Steps: 12, ExpectedBatchSize: 10, SamplingRate: 0.25, MaxGradNorm: 0.5}
	return c
}

func TestMain(m *testing.M) { stattest.Sparing(m, 800) }
