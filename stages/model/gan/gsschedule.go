package gan

import (
	"fmt"

	"weir/pipeline"
	"weir/privacy/published"
	"weir/schema"
	"weir/stages/model/internal/generator"
)

// checkSchedule adds the settings that contradict each other.
func (s *GSWGAN) checkSchedule(h pipeline.Header, ps *schema.Problems) {
	if s.CriticSchedule == "drawn" {
		if s.Query == "mean" {
			ps.Add("critic_schedule", "drawn with query mean, which asks every critic and draws none", "public, or query batch or sample")
		}
		if s.Scheduled != 0 {
			ps.Add("scheduled", fmt.Sprintf("%d with critic_schedule drawn, which trains whom it draws", s.Scheduled), "absent")
		}
		if s.NoiseMultiplier == 0 && !h.Terms.NoPrivacy {
			ps.Add("noise_multiplier", "missing with critic_schedule drawn, for which there is no proven bound to calibrate to", "given, such as the 1.07 of the paper")
		}
	}
	if s.CriticSchedule != "drawn" && s.ShareThrowaway {
		ps.Refuse("W22", "share_throwaway", "true with critic_schedule "+s.CriticSchedule+", whose price counts on critics that share no rows: through one generator a shard reaches every later critic",
			"false, or critic_schedule drawn under claims: published")
	}
	if h.Shards > 0 && s.Scheduled > h.Shards {
		ps.Add("scheduled", fmt.Sprintf("%d, of %d shards with a critic each", s.Scheduled, h.Shards), fmt.Sprintf("at most the number of shards, %d, or 0, which is all of them", h.Shards))
	}
	s.checkNorms(ps)
	if s.ReleaseEvery >= s.Steps {
		ps.Add("release_every", fmt.Sprintf("%d with steps %d, so that no generator beside the last is released", s.ReleaseEvery, s.Steps), "below steps, or absent")
	}
	if n := s.earlier(); n >= generator.MostSteps {
		ps.Add("release_every", fmt.Sprintf("%d, which releases %d generators", s.ReleaseEvery, n+1), fmt.Sprintf("so large that at most %d are released", generator.MostSteps))
	}
}

// checkNorms adds what norms over a batch contradict.
func (s *GSWGAN) checkNorms(ps *schema.Problems) {
	for _, norm := range []struct{ setting, value string }{{"generator_norm", s.GeneratorNorm}, {"critic_norm", s.CriticNorm}} {
		if norm.value != "none" && s.BatchSize == 1 {
			ps.Add("batch_size", "1 with "+norm.setting+" "+norm.value+", which leaves nothing of a batch of one row", "at least 2, or "+norm.setting+" none")
		}
	}
	if s.CriticNorm != "none" && s.Query == "sample" {
		ps.Add("critic_norm", s.CriticNorm+" with query sample, where the gradient at a row would tell which others drew the same critic", "none, or query batch or mean")
	}
}

// earlier is how many generators are released beside the last.
func (s *GSWGAN) earlier() int {
	if s.ReleaseEvery == 0 {
		return 0
	}
	return (s.Steps - 1) / s.ReleaseEvery
}

// kept are the steps that the model can be drawn from; with its last generator alone there
// is nothing to choose.
func (s *GSWGAN) kept() pipeline.Kept {
	if s.earlier() == 0 {
		return pipeline.Kept{}
	}
	return pipeline.Kept{Every: s.ReleaseEvery, Last: s.Steps}
}

// words are what is charged.
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
	u := pipeline.Unproven{Rule: "W37", Why: "critics are trained when they are drawn, so that what others release tells of earlier draws and amplification by the draw does not compose"}
	if s.Query == "batch" {
		u.Rule = "W36"
		u.Why = "one secret draw serves all rows of a batch, which the published accountant charges as if each row had a draw of its own, and " + u.Why
	}
	if s.ShareThrowaway {
		u.Why += "; and the throw-away generator that all critics share takes each shard to every later critic (W22)"
	}
	if s.Query == "batch" && h.Stability.Spread == pipeline.SpreadShards {
		u.Why += s.revealed(critics, h.Terms.Delta)
	}
	return u
}

// revealed is the bound that needs no amplification, on shards of which one changes.
func (s *GSWGAN) revealed(critics int, delta float64) string {
	if s.NoiseMultiplier == 0 || delta == 0 {
		return ""
	}
	return fmt.Sprintf("; what holds without amplification, all draws revealed, is epsilon %.3g at delta %g", s.published(critics, s.NoiseMultiplier).ScheduleRevealed(delta), delta)
}

// published is the training in the terms of the paper.
func (s *GSWGAN) published(critics int, multiplier float64) published.GSWGAN {
	return published.GSWGAN{Discriminators: int64(critics), GeneratorSteps: int64(s.Steps), Batch: int64(s.BatchSize), NoiseMultiplier: multiplier}
}
