package gan

import (
	"testing"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/stages/prep"
)

// ward returns an encoded table of 40 made-up rows: a tanh column, a standardised one
// and two one-hot groups. 1717 in weight would be outside its bounds.
func ward(t *testing.T, shards int) pipelinetest.Input {
	t.Helper()
	return crowd(t, 40, shards)
}

// crowd returns such a table of n rows.
func crowd(t *testing.T, n, shards int) pipelinetest.Input {
	t.Helper()
	return people(t, n, shards, func(i int) (region, smokes int) { return i % 3, i / 20 % 2 })
}

// smokers returns such a table in which a third are from the south and smoke, and no others do.
func smokers(t *testing.T, n int) pipelinetest.Input {
	t.Helper()
	return people(t, n, 0, func(i int) (region, smokes int) { return i % 3 / 2, i % 3 / 2 })
}

// people returns such a table of the regions and habits that pick tells.
func people(t *testing.T, n, shards int, build func(i int) (region, smokes int)) pipelinetest.Input {
	t.Helper()
	stages := []pipeline.Stage{&prep.Encode{OneHot: []string{"smoker"}, MinMax: [2]float64{-1, 1}, Missing: "error",
		Standard: map[string]prep.Moments{"weight": {Mean: 75, SD: 15}}}}
	if shards > 0 {
		stages = append([]pipeline.Stage{&prep.Shard{Shards: shards, By: "random"}}, stages...)
	}
	return pipelinetest.After(t, pipelinetest.People(n, pipeline.ClaimsPublished, build), stages...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// smallWGAN and smallGSWGAN are quick versions of the kinds.
func smallWGAN() *DPWGAN {
	s := dpWGANKind().New().(*DPWGAN)
	s.Steps, s.ExpectedBatchSize, s.GeneratedBatch, s.LatentDim, s.Generator, s.Critic, s.CheckpointEvery = 12, 10, 8, 3,
		[]int{8}, []int{6}, 5
	return s
}

// tensorWGAN has a clip so tight that each of its 4 weight tensors reaches it.
func tensorWGAN() *DPWGAN {
	s := smallWGAN()
	s.Clip, s.Style, s.MaxGradNorm = clipTensor, styleUCLANESL, 0.01
	return s
}

const programName = "dp_wgan program"

// programWGAN takes 3 epochs of 4 batches of the 40 rows of ward, whatever table it reads.
func programWGAN() *DPWGAN {
	s := tensorWGAN()
	s.Steps, s.Program = 1, &Program{Epsilon: 1000, Epochs: 3, Rows: 40}
	return s
}

func smallGSWGAN(query string) *GSWGAN {
	s := gsWGANKind().New().(*GSWGAN)
	s.Query, s.Steps, s.BatchSize, s.WarmSteps, s.Scheduled, s.LatentDim, s.Generator, s.Critic, s.CheckpointEvery = query,
		12, 4, 6, 2, 3, []int{8}, []int{6}, 5
	// critics differ and gradients clip: a bound that nothing reaches hides one that is too large
	s.MaxGradNorm, s.LearningRate, s.WarmSteps = 0.02, 0.03, 30
	return s
}

// thesis returns a quick version of the published algorithm that keeps two generators of
// earlier steps and has every setting of the nets changed.
func thesis() *GSWGAN {
	s := smallGSWGAN("batch")
	s.CriticSchedule, s.Scheduled, s.NoiseMultiplier, s.ReleaseEvery = "drawn", 0, 1.5, 5
	s.Activation, s.GeneratorNorm, s.StartWeights, s.GeneratorRate = "relu", "batch", "normal", 0.01
	s.CriticNorm = "batch"
	return s
}

// learners lists each kind that trains, with a table that it takes.
func learners(t *testing.T) map[string]learner {
	t.Helper()
	rows, shards := ward(t, 0), ward(t, 5)
	return map[string]learner{
		"dp_wgan": {pipelinetest.Learner{Kind: dpWGANKind(), Stage: func() pipeline.Stage { return smallWGAN() }},
			rows},
		"dp_wgan tensor": {pipelinetest.Learner{Kind: dpWGANKind(), Stage: func() pipeline.Stage { return tensorWGAN() }},
			rows},
		programName: {pipelinetest.Learner{Kind: dpWGANKind(), Stage: func() pipeline.Stage { return programWGAN() }},
			rows},
		"gs_wgan sample": {pipelinetest.Learner{Kind: gsWGANKind(),
			Stage: func() pipeline.Stage { return smallGSWGAN("sample") }}, shards},
		"gs_wgan norm": {pipelinetest.Learner{Kind: gsWGANKind(),
			Stage: func() pipeline.Stage { s := smallGSWGAN("mean"); s.CriticNorm = "batch"; return s }}, shards},
		"gs_wgan norm after": {pipelinetest.Learner{Kind: gsWGANKind(), Stage: func() pipeline.Stage {
			s := smallGSWGAN("batch")
			s.CriticNorm, s.GeneratorNorm = "batch_after", "batch_after"
			return s
		}}, shards},
		"gs_wgan mean": {pipelinetest.Learner{Kind: gsWGANKind(),
			Stage: func() pipeline.Stage { return smallGSWGAN("mean") }}, shards},
		"gs_wgan batch": {pipelinetest.Learner{Kind: gsWGANKind(),
			Stage: func() pipeline.Stage { return smallGSWGAN("batch") }}, shards},
		"gs_wgan shared": {pipelinetest.Learner{Kind: gsWGANKind(),
			Stage: func() pipeline.Stage { s := thesis(); s.ShareThrowaway = true; return s }}, shards},
		"gs_wgan drawn": {pipelinetest.Learner{Kind: gsWGANKind(), Stage: func() pipeline.Stage { return thesis() }},
			shards},
	}
}

type learner struct {
	pipelinetest.Learner
	in pipelinetest.Input
}

func TestMain(m *testing.M) { stattest.Sparing(m, 800) }
