package gan

import (
	"cmp"
	"context"
	"fmt"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/published"
	"weir/schema"
	"weir/stages/model/internal/training"
	"weir/train"
	"weir/train/net"
)

// GSWGAN is GS-WGAN (Chen, Orekondy, Fritz 2020) on tables, with critics on
// disjoint shards.
//
// Input: an encoded private table of stability shards(k). Mechanism: at each
// step, the gradients of the critics' scores at the generated rows, clipped row
// by row to max_grad_norm and noised. Sensitivity: a changed shard moves the
// gradient of its critic anywhere in the clip ball, by up to 2 max_grad_norm,
// under either adjacency. Guarantee under critic_schedule public, which never trains
// a critic because it was drawn: query sample draws an independent secret critic for
// each generated row, which is sampling one of k shards without replacement (Wang,
// Balle, Kasiviswanathan 2019; docs/accounting.md section 3.5); query batch draws one
// for all rows of a step, which is one such draw of a release of sensitivity
// 2 max_grad_norm sqrt(batch_size); query mean averages all critics and is a plain
// Gaussian mechanism of sensitivity 2 max_grad_norm sqrt(batch_size)/k a step.
//
// Not proven: critic_schedule drawn. With query batch it is the algorithm of the paper,
// whose accountant gives each row of a batch a coin of its own (W36) and each step an
// amplification that hidden states of critics break (W37). share_throwaway passes what a shard
// taught on to every later critic (W22): all of them may change with one shard. What holds with all
// draws revealed holds then too, since a gradient stays in its clip ball; what counts one critic as
// changed does not, so that critic_schedule public refuses it.
type GSWGAN struct {
	training.Settings `yaml:",inline" keys:"steps batch_size query max_grad_norm noise_multiplier learning_rate start_weights warm_steps share_throwaway critic_steps critic_schedule scheduled penalty critic critic_norm generator_rate average latent_dim generator generator_activation generator_norm release_every remove_anomalies checkpoint_every" doc.steps:"Steps of the generator; each releases noised gradients once." doc.batch_size:"Generated rows per step, and rows of a critic's batch." doc.max_grad_norm:"Bound on the L2 norm of the gradient at one generated row." doc.noise_multiplier:"Noise standard deviation over what one shard can change in a release (2 max_grad_norm for each row of queries batch and sample); calibrated to the budget by default." doc.learning_rate:"Learning rate of Adam (betas 0, 0.9) for critics, and for the generator without generator_rate." doc.critic_steps:"Steps of a critic that is trained at a generator step; in the warm start, steps of a critic for one of its throw-away generator." minItems.generator:"1"`
	Query             string `yaml:"query" json:"query" enum:"batch|sample|mean" doc:"Who judges a generated row: one critic drawn secretly for the whole batch, one drawn for it alone, or all critics averaged."`
	StartWeights      string `yaml:"start_weights" json:"start_weights" enum:"uniform|normal" doc:"Weights that all nets begin with: uniform within one over the root of a unit's inputs, or standard normal, as the Turku thesis states (they explode)."`
	GSCritics         `yaml:",inline"`
	GeneratorNorm     string `yaml:"generator_norm" json:"generator_norm" enum:"none|batch|batch_after" doc:"Whether the generator's hidden layers normalise their batch: batch before an activation, batch_after behind it, so that the next layer's weights move no mean."`
	ReleaseEvery      int    `yaml:"release_every,omitempty" json:"release_every,omitempty" min:"1" doc:"Steps between generators that are released beside the last one, for sample with step. The charge covers them all. The last alone by default."`
}

