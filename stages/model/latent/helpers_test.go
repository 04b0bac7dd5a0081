package latent

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/stages/prep"
)

// ward is an encoded table of 40 made-up rows: a tanh column, a standardised one
// and two one-hot groups. No row is from the west.
func ward(t *testing.T) pipelinetest.Input {
	return crowd(t, 40, func(i int) int { return i / 20 % 2 })
}

// crowd is such a table of n rows; smokes tells who smokes. Every third row is from the
// south.
func crowd(t *testing.T, n int, smokes func(i int) int) pipelinetest.Input {
	t.Helper()
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "weight", Type: domain.Numeric, Bounds: &[2]float64{30, 200}, Step: 0.5},
		{Name: "region", Type: domain.Categorical, Categories: []string{"north", "south", "west"}},
		{Name: "smoker", Type: domain.Boolean, Categories: []string{"no", "yes"}},
	}}
	columns := make([][]any, 4)
	for i := range n {
		row := []any{20 + i%70, 60.5 + float64(i%7), []string{"north", "south"}[i%3/2], []string{"no", "yes"}[smokes(i)]}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), Rows: int64(n), OwnRows: true,
		Terms: pipeline.Terms{Adjacency: privacy.ReplaceOne, Claims: pipeline.ClaimsProven}})
	table := pipeline.FromRecords(h, pipelinetest.Rows(d, columns...))
	encode := &prep.Encode{OneHot: []string{"region", "smoker"}, MinMax: [2]float64{-1, 1}, Missing: "error",
		Standard: map[string]prep.Moments{"weight": {Mean: 75, SD: 15}}}
	out, err := pipelinetest.Run(t, encode, pipelinetest.Env(1), pipeline.Tables{"in": table})
	must(t, err)
	r, err := out["out"].Collect(t.Context())
	must(t, err)
	return pipelinetest.Input{Header: out["out"].Header, Rows: r}
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
	s.Steps, s.ExpectedBatchSize, s.SamplingRate, s.Coder, s.MaxGradNorm = 12, 10, 0.25, small(s.Coder), 0.5
	return s
}

func smallSYN() *DPSYN {
	s := dpSYNKind().New().(*DPSYN)
	s.Steps, s.ExpectedBatchSize, s.SamplingRate, s.Coder, s.MaxGradNorm = 12, 10, 0.25, small(s.Coder), 0.5
	s.Label, s.Mixture.Components, s.Mixture.Rounds = "region", 2, 3
	return s
}

func small(c Coder) Coder {
	c.Encoder, c.Decoder, c.LatentDim, c.CheckpointEvery = []int{6}, []int{5}, 3, 5
	return c
}
