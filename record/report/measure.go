package report

import "math"

// direction says which values of a measure are good.
type direction int

const (
	lower  direction = iota // 0 is best
	higher                  // best is best
	half                    // 0.5 is best: nobody can tell
	attack                  // at chance nothing was found, which proves nothing
)

// measure is a metric that the page can judge. good and fair bound its value
// where nothing stands beside it that spans a scale. They are conventions of this page:
// no standard fixes them.
type measure struct {
	label         string
	better        direction
	joint         bool    // about several columns together, which independent columns lose
	chance, limit float64 // the value of a table that has nothing to tell, and the best one; NaN where none is known
	good, fair    float64
}

// measures lists what is judged, by name or by kind.name.
func measures() map[string]measure {
	unknown := math.NaN()
	distance := func(label string, good, fair float64) measure {
		return measure{label: label, better: lower, chance: unknown, limit: unknown, good: good, fair: fair}
	}
	joint := func(label string, good, fair float64) measure {
		m := distance(label, good, fair)
		m.joint = true
		return m
	}
	skill := func(label string, chance float64) measure {
		return measure{label: label, better: higher, chance: chance, limit: unknown, good: unknown, fair: unknown}
	}
	found := func(label string, chance float64) measure {
		return measure{label: label, better: attack, chance: chance, limit: unknown, good: 0.02, fair: 0.1}
	}
	return map[string]measure{
		"total_variation":                                    distance("Single columns: total variation", 0.05, 0.15),
		"total_variation_2way":                               joint("Pairs of columns: total variation", 0.1, 0.3),
		"total_variation_3way":                               joint("Triples of columns: total variation", 0.15, 0.4),
		"probability_mean_absolute_error":                    distance("Shares of categories: mean error", 0.02, 0.08),
		"mixed_mean_absolute_difference":                     joint("Associations of pairs: mean difference", 0.03, 0.1),
		"dimension_wise_prediction.mean_absolute_difference": joint("Predicting each column: mean difference", 0.03, 0.1),
		"auroc":                                 skill("Learning: AUROC on real rows", 0.5),
		"accuracy":                              skill("Learning: accuracy on real rows", unknown),
		"r2":                                    skill("Learning: R² on real rows", 0),
		"detectability.auroc":                   {label: "Telling real from synthetic: AUROC", better: half, chance: unknown, limit: unknown, good: 0.05, fair: 0.2},
		"constraints.broken":                    distance("Rows that break a declared rule", 0.001, 0.02),
		"regression_discovery.reproduced_share": {label: "Regression: discoveries reproduced", better: higher, limit: 1},
		"disclosure.membership_auroc":           found("Membership attack: AUROC", 0.5),
		"disclosure.closer_to_train":            found("Rows nearer to training than to held-out rows", 0.5),
		"disclosure.attribute_inference_advantage": found("Guessing a column of members: advantage", 0),
	}
}