// GSCritics are the settings of the critics that no other kind has.
type GSCritics struct {
	WarmSteps      int     `yaml:"warm_steps" json:"warm_steps" min:"0" doc:"Steps of each critic against a throw-away generator before the first release."`
	ShareThrowaway bool    `yaml:"share_throwaway,omitempty" json:"share_throwaway,omitempty" doc:"Whether critics have their warm starts one after the other against one throw-away generator, as in algorithm 1 of the Turku thesis, in place of one each. A shard then reaches every later critic, so that it needs critic_schedule drawn, which has no proof."`
	CriticSchedule string  `yaml:"critic_schedule" json:"critic_schedule" enum:"public|drawn" doc:"Which critics are trained at a generator step: some in turn, or those that are drawn, right before they judge. drawn has no proven bound and needs claims: published."`
	Scheduled      int     `yaml:"scheduled" json:"scheduled" min:"0" doc:"Critics trained at each generator step under critic_schedule public, in turn; 0 is all of them."`
	Penalty        float64 `yaml:"penalty" json:"penalty" min:"0" doc:"Weight of the gradient penalty."`
	CriticNorm     string  `yaml:"critic_norm" json:"critic_norm" enum:"none|batch|batch_after" doc:"Whether each critic's hidden layers normalise their batch, real rows, generated rows and interpolates apart: batch before an activation, which hides a shift of each column and a scale of all from the critic; batch_after behind it, which hides less. Not with query sample, whose rows are released one by one."`
}

func gsWGANKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "gs_wgan", Version: 4,
		Doc: "Generator against critics on disjoint shards (GS-WGAN). Trains a generator against Wasserstein critics on " +
			"disjoint shards, through clipped and noised gradients at " +
			"the generated rows (GS-WGAN, Chen et al. 2020, on tables as in the Turku thesis). " +
			"Steps inside a shard, such as impute_knn with scope shard, cost nothing. All queries are proven under " +
			"critic_schedule public, mean at the least noise. query batch with critic_schedule drawn is the published " +
			"algorithm, without a proof. " +
			"Use it where rows must be cleaned together. Needs an encoded table of stability shards(k).",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "An encoded private table in shards."},
			training.DetectorPort()},
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "The generator."}},
		Readers: append(training.Readers(), training.Former()),
		New: func() pipeline.Stage {
			return &GSWGAN{Query: "mean", StartWeights: "uniform", GeneratorNorm: "none",
				GSCritics: GSCritics{WarmSteps: 500, CriticSchedule: "public", Penalty: 10, CriticNorm: "none"},
				Settings: training.Settings{Sampling: training.Sampling{Steps: 500, MaxGradNorm: 1}, BatchSize: 32,
					LearningRate: 1e-3, CriticSteps: 1, Critic: []int{128}, Average: 0.99, LatentDim: 32, Generator: []int{256},
					GeneratorActivation: "leaky_relu", CheckpointEvery: 5000}}
		},
	}
}

// Plan prices the training.
func (s *GSWGAN) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	training.NeedEncoded(h, &ps)
	training.Readable(h, &ps)
	if h.Shards == 0 {
		ps.Refuse("W22", "from", "a table without shards", "a table of stability shards(k): put a stage of kind shard before")
	}
	s.checkSchedule(h, &ps)
	s.CheckRemoval(in, &ps, training.Batch{Setting: "batch_size", Rows: float64(s.BatchSize)})
	if err := ps.Err(); err != nil {
		return pipeline.Work{}, err
	}
	critics, out := h.Shards, training.ModelHeader(h)
	out.Kept = s.keptSteps()
	critic, gen, err := s.nets(h.Domain, critics)
	if err == nil {
		err = training.InReach(s.query(1, critics, critic.In()))
	}
	if err != nil {
		return pipeline.Work{}, err
	}
	return pipeline.Work{
		Out: pipeline.Headers{"model": out},
		Spends: []pipeline.Spend{{Name: training.Spend, Doc: s.words(critics),
			Mechanism: func(scale float64) privacy.Mechanism { return s.query(scale, critics, critic.In()) }}},
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier, Published: publishedGSWGAN(s, critics),
			Unproven: s.UnprovenBeside(in, s.unproven(critics, h))},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			iterates, err := s.train(ctx, env, in, critics, critic, gen)
			if err != nil {
				return nil, err
			}
			model, err := training.ReleaseSteps(out, "gs_wgan", gen, iterates)
			return pipeline.Tables{"model": model}, err
		},
	}, nil
}

