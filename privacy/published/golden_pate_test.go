package published

import (
	"math"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/pld"
)

func pateGAN(c goldenCase) {
	var in struct {
		Votes  [][2]float64
		Lambda float64 `json:"lambda_"`
		Delta  float64
		Orders int `json:"moment_orders"`
	}
	c.in(&in)
	var votes []Vote
	for _, v := range in.Votes {
		votes = append(votes, Vote{v[0], v[1]})
	}
	c.near("reference_code_epsilon_hat", PATEEpsilon(votes, in.Lambda, in.Delta, in.Orders, PATEMoment))
	orders := []float64{1, 2, 4, 8, 20}
	for i, want := range c.nums("reference_code_log_moments") {
		c.within("log moment", TotalMoment(votes, in.Lambda, orders[i], PATEMoment), want, c.Tolerance.Rel, 0)
	}
	c.near("synthcity_formula_epsilon_100_orders", PATEEpsilon(votes, in.Lambda, in.Delta, 100, SynthcityMoment))
	c.near("pate_data_dependent_epsilon_with_condition", PATEEpsilon(votes, in.Lambda, in.Delta, in.Orders, ConditionedMoment))
	c.near("pate_data_independent_moments_epsilon", PATEEpsilon(votes, in.Lambda, in.Delta, in.Orders, IndependentMoment))
	pateSound(c, votes, 1/in.Lambda, in.Delta)
	for _, row := range c.Expected["per_vote_instances_where_code_underestimates"].([]any) {
		r := row.(map[string]any)
		v, l := Vote{r["n0"].(float64), r["n1"].(float64)}, r["order"].(float64)
		c.within("code", PATEMoment(v, in.Lambda, l), r["code"].(float64), c.Tolerance.Rel, 0)
		c.within("instance", ThresholdMoment(v, 1/in.Lambda, l), r["true_instance"].(float64), c.Tolerance.Rel, 0)
	}
}

func pateSound(c goldenCase, votes []Vote, scale, delta float64) {
	sound := c.Expected["sound_threshold_vote"].(map[string]any)
	get := func(m map[string]any, key string) float64 { return m[key].(float64) }
	one := ThresholdVotes(len(votes), scale)
	eps := func(a privacy.Accountant, d float64, e privacy.Event) float64 {
		return c.epsUnder(a, privacy.AddRemove, d, e)
	}
	c.within("noise_scale", scale, get(sound, "noise_scale"), c.Tolerance.Rel, 0)
	c.within("pure", eps(account.Basic{}, 0, one), get(sound, "pure_epsilon"), c.Tolerance.Rel, 0)
	c.within("improved", eps(gridRDP(account.Improved), delta, one), get(sound, "rdp_improved_default_grid"), c.Tolerance.Rel, 0)
	c.within("classic", eps(gridRDP(account.Classic), delta, one), get(sound, "rdp_classic_default_grid"), c.Tolerance.Rel, 0)
	c.within("pld", eps(pld.New(), delta, one), get(sound, "pld"), c.Tolerance.PldRel, c.Tolerance.PldAbs)
	two := c.Expected["sound_two_count_argmax"].(map[string]any)
	c.within("argmax pure", eps(account.Basic{}, 0, ArgmaxVotes(len(votes), scale)), get(two, "pure_epsilon"), c.Tolerance.Rel, 0)
	c.within("argmax pld", eps(pld.New(), delta, ArgmaxVotes(len(votes), scale)), get(two, "pure_dp_pld"), c.Tolerance.PldRel, c.Tolerance.PldAbs)
}

func pateVote(c goldenCase) {
	var in struct {
		Lambda float64 `json:"lambda_"`
		Scale  float64 `json:"noise_scale"`
	}
	c.in(&in)
	for _, row := range c.Expected["rows"].([]any) {
		r := row.(map[string]any)
		v, l := Vote{r["n0"].(float64), r["n1"].(float64)}, r["order"].(float64)
		code := PATEMoment(v, in.Lambda, l)
		if want, ok := r["code_log_moment"].(float64); ok {
			c.within("code", code, want, c.Tolerance.Rel, 0)
		} else if !math.IsNaN(code) {
			c.Errorf("code: got %v for %v, want none", code, v)
		}
		c.within("instance", ThresholdMoment(v, in.Scale, l), r["true_instance_log_moment"].(float64), c.Tolerance.Rel, 0)
		c.within("independent", c.value(LaplaceMoment(in.Scale, l)), r["data_independent_log_moment"].(float64), c.Tolerance.Rel, 0)
	}
}
