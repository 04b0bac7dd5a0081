package downstream

import (
	"fmt"
	"math"

	"weir/pipeline"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
)

// auroc names the score that shows whether a target follows from other columns.
const auroc = "auroc"

// sure is the AUROC from which a target of two classes is taken to follow from other columns: in print it is 1.000.
const sure = 0.9995

// follows notes from which column the target follows, where learners of these rows reach an AUROC that is sure. Such a
// score says nothing of what else a table has kept.
func (r *rehearsal) follows(results []map[string]prediction.Score, train *columns.Frame) {
	target := r.test.Column(r.Target)
	reached := prediction.Mean(column(results, auroc)).Value
	if !(reached >= sure) || !target.Coded() || len(target.Categories) != 2 {
		return
	}
	best, name := 0.0, ""
	for i := range r.test.Columns {
		c := &r.test.Columns[i]
		if c.Name == r.Target || train.Column(c.Name) == nil {
			continue
		}
		if v := r.alone(c, train, target); v > best {
			best, name = v, "column "+c.Name+" alone"
		}
		if v := r.absence(c, target); v > best {
			best, name = v, "which rows lack column "+c.Name
		}
	}
	source := "the other columns together"
	if best >= sure {
		source = name
	}
	r.certain = fmt.Sprintf("%.3f is reached: the target follows from %s, so that the score tells nothing of the rest; "+
		"leave such columns out by columns", reached, source)
}

// alone returns the AUROC of the target among the test rows by one column: by the size of a number, whichever way it
// points, or by the share of positive rows that a category has among the training rows.
func (r *rehearsal) alone(c *columns.Column, train *columns.Frame, target *columns.Column) float64 {
	var shares map[string]float64
	if c.Coded() {
		shares = r.shares(train.Column(c.Name), train.Column(r.Target))
	}
	var truth []bool
	var factors []float64
	for i := range r.test.Rows {
		if c.Absent(i) || target.Absent(i) {
			continue
		}
		truth = append(truth, target.Codes[i] == 1)
		if c.Coded() {
			factors = append(factors, shares[c.Categories[c.Codes[i]]])
		} else {
			factors = append(factors, c.Numbers[i])
		}
	}
	v := learn.AUROC(truth, factors)
	if !c.Coded() {
		v = math.Max(v, 1-v)
	}
	return v
}

// absence returns the AUROC of the target among the test rows by whether a column has a value.
func (r *rehearsal) absence(c, target *columns.Column) float64 {
	var truth []bool
	var factors []float64
	for i := range r.test.Rows {
		if target.Absent(i) {
			continue
		}
		truth, factors = append(truth, target.Codes[i] == 1), append(factors, 0)
		if c.Absent(i) {
			factors[len(factors)-1] = 1
		}
	}
	v := learn.AUROC(truth, factors)
	return math.Max(v, 1-v)
}

// shares returns the share of rows of the target's second category, by category of a column.
func (r *rehearsal) shares(c, target *columns.Column) map[string]float64 {
	rows, positive := map[string]float64{}, map[string]float64{}
	for i, code := range c.Codes {
		if code < 0 || target.Absent(i) {
			continue
		}
		rows[c.Categories[code]]++
		if target.Codes[i] == 1 {
			positive[c.Categories[code]]++
		}
	}
	for name, n := range rows {
		positive[name] /= n
	}
	return positive
}

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