// nets returns the nets of the settings, if a training of the given number of critics can hold them.
func (s *GSWGAN) nets(d *domain.Domain, critics int) (critic, gen *net.Net, err error) {
	var ps schema.Problems
	training.Shallow(&ps, "critic", s.Critic)
	training.Shallow(&ps, "generator", s.Generator)
	width := training.Width(d)
	c, g := training.Widths(width, s.Critic, 1), training.Widths(1, s.Generator, width)
	training.Fits(&ps, training.Costs("generator", fmt.Sprint(s.Generator), training.NetCopies*training.Weights(g...)),
		training.Costs("release_every", fmt.Sprint(s.ReleaseEvery),
			float64(s.earlier())*training.KeptCopies*training.Weights(g...)),
		training.Costs("latent_dim", fmt.Sprint(s.LatentDim),
			float64(s.LatentDim)*(float64(training.NetCopies*float64(g[1]))+
				float64(training.PassCopies*float64(s.BatchSize)))),
		training.Costs("critic", fmt.Sprintf("%v on each of %d shards", s.Critic, critics),
			training.CriticCopies*float64(critics)*training.Weights(c...)),
		training.Costs("batch_size", fmt.Sprint(s.BatchSize),
			training.PassCopies*float64(s.BatchSize)*(training.Units(g...)+training.Units(c...))))
	if err := ps.Err(); err != nil {
		return nil, nil, err
	}
	hidden := training.Leaky(leak, s.Generator)
	if s.GeneratorActivation != "leaky_relu" {
		hidden.Activation, hidden.Slope = s.GeneratorActivation, 0
	}
	return nets(normed(training.Leaky(leak, s.Critic), s.CriticNorm), normed(hidden, s.GeneratorNorm), s.LatentDim, d)
}

// normed returns hidden layers with the norm that a setting names.
func normed(h training.Hidden, norm string) training.Hidden {
	if norm != "none" {
		h.Norm, h.NormAfter = "batch_norm", norm == "batch_after"
	}
	return h
}

// query returns the one value from which clip, noise and event come.
func (s *GSWGAN) query(multiplier float64, critics, columns int) train.CriticQuery {
	return train.CriticQuery{MaxGradNorm: s.MaxGradNorm, NoiseMultiplier: multiplier, Steps: s.Steps,
		BatchSize: s.BatchSize,
		Columns:   columns, Critics: critics, Query: train.Query(s.Query), Schedule: train.Schedule(s.CriticSchedule)}
}

func (s *GSWGAN) config(critics int, seed uint64) train.GSWGANConfig {
	scheduled := s.Scheduled
	if scheduled == 0 {
		scheduled = critics
	}
	return train.GSWGANConfig{WarmSteps: s.WarmSteps, CriticSteps: s.CriticSteps, Scheduled: scheduled, Penalty: s.Penalty,
		Critic: train.Adam(s.LearningRate, 0, 0.9), Generator: train.Adam(cmp.Or(s.GeneratorRate, s.LearningRate), 0, 0.9),
		Average: s.Average, NormalStart: s.StartWeights == "normal", Every: s.ReleaseEvery, Share: s.ShareThrowaway,
		Seed: seed}
}

// train returns the generators to release; the critics stay here.
func (s *GSWGAN) train(ctx context.Context, env *pipeline.Env, in pipeline.Tables, critics int, critic,
	gen *net.Net) ([]train.Iterate, error) {
	l, err := training.Begin(ctx, env, in["in"], critics, s.CheckpointEvery, s.LeftOut(env, in))
	if err != nil {
		return nil, err
	}
	c := s.config(critics, env.Rand("training").Uint64())
	c.Worst = l.Worst
	return train.GSWGAN(ctx, c, critic, gen, l.Rows, l.Shards, l.Paid, l.Hooks)
}

// checkSchedule adds the settings that contradict each other.
func (s *GSWGAN) checkSchedule(h pipeline.Header, ps *schema.Problems) {
	if s.CriticSchedule == "drawn" {
		if s.Query == "mean" {
			ps.Add("critic_schedule", "drawn with query mean, which asks every critic and draws none",
				"public, or query batch or sample")
		}
		if s.Scheduled != 0 {
			ps.Add("scheduled", fmt.Sprintf("%d with critic_schedule drawn, which trains whom it draws", s.Scheduled), "absent")
		}
		if s.NoiseMultiplier == 0 && !h.Terms.NoPrivacy {
			ps.Add("noise_multiplier", "missing with critic_schedule drawn, for which there is no proven bound to calibrate to",
				"given, such as the 1.07 of the paper")
		}
	}
	if s.CriticSchedule != "drawn" && s.ShareThrowaway {
		ps.Refuse("W22", "share_throwaway", "true with critic_schedule "+s.CriticSchedule+", whose price counts on critics "+
			"that share no rows: through one generator a shard reaches every later critic",
			"false, or critic_schedule drawn under claims: published")
	}
	if h.Shards > 0 && s.Scheduled > h.Shards {
		ps.Add("scheduled", fmt.Sprintf("%d, of %d shards with a critic each", s.Scheduled, h.Shards),
			fmt.Sprintf("at most the number of shards, %d, or 0, which is all of them", h.Shards))
	}
	s.checkNorms(ps)
	if s.ReleaseEvery >= s.Steps {
		ps.Add("release_every", fmt.Sprintf("%d with steps %d, so that no generator beside the last is released",
			s.ReleaseEvery, s.Steps), "below steps, or absent")
	}
	if n := s.earlier(); n >= training.MostSteps {
		ps.Add("release_every", fmt.Sprintf("%d, which releases %d generators", s.ReleaseEvery, n+1),
			fmt.Sprintf("so large that at most %d are released", training.MostSteps))
	}
}

