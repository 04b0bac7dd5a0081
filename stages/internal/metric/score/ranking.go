package score

import (
	"math"
	"slices"
)

// Curve holds the counts at each distinct threshold of the scores, descending:
// True and False positives when scores >= Threshold are called positive.
type Curve struct {
	Threshold          []float64
	True, False        []int
	Positive, Negative int
}

// NewCurve counts positives (y true) by score. Scores must not be NaN.
func NewCurve(y []bool, s []float64) Curve {
	order := make([]int, len(s))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareDescending(s[a], s[b]) })
	c := Curve{Threshold: make([]float64, 0, len(s)), True: make([]int, 0, len(s)), False: make([]int, 0, len(s))}
	tp, fp := 0, 0
	for k, i := range order {
		if y[i] {
			tp++
		} else {
			fp++
		}
		if k+1 == len(order) || s[order[k+1]] != s[i] {
			c.Threshold = append(c.Threshold, s[i])
			c.True, c.False = append(c.True, tp), append(c.False, fp)
		}
	}
	c.Positive, c.Negative = tp, fp
	return c
}

func compareDescending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// AUROC is P(s+ > s-) + P(s+ = s-)/2, the area under the ROC curve
// (roc_auc_score). NaN where one class is absent.
func (c Curve) AUROC() float64 {
	if c.Positive == 0 || c.Negative == 0 {
		return math.NaN()
	}
	area, tp, fp := 0.0, 0, 0
	for k := range c.Threshold {
		area += float64(float64(c.False[k]-fp) * float64(c.True[k]+tp) / 2)
		tp, fp = c.True[k], c.False[k]
	}
	return area / float64(c.Positive) / float64(c.Negative)
}

// AveragePrecision is the sum over descending distinct thresholds of
// (R_n - R_{n-1}) P_n (average_precision_score). NaN without positives.
func (c Curve) AveragePrecision() float64 {
	sum, tp := 0.0, 0
	for k := range c.Threshold {
		sum += float64(float64(c.True[k]-tp) * c.precision(k))
		tp = c.True[k]
	}
	return sum / float64(c.Positive)
}

// AUPRCTrapezoid is the trapezoid area under precision_recall_curve, with its
// end point (recall 0, precision 1). It is not AveragePrecision. NaN without
// positives.
func (c Curve) AUPRCTrapezoid() float64 {
	sum, tp, p := 0.0, 0, 1.0
	for k := range c.Threshold {
		sum += float64(float64(c.True[k]-tp) * (p + c.precision(k)) / 2)
		tp, p = c.True[k], c.precision(k)
	}
	return sum / float64(c.Positive)
}

func (c Curve) precision(k int) float64 { return float64(c.True[k]) / float64(c.True[k]+c.False[k]) }

// ROC returns a point for each distinct threshold, descending: share of
// negatives and of positives with s >= threshold.
func (c Curve) ROC() (fpr, tpr []float64) {
	for k := range c.Threshold {
		fpr = append(fpr, float64(c.False[k])/float64(c.Negative))
		tpr = append(tpr, float64(c.True[k])/float64(c.Positive))
	}
	return fpr, tpr
}

// PR returns precision and recall at each distinct threshold, descending.
func (c Curve) PR() (precision, recall []float64) {
	for k := range c.Threshold {
		precision = append(precision, c.precision(k))
		recall = append(recall, float64(c.True[k])/float64(c.Positive))
	}
	return precision, recall
}

// AUROC is that of NewCurve(y, s).
func AUROC(y []bool, s []float64) float64 { return NewCurve(y, s).AUROC() }
