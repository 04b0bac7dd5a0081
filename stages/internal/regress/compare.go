package regress

import "math"

// of are the coefficients of the design that belong to those of plain columns.
func (d *Design) of(list []Coefficient) []float64 {
	theta := make([]float64, len(list))
	for j, c := range list {
		switch t := d.terms[j]; {
		case j == 0:
			theta[0] += c.Estimate
		case t.half > 0:
			theta[j] = float64(c.Estimate * t.half)
			theta[0] += float64(c.Estimate * t.middle)
		default:
			theta[j] = c.Estimate
			theta[0] += float64(c.Estimate * t.centre)
		}
	}
	return theta
}

// Apart is the mean distance of coefficients, numbers scaled to [-1, 1] by their bounds,
// the intercepts left out.
func (m *Model) Apart(a, b []Coefficient) float64 {
	d, sum := m.Design(), 0.0
	x, y := d.of(a), d.of(b)
	for j := range x[1:] {
		sum += math.Abs(x[1+j] - y[1+j])
	}
	return sum / float64(len(x)-1)
}

// Accuracy is the share of rows whose outcome is the more probable one by coefficients of a
// logistic model; NaN without rows.
func (m *Model) Accuracy(list []Coefficient, r Rows) float64 {
	theta, x, right := r.of(list), make([]float64, len(list)), 0
	for i := range r.n {
		r.row(i, x)
		if (dot(theta, x) > 0) == (r.outcome[i] == 1) {
			right++
		}
	}
	return float64(right) / float64(r.n)
}
