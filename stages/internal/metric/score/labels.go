// Package score holds the scores of predictions, as sklearn.metrics 1.2.1 defines
// them unless a comment says otherwise. A score that is not defined for its input is
// NaN; the comments say when.
package score

import "math"

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

// Threshold is the confusion of a binary decision s >= at.
func Threshold(y []bool, s []float64, at float64) Confusion {
	c := Confusion{{0, 0}, {0, 0}}
	for i, v := range s {
		c[index(y[i])][index(v >= at)]++
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

// Accuracy is the share of rows on the diagonal; NaN without rows.
func (c Confusion) Accuracy() float64 {
	n, right := c.total()
	return float64(right) / float64(n)
}

// Precision of class k: right among predicted; 0/0 is 0.
func (c Confusion) Precision(k int) float64 { return ratio(c[k][k], c.predicted(k)) }

// Recall of class k: right among true; 0/0 is 0.
func (c Confusion) Recall(k int) float64 { return ratio(c[k][k], c.truth(k)) }

// F1 of class k: 2 right / (true + predicted); 0/0 is 0.
func (c Confusion) F1(k int) float64 { return ratio(2*c[k][k], c.truth(k)+c.predicted(k)) }

// used reports whether class k is among the true or predicted labels.
func (c Confusion) used(k int) bool { return c.truth(k)+c.predicted(k) > 0 }

// Mean averages a score of classes over the labels that occur, true or
// predicted. Micro is Accuracy, as it is for single-label problems.
func (c Confusion) Mean(of func(k int) float64, a Average) float64 {
	if a == Micro {
		return c.Accuracy()
	}
	sum, weight := 0.0, 0.0
	for k := range c {
		if !c.used(k) {
			continue
		}
		w := 1.0
		if a == Weighted {
			w = float64(c.truth(k))
		}
		sum, weight = sum+float64(w*of(k)), weight+w
	}
	return sum / weight
}

// BalancedAccuracy is the mean recall of the classes that have true rows.
func (c Confusion) BalancedAccuracy() float64 {
	sum, n := 0.0, 0
	for k := range c {
		if c.truth(k) > 0 {
			sum, n = sum+c.Recall(k), n+1
		}
	}
	return sum / float64(n)
}

// Matthews is the correlation of true and predicted labels, for any number of
// classes (matthews_corrcoef); 0 where either is constant.
func (c Confusion) Matthews() float64 {
	n, right := c.total()
	tp, tt, pp := 0.0, 0.0, 0.0
	for k := range c {
		t, p := float64(c.truth(k)), float64(c.predicted(k))
		tp, tt, pp = tp+float64(t*p), tt+float64(t*t), pp+float64(p*p)
	}
	s := float64(n)
	below := (float64(s*s) - pp) * (float64(s*s) - tt)
	if below == 0 {
		return 0
	}
	return (float64(float64(right)*s) - tp) / math.Sqrt(below)
}

// Kappa is Cohen's agreement beyond chance; NaN where chance agreement is sure
// (all labels equal).
func (c Confusion) Kappa() float64 {
	n, right := c.total()
	s, chance := float64(n), 0.0
	for k := range c {
		chance += float64(float64(c.truth(k)) * float64(c.predicted(k)))
	}
	return (float64(float64(right)*s) - chance) / (float64(s*s) - chance)
}
