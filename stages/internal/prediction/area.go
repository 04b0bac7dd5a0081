package prediction

import "math"

// area computes the AUROC of resamples of two classes from how often each row is drawn, without a list of the rows: it is that
// of score.Curve to the bit, and a table of a thousand columns asks for half a million of them.
type area struct {
	order    []int  // rows by descending score
	positive []bool // of order
	last     []bool // of order: the next row has another score
}

func newArea(y []int32, s []float64, positive int, order []int) *area {
	a := &area{order: order, positive: make([]bool, len(order)), last: make([]bool, len(order))}
	for k, i := range order {
		a.positive[k] = int(y[i]) == positive
		a.last[k] = k+1 == len(order) || s[order[k+1]] != s[i]
	}
	return a
}

// judge writes the AUROC; NaN where one class is not drawn.
func (a *area) judge(times []int32, _ []string, to []float64) {
	sum, tp, fp, before, beside := 0.0, 0, 0, 0, 0
	for k, i := range a.order {
		if a.positive[k] {
			tp += int(times[i])
		} else {
			fp += int(times[i])
		}
		if a.last[k] {
			sum += float64(float64(fp-beside) * float64(tp+before) / 2)
			before, beside = tp, fp
		}
	}
	if to[0] = math.NaN(); tp > 0 && fp > 0 {
		to[0] = sum / float64(tp) / float64(fp)
	}
}