// checkNorms adds what norms over a batch contradict.
func (s *GSWGAN) checkNorms(ps *schema.Problems) {
	for _, norm := range []struct{ setting, value string }{{"generator_norm", s.GeneratorNorm},
		{"critic_norm", s.CriticNorm}} {
		if norm.value != "none" && s.BatchSize == 1 {
			ps.Add("batch_size", "1 with "+norm.setting+" "+norm.value+", which leaves nothing of a batch of one row",
				"at least 2, or "+norm.setting+" none")
		}
	}
	if s.CriticNorm != "none" && s.Query == "sample" {
		ps.Add("critic_norm", s.CriticNorm+" with query sample, where the gradient at a row would tell which others drew "+
			"the same critic", "none, or query batch or mean")
	}
}

// earlier returns how many generators are released beside the last.
func (s *GSWGAN) earlier() int {
	if s.ReleaseEvery == 0 {
		return 0
	}
	return (s.Steps - 1) / s.ReleaseEvery
}

// keptSteps returns the steps that the model can be drawn from; with its last generator alone there
// is nothing to choose.
func (s *GSWGAN) keptSteps() pipeline.Kept {
	if s.earlier() == 0 {
		return pipeline.Kept{}
	}
	return pipeline.Kept{Every: s.ReleaseEvery, Last: s.Steps}
}

// words returns what is charged.
func (s *GSWGAN) words(critics int) string {
	trained := ""
	if s.CriticSchedule == "drawn" {
		trained = ", trained when drawn"
	}
	return fmt.Sprintf("clipped gradients at generated rows, query %s, %d critics%s", s.Query, critics, trained)
}

// unproven says why a drawn schedule has no proof, and what is known of its loss.
func (s *GSWGAN) unproven(critics int, h pipeline.Header) pipeline.Unproven {
	if s.CriticSchedule != "drawn" {
		return pipeline.Unproven{}
	}
	u := pipeline.Unproven{Rule: "W37", Why: "critics are trained when they are drawn, so that what others release " +
		"tells of earlier draws and amplification by the draw does not compose"}
	if s.Query == "batch" {
		u.Rule = "W36"
		u.Why = "one secret draw serves all rows of a batch, which the published accountant charges as if each row had a " +
			"draw of its own, and " + u.Why
	}
	if s.ShareThrowaway {
		u.Why += "; and the throw-away generator that all critics share takes each shard to every later critic (W22)"
	}
	if s.Query == "batch" && h.Stability.Spread == pipeline.SpreadShards {
		u.Why += s.revealed(critics, h.Terms.Delta)
	}
	return u
}

// revealed returns the bound that needs no amplification, on shards of which one changes.
func (s *GSWGAN) revealed(critics int, delta float64) string {
	if s.NoiseMultiplier == 0 || delta == 0 {
		return ""
	}
	return fmt.Sprintf("; what holds without amplification, all draws revealed, is epsilon %.3g at delta %g",
		s.published(critics, s.NoiseMultiplier).ScheduleRevealed(delta), delta)
}

// published returns the training in the terms of the paper.
func (s *GSWGAN) published(critics int, multiplier float64) published.GSWGAN {
	return published.GSWGAN{Discriminators: int64(critics), GeneratorSteps: int64(s.Steps), Batch: int64(s.BatchSize),
		NoiseMultiplier: multiplier}
}
