package votes

import (
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/prep"
)

// ward returns an encoded table of 40 made-up rows in 5 shards: a tanh column, a standardised one
// and two one-hot groups.
func ward(t *testing.T, shards int) pipelinetest.Input {
	t.Helper()
	stages := []pipeline.Stage{&prep.Encode{OneHot: []string{"smoker"}, MinMax: [2]float64{-1, 1}, Missing: "error",
		Standard: map[string]prep.Moments{"weight": {Mean: 75, SD: 15}}}}
	if shards > 0 {
		stages = append([]pipeline.Stage{&prep.Shard{Shards: shards, By: "random"}}, stages...)
	}
	return pipelinetest.After(t, pipelinetest.People(40, pipeline.ClaimsPublished, func(i int) (region, smokes int) {
		return i % 3, i / 20
	}), stages...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// small returns a quick version of the kind.
func small() *PATEGAN {
	s := pateGANKind().New().(*PATEGAN)
	s.Steps, s.BatchSize, s.LatentDim, s.Generator, s.Student, s.CheckpointEvery = 12, 6, 3, []int{8}, []int{6}, 5
	return s
}

// paper returns a quick version of what the paper's program is said to run.
func paper() *PATEGAN {
	s := small()
	s.Noise, s.TeacherFeatures, s.TeacherVotes, s.StudentLearns, s.StudentLoss, s.StudentNorm = "laplace", "columns",
		"real", "majority", "wasserstein", "none"
	s.Logistic, s.WeightClip, s.Optimiser, s.Average, s.Activation = &Logistic{Steps: 2, Rate: 0.1, Penalty: 1}, 0.01,
		"rmsprop", 0, "tanh"
	return s
}

// learners returns runs of the kind by name, on a table that they take.
func learners(t *testing.T) (map[string]pipelinetest.Learner, pipelinetest.Input) {
	t.Helper()
	return map[string]pipelinetest.Learner{
		"pate_gan":           {Kind: pateGANKind(), Stage: func() pipeline.Stage { return small() }},
		"pate_gan published": {Kind: pateGANKind(), Stage: func() pipeline.Stage { return paper() }},
	}, ward(t, 5)
}
