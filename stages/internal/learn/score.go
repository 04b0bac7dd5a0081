package learn

import (
	"math"
	"slices"

	"weir/internal/bitmath"
)

// Confusion counts rows by true class (row) and predicted class (column).
type Confusion [][]int

// NewConfusion counts the labels 0..classes-1.
func NewConfusion(y, predicted []int, classes int) Confusion {
	c := make(Confusion, classes)
	for k := range c {
		c[k] = make([]int, classes)
	}
	for i, v := range y {
		c[v][predicted[i]]++
	}
	return c
}

// ConfusionAt returns the confusion of a binary decision s >= at.
func ConfusionAt(y []bool, s []float64, threshold float64) Confusion {
	c := Confusion{{0, 0}, {0, 0}}
	for i, v := range s {
		c[index(y[i])][index(v >= threshold)]++
	}
	return c
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (c Confusion) total() (n, right int) {
	for k, row := range c {
		right += row[k]
		for _, v := range row {
			n += v
		}
	}
	return n, right
}

func (c Confusion) truth(k int) int {
	n := 0
	for _, v := range c[k] {
		n += v
	}
	return n
}

func (c Confusion) predicted(k int) int {
	n := 0
	for _, row := range c {
		n += row[k]
	}
	return n
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Accuracy returns the share of rows on the diagonal; NaN without rows.
func (c Confusion) Accuracy() float64 {
	n, right := c.total()
	return float64(right) / float64(n)
}

// Precision returns the share of the rows predicted as class k that belong to it; 0/0 is 0.
func (c Confusion) Precision(k int) float64 { return ratio(c[k][k], c.predicted(k)) }

// Recall returns the share of the rows of class k that are predicted as it; 0/0 is 0.
func (c Confusion) Recall(k int) float64 { return ratio(c[k][k], c.truth(k)) }

// F1 returns 2 right / (true + predicted) of class k; 0/0 is 0.
func (c Confusion) F1(k int) float64 { return ratio(2*c[k][k], c.truth(k)+c.predicted(k)) }

// used reports whether class k is among the true or predicted labels.
func (c Confusion) used(k int) bool { return c.truth(k)+c.predicted(k) > 0 }

// Mean averages a score of classes over the labels that occur, true or
// predicted. MicroAverage is Accuracy, as it is for single-label problems.
func (c Confusion) Mean(build func(k int) float64, a ClassAverage) float64 {
	if a == MicroAverage {
		return c.Accuracy()
	}
	sum, weight := 0.0, 0.0
	for k := range c {
		if !c.used(k) {
			continue
		}
		w := 1.0
		if a == WeightedAverage {
			w = float64(c.truth(k))
		}
		sum, weight = sum+float64(w*build(k)), weight+w
	}
	return sum / weight
}

// BalancedAccuracy returns the mean recall of the classes that have true rows.
func (c Confusion) BalancedAccuracy() float64 {
	sum, n := 0.0, 0
	for k := range c {
		if c.truth(k) > 0 {
			sum, n = sum+c.Recall(k), n+1
		}
	}
	return sum / float64(n)
}

// Matthews returns the correlation of true and predicted labels, for any number of
// classes (matthews_corrcoef); 0 where either is constant.
func (c Confusion) Matthews() float64 {
	n, right := c.total()
	tp, tt, pp := 0.0, 0.0, 0.0
	for k := range c {
		t, p := float64(c.truth(k)), float64(c.predicted(k))
		tp, tt, pp = tp+float64(t*p), tt+float64(t*t), pp+float64(p*p)
	}
	s := float64(n)
	lower := (float64(s*s) - pp) * (float64(s*s) - tt)
	if lower == 0 {
		return 0
	}
	return (float64(float64(right)*s) - tp) / math.Sqrt(lower)
}

// Kappa returns Cohen's agreement beyond chance; NaN where chance agreement is sure
// (all labels equal).
func (c Confusion) Kappa() float64 {
	n, right := c.total()
	s, chance := float64(n), 0.0
	for k := range c {
		chance += float64(float64(c.truth(k)) * float64(c.predicted(k)))
	}
	return (float64(float64(right)*s) - chance) / (float64(s*s) - chance)
}

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

// AUROC returns P(s+ > s-) + P(s+ = s-)/2, the area under the ROC curve
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

// AveragePrecision returns the sum over descending distinct thresholds of
// (R_n - R_{n-1}) P_n (average_precision_score). NaN without positives.
func (c Curve) AveragePrecision() float64 {
	sum, tp := 0.0, 0
	for k := range c.Threshold {
		sum += float64(float64(c.True[k]-tp) * c.precision(k))
		tp = c.True[k]
	}
	return sum / float64(c.Positive)
}

// AUPRCTrapezoid returns the trapezoid area under precision_recall_curve, with its
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

// AUROC returns the area under NewCurve(y, s).
func AUROC(y []bool, s []float64) float64 { return NewCurve(y, s).AUROC() }

// EpsilonMachine is the epsilon of sklearn's log_loss since 1.2; before, 1e-15.
const EpsilonMachine = 0x1p-52

// LogLoss returns the mean of -ln p(true class), probabilities of class 1 clipped to
// [eps, 1-eps]. NaN without rows.
func LogLoss(y []bool, p []float64, eps float64) float64 {
	sum := 0.0
	for i, v := range p {
		if v = clip(v, eps); !y[i] {
			v = 1 - v
		}
		sum -= bitmath.Log(v)
	}
	return sum / float64(len(p))
}

// clip takes the maximum first.
func clip(v, eps float64) float64 { return min(max(v, eps), 1-eps) }

// Brier returns the mean of (p-y)^2 (brier_score_loss).
func Brier(y []bool, p []float64) float64 {
	sum := 0.0
	for i, v := range p {
		if y[i] {
			v--
		}
		sum += float64(v * v)
	}
	return sum / float64(len(p))
}

// LogLossMulti returns the mean of -ln of the true class's share of its row, shares
// clipped to [eps, 1-eps] and then normalised. p holds a row of K probabilities
// for each label.
func LogLossMulti(y []int, p [][]float64, eps float64) float64 {
	sum := 0.0
	for i, row := range p {
		total := 0.0
		for _, v := range row {
			total += clip(v, eps)
		}
		sum -= bitmath.Log(clip(row[y[i]], eps) / total)
	}
	return sum / float64(len(p))
}

// ClassAverage says how the scores of classes become one.
type ClassAverage string

const (
	MacroAverage    ClassAverage = "macro"
	MicroAverage    ClassAverage = "micro"
	WeightedAverage ClassAverage = "weighted" // by the rows of each class
)

// AUROCOneVsRest averages the AUROC of each class against all others. NaN where
// a class of 0..K-1 has no rows.
func AUROCOneVsRest(y []int, p [][]float64, classes int, a ClassAverage) float64 {
	sum, weight := 0.0, 0.0
	for k := range classes {
		positive, s, n := make([]bool, len(y)), make([]float64, len(y)), 0
		for i := range y {
			positive[i], s[i] = y[i] == k, p[i][k]
			if positive[i] {
				n++
			}
		}
		w := 1.0
		if a == WeightedAverage {
			w = float64(n)
		}
		sum, weight = sum+float64(w*AUROC(positive, s)), weight+w
	}
	return sum / weight
}

// AUROCOneVsOne averages over pairs of classes the mean of the two AUROCs that
// each class's probability gives among the rows of the pair (Hand and Till
// 2001); WeightedAverage weighs a pair by its rows. NaN where a class has no rows.
func AUROCOneVsOne(y []int, p [][]float64, classes int, a ClassAverage) float64 {
	sum, weight := 0.0, 0.0
	for j := range classes {
		for k := j + 1; k < classes; k++ {
			auc, n := pairAUROC(y, p, j, k)
			w := 1.0
			if a == WeightedAverage {
				w = float64(n)
			}
			sum, weight = sum+float64(w*auc), weight+w
		}
	}
	return sum / weight
}

func pairAUROC(y []int, p [][]float64, j, k int) (auc float64, rows int) {
	var positive, not []bool
	var sj, sk []float64
	for i, c := range y {
		if c == j || c == k {
			positive, not = append(positive, c == j), append(not, c == k)
			sj, sk = append(sj, p[i][j]), append(sk, p[i][k])
		}
	}
	return (AUROC(positive, sj) + AUROC(not, sk)) / 2, len(positive)
}

// Regression holds the scores of predicted numbers.
type Regression struct {
	R2, ExplainedVariance, MSE, RMSE, MAE, MedianAbsoluteError, MaxError float64
}

// NewRegression compares predictions with the truth. R2 is 1-SSE/SST and
// ExplainedVariance 1-Var(error)/Var(y); where y is constant both are 1 for
// perfect predictions and else 0 (sklearn 1.2.1; explained variance: perfect up
// to a constant). All are NaN without rows; R2 is NaN with one row.
func NewRegression(y, predicted []float64) Regression {
	n := float64(len(y))
	if len(y) == 0 {
		v := math.NaN()
		return Regression{v, v, v, v, v, v, v}
	}
	e, abs := make([]float64, len(y)), make([]float64, len(y))
	var r Regression
	for i := range y {
		e[i] = y[i] - predicted[i]
		abs[i] = math.Abs(e[i])
		r.MSE += e[i] * e[i] / n
		r.MAE += abs[i] / n
		r.MaxError = max(r.MaxError, abs[i])
	}
	r.RMSE = math.Sqrt(r.MSE)
	r.MedianAbsoluteError = median(abs)
	r.R2 = explained(r.MSE, variance(y))
	r.ExplainedVariance = explained(variance(e), variance(y))
	if len(y) < 2 {
		r.R2 = math.NaN()
	}
	return r
}

func explained(left, all float64) float64 {
	switch {
	case all != 0:
		return 1 - left/all
	case left == 0:
		return 1
	}
	return 0
}

func variance(x []float64) float64 {
	mean, ss, n := 0.0, 0.0, float64(len(x))
	for _, v := range x {
		mean += v
	}
	mean /= n
	for _, v := range x {
		ss += (v - mean) * (v - mean) / n
	}
	return ss
}

func median(x []float64) float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	h := len(s) / 2
	if len(s)%2 == 1 {
		return s[h]
	}
	return (s[h-1] + s[h]) / 2
}
