package downstream

import (
	"math"

	"weir/pipeline"
	"weir/stages/internal/prediction"
)

// agreement compares learners trained on synthetic and on real rows: the mean
// loss of the score, and the share of pairs of learners in the same strict order
// (synthetic ranking agreement, Jordon, Yoon, van der Schaar 2018).
func agreement(name string, synthetic, real []prediction.Score) []pipeline.Metric {
	var differences []prediction.Score
	same, pairs := 0, 0
	for i := range real {
		differences = append(differences, prediction.Minus(real[i], synthetic[i]))
		for j := range i {
			a, b := real[i].Value-real[j].Value, synthetic[i].Value-synthetic[j].Value
			if math.IsNaN(a * b) {
				continue
			}
			pairs++
			if a*b > 0 {
				same++
			}
		}
	}
	out := prediction.Mean(differences).Metrics(lossName(name), "", "real_train minus synthetic")
	if len(real) < 2 {
		return out
	}
	m := pipeline.Metric{Name: agreementName(name), Value: float64(same) / float64(pairs),
		Note: "share of pairs of learners in the same strict order"}
	if pairs == 0 {
		m.Value, m.Note = math.NaN(), "no two learners have a score on both"
	}
	return append(out, m)
}
