package evaluate

import (
	"fmt"
	"math"

	"weir/pipeline"
)

// mean averages the figures that are defined; the note says how many are not.
func mean(figures []figure) figure {
	sum, n, why := 0.0, 0, ""
	for _, f := range figures {
		if math.IsNaN(f.value) {
			why = f.note
			continue
		}
		sum, n = sum+f.value, n+1
	}
	switch {
	case n == 0:
		return undefined(why)
	case n < len(figures):
		return figure{sum / float64(n), fmt.Sprintf("mean over %d of %d; the others: %s", n, len(figures), why)}
	case n == 1:
		return figure{sum, figures[0].note}
	}
	return figure{value: sum / float64(n)}
}

// agreement compares learners trained on synthetic and on real rows: the mean
// loss of the score, and the share of pairs of learners in the same strict order
// (synthetic ranking agreement, Jordon, Yoon, van der Schaar 2018).
func agreement(name string, synthetic, real []figure) []pipeline.Metric {
	var differences []figure
	same, pairs := 0, 0
	for i := range real {
		differences = append(differences, figure{real[i].value - synthetic[i].value, joinNotes(synthetic[i].note, real[i].note)})
		for j := range i {
			a, b := real[i].value-real[j].value, synthetic[i].value-synthetic[j].value
			if math.IsNaN(a * b) {
				continue
			}
			pairs++
			if a*b > 0 {
				same++
			}
		}
	}
	d := mean(differences)
	out := []pipeline.Metric{{Name: name + "_loss", Value: d.value, Note: joinNotes("real_train minus synthetic", d.note)}}
	if len(real) < 2 {
		return out
	}
	m := pipeline.Metric{Name: name + "_rank_agreement", Value: float64(same) / float64(pairs), Note: "share of pairs of learners in the same strict order"}
	if pairs == 0 {
		m.Value, m.Note = math.NaN(), "no two learners have a score on both"
	}
	return append(out, m)
}
